package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

type campaign struct {
	d       deps
	o       *options
	value   string
	session consulx.SessionOptions
	ttl     time.Duration
	delay   time.Duration
	try     time.Duration
}

func newCampaignCommand(d deps, o *options) *cobra.Command {
	c := &campaign{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "campaign NAME [-- CMD [ARG…]]",
		Short: "Compete as a candidate, and run CMD while leading",
		Long: fmt.Sprintf(`Compete as a candidate for an election. With CMD, run it while leading, as
`+"`consul lock`"+` does but on the key itself, and exit when it ends. Without CMD,
lead until a signal arrives, and compete again when the leadership is lost.

NAME is an election's name or a full key. A name that does not exist yet takes
the place of the wildcard of the first pattern. On the way out electop releases
the key (value and flags are kept; --behavior delete deletes it) and destroys
the session.

When the leadership is lost, electop sends SIGTERM to the process group of CMD
and after %[1]s SIGKILL. If Consul confirms no renewal, CMD has ended %[2]s before
the shorter of --ttl and --lock-delay has passed, so no other candidate leads
while CMD runs. A small process of electop, "electop supervise", stops CMD when
electop itself is frozen or killed. Two leaders are still possible after another
client releases or deletes the key, because no lock-delay follows, and if CMD
starts processes that leave its process group. See docs/campaign.md.

Exit codes: that of CMD, or 128 + N if signal N ended it; 128 + N when signal N
ended the campaign; 126 when CMD cannot be run, 127 when it is not found (both
are checked before competing); 1 when the leadership was lost while CMD ran, or
--try ended; otherwise those of electop --help.`, stopGrace, stopMargin),
		Example: `  electop campaign web
  electop campaign backup --value "$(hostname)" -- ./backup.sh
  electop campaign backup --try 30s -- ./backup.sh`,
		ValidArgsFunction: completeNames(o),
		Args: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if len(args) == 0 || dash == 0 || dash < 0 && len(args) > 1 || dash > 1 {
				return usagef("campaign takes one NAME, and a program after --; see electop campaign --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&c.value, "value", "", "value to write while leading (default: this host's name)")
	f.StringVar(&c.session.Name, "name", "electop campaign", "name of the session")
	f.DurationVar(&c.ttl, "ttl", 15*time.Second, "TTL of the session, 10s to 24h; 0 for none (not with CMD)")
	f.DurationVar(&c.delay, "lock-delay", 15*time.Second, "lock-delay of the session, at most 60s; at least 10s with CMD")
	f.StringVar(&c.session.Behavior, "behavior", election.BehaviorRelease, "what happens to the key when the session ends: release or delete")
	f.DurationVar(&c.try, "try", 0, "exit with code 1 if the leadership is not won in this time (default: no limit)")
	f.StringArrayVar(&c.session.ServiceChecks, "service-check", nil, "service check that the session depends on, repeatable")
	f.StringArrayVar(&c.session.NodeChecks, "node-check", nil, "node check that the session depends on, repeatable (default serfHealth)")
	return cmd
}

func (c *campaign) run(ctx context.Context, name string, program []string) error {
	if err := c.check(name, program); err != nil {
		return err
	}
	if err := c.settle(); err != nil {
		return err
	}
	if len(program) > 0 {
		if err := findProgram(c.d.stderr, program[0]); err != nil {
			return err
		}
	}
	err := c.compete(ctx, name, program)
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	if code, ok := signalled(ctx); ok {
		return code
	}
	return nil
}

// check refuses what must not begin.
func (c *campaign) check(name string, program []string) error {
	switch {
	case c.o.readOnly:
		return usagef("--read-only forbids campaign: it writes a key")
	case strings.Contains(name, "*"):
		return usagef("%q contains a wildcard; campaign takes the name or the key of one election", sanitize.Line(name, 100))
	case c.session.Behavior != election.BehaviorRelease && c.session.Behavior != election.BehaviorDelete:
		return usagef("--behavior %q: want release or delete", sanitize.Line(c.session.Behavior, 20))
	case c.delay < 0 || c.delay > election.MaxLockDelay:
		return usagef("--lock-delay %s: want 0 to %s", c.delay, election.MaxLockDelay)
	case c.ttl != 0 && (c.ttl < 10*time.Second || c.ttl > 24*time.Hour):
		return usagef("--ttl %s: want 10s to 24h, or 0 for none", c.ttl)
	case c.try < 0:
		return usagef("--try %s: want a positive duration", c.try)
	case len(program) > 0 && !supervisable:
		return usagef("campaign runs programs on Unix systems only: it could not stop one here")
	}
	return c.checkSafety(program)
}

// checkSafety refuses a session that cannot keep two programs apart. Without a
// program it warns: the user stops what leads.
func (c *campaign) checkSafety(program []string) error {
	var unsafe string
	switch {
	case c.ttl == 0:
		unsafe = "--ttl 0: the session does not end when this host stops, and its health check may end it unnoticed"
	case c.delay < consulx.MinLockDelay:
		unsafe = fmt.Sprintf("--lock-delay %s: another candidate may lead before this one has stopped; want %s or more", c.delay, consulx.MinLockDelay)
	default:
		return nil
	}
	if len(program) > 0 {
		return usagef("two programs could run at once with %s", unsafe)
	}
	c.say("warning: two leaders are possible with %s", unsafe)
	return nil
}

// settle completes the settings that the flags leave open. The library takes 0
// for "the default" and a negative duration for "none".
func (c *campaign) settle() error {
	none := func(d time.Duration) time.Duration {
		if d == 0 {
			return -1
		}
		return d
	}
	c.session.TTL, c.session.LockDelay = none(c.ttl), none(c.delay)
	if c.value == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		c.value = host
	}
	return nil
}

// compete finds the key, campaigns, and cleans up.
func (c *campaign) compete(ctx context.Context, name string, program []string) error {
	client, ps, err := c.o.prepare()
	if err != nil {
		return err
	}
	trial, cancel := c.trial(ctx)
	defer cancel()
	key, flags, err := c.target(trial, client, ps, name)
	if err != nil {
		return c.gaveUp(ctx, trial, name, err)
	}
	log, closeLog, err := c.o.logger(c.d)
	if err != nil {
		return err
	}
	defer closeLog()
	candidate := consulx.NewCandidate(client, consulx.CandidateOptions{
		Key: key, Value: []byte(c.value), Flags: flags, Session: c.session, StopTime: c.stopTime(program), Logger: log,
	})
	err = c.stand(ctx, trial, candidate, key, program)
	goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
	defer cancel()
	closed := candidate.Close(goodbye)
	if err == nil {
		return closed
	}
	if closed != nil { // err decides the exit code and may print nothing
		c.say("electop: %s was not released: %s", key, consulx.Describe(closed))
	}
	return c.gaveUp(ctx, trial, key, err)
}

// stopTime is what the library has to leave for stopping the program.
func (c *campaign) stopTime(program []string) time.Duration {
	if len(program) == 0 {
		return 0
	}
	return stopGrace
}

// trial is the context of --try.
func (c *campaign) trial(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.try == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.try)
}

// gaveUp replaces an error that --try caused.
func (c *campaign) gaveUp(ctx, trial context.Context, name string, err error) error {
	if ctx.Err() == nil && errors.Is(trial.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("gave up: %s was not won within %s", sanitize.Line(name, 200), c.try)
	}
	return err
}

// target finds the key to compete for. Flags of a key that exists are kept:
// other candidates may refuse any other.
func (c *campaign) target(ctx context.Context, client *consulx.Client, ps election.Patterns, name string) (string, uint64, error) {
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return "", 0, err
	}
	e, err := resolve(snapshot, name)
	switch {
	case err == nil && e.IsSemaphore():
		return "", 0, usagef("%s is a semaphore: it has no single leader", sanitize.Line(e.Key(), 200))
	case err == nil:
		return e.Key(), e.Pair.Flags, refuseSoftware(ctx, client, e)
	case !errors.Is(err, errNoElection):
		return "", 0, err
	}
	key, ok := ps.Key(name)
	if !ok {
		return "", 0, usagef("%q is not an election, and no pattern says which key it would be; give the full key with -k", sanitize.Line(name, 100))
	}
	return key, election.LockFlag, refuseSoftware(ctx, client, &election.Election{Pair: election.Pair{Key: key}})
}

// refuseSoftware keeps campaigns away from the keys of software that would take
// them for one of its own members.
func refuseSoftware(ctx context.Context, client *consulx.Client, e *election.Election) error {
	around := consulx.Survey(ctx, client, e.Key())
	if software := insight.DetectSoftware(e, &around); software != nil {
		return fmt.Errorf("%s belongs to %s: a campaign would disturb its own election", sanitize.Line(e.Key(), 200), software.Name)
	}
	return nil
}

// stand campaigns until a program has run, or a signal arrives. Only the first
// campaign is bound to --try.
func (c *campaign) stand(ctx, trial context.Context, candidate *consulx.Candidate, key string, program []string) error {
	for limit := trial; ; limit = ctx {
		c.say("competing for %s", key)
		l, err := candidate.Campaign(limit)
		if err != nil {
			return err
		}
		c.say("leading %s with session %s, term %d", key, l.Session(), l.Pair().LockIndex)
		if len(program) > 0 {
			return c.lead(ctx, l, key, program)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.Lost():
			c.say("lost %s: %s", key, lostText(l))
		}
	}
}

func lostText(l *consulx.Leadership) string {
	if err := l.Err(); err != nil {
		return consulx.Describe(err)
	}
	return "released"
}

func (c *campaign) say(format string, args ...any) {
	fmt.Fprintln(c.d.stderr, sanitize.Line(fmt.Sprintf(format, args...), 400))
}
