package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
)

// stopGrace is how long a program may take to end after it was asked to.
const stopGrace = 10 * time.Second

type campaign struct {
	d       deps
	o       *options
	value   string
	session consulx.SessionOptions
	ttl     time.Duration
	delay   time.Duration
}

func newCampaignCommand(d deps, o *options) *cobra.Command {
	c := &campaign{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "campaign NAME [-- CMD [ARG…]]",
		Short: "Stand as a candidate, and run a program while leading",
		Long: `Stand as a candidate for an election. With a program, run it while leading, as
` + "`consul lock`" + ` does but on the key itself, and end with its exit code; when the
leadership is lost the program is stopped (SIGTERM, after 10s SIGKILL) and the
exit code is 1. Without one, lead until interrupted, and stand again when the
leadership is lost.

The key is released (value and flags kept) and the session destroyed on the way
out. NAME is an election's name or a full key; a name that does not exist yet
takes the place of the wildcard of the first pattern.`,
		Example:           "  electop campaign web\n  electop campaign backup --value \"$(hostname)\" -- ./backup.sh",
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
	f.DurationVar(&c.ttl, "ttl", 15*time.Second, "TTL of the session, 10s to 24h; 0 for none")
	f.DurationVar(&c.delay, "lock-delay", 15*time.Second, "lock-delay of the session, at most 60s; 0 for none")
	f.StringVar(&c.session.Behavior, "behavior", election.BehaviorRelease, "what becomes of the key when the session ends: release or delete")
	f.StringArrayVar(&c.session.ServiceChecks, "service-check", nil, "service check that the session depends on, repeatable")
	f.StringArrayVar(&c.session.NodeChecks, "node-check", nil, "node check that the session depends on, repeatable (default serfHealth)")
	return cmd
}

func (c *campaign) run(ctx context.Context, name string, program []string) error {
	if err := c.settle(); err != nil {
		return err
	}
	client, ps, err := c.o.prepare()
	if err != nil {
		return err
	}
	key, flags, err := c.target(ctx, client, ps, name)
	if err != nil {
		return err
	}
	log, closeLog, err := c.o.logger()
	if err != nil {
		return err
	}
	defer closeLog() //nolint:errcheck // a log that cannot be closed has no reader to tell
	candidate := consulx.NewCandidate(client, consulx.CandidateOptions{
		Key: key, Value: []byte(c.value), Flags: flags, Session: c.session, Logger: log,
	})
	err = c.stand(ctx, candidate, key, program)
	goodbye, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
	defer cancel()
	closed := candidate.Close(goodbye)
	if interrupted(ctx, err) {
		err = nil
	}
	return errors.Join(err, closed)
}

// settle completes the settings that the flags leave open. The library takes 0
// for "the default" and a negative duration for "none".
func (c *campaign) settle() error {
	if c.session.Behavior != election.BehaviorRelease && c.session.Behavior != election.BehaviorDelete {
		return usagef("--behavior %q: want release or delete", election.Line(c.session.Behavior, 20))
	}
	if c.delay < 0 || c.delay > election.MaxLockDelay {
		return usagef("--lock-delay %s: want 0 to %s", c.delay, election.MaxLockDelay)
	}
	if c.ttl != 0 && (c.ttl < 10*time.Second || c.ttl > 24*time.Hour) {
		return usagef("--ttl %s: want 10s to 24h, or 0 for none", c.ttl)
	}
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

// target finds the key to stand for. Flags of a key that exists are kept: other
// candidates may refuse any other.
func (c *campaign) target(ctx context.Context, client *consulx.Client, ps election.Patterns, name string) (string, uint64, error) {
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return "", 0, err
	}
	e, err := resolve(snapshot, name)
	if err == nil && e.IsSemaphore() {
		return "", 0, usagef("%s is a semaphore: it has no single leader to stand for", election.Line(e.Key(), 200))
	}
	if err == nil {
		return e.Key(), e.Pair.Flags, nil
	}
	if !errors.Is(err, errNoElection) {
		return "", 0, err
	}
	key, ok := ps.Key(name)
	if !ok {
		return "", 0, usagef("%q is no election, and no pattern says which key it would be: give the full key with -k", election.Line(name, 100))
	}
	return key, election.LockFlag, nil
}

func (c *campaign) stand(ctx context.Context, candidate *consulx.Candidate, key string, program []string) error {
	for {
		c.say("standing for %s", key)
		l, err := candidate.Campaign(ctx)
		if err != nil {
			return err
		}
		c.say("leading %s with session %s, term %d", key, l.Session(), l.Pair().LockIndex)
		if len(program) > 0 {
			return c.lead(ctx, l, key, program)
		}
		select {
		case <-ctx.Done():
			return nil
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

// lead runs the program until it ends or the leadership does.
func (c *campaign) lead(ctx context.Context, l *consulx.Leadership, key string, program []string) error {
	pctx, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-l.Lost():
			stop()
		case <-pctx.Done():
		}
	})
	err := c.command(pctx, l, key, program).Run()
	stop()
	watch.Wait()
	var exit *exec.ExitError
	switch {
	case l.Err() != nil:
		return fmt.Errorf("lost %s while the program ran: %s", election.Line(key, 200), lostText(l))
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exitError(exit.ExitCode())
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return killedBy(exit)
	}
	return err
}

// killedBy gives the exit code that a shell gives for a program which a signal
// ended.
func killedBy(exit *exec.ExitError) error {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError(128 + int(status.Signal()))
	}
	return exit
}

func (c *campaign) command(ctx context.Context, l *consulx.Leadership, key string, program []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.d.stdin, stream(c.d.stdout), stream(c.d.stderr)
	cmd.Env = append(os.Environ(), "CONSUL_LOCK_HELD=true", "ELECTOP_KEY="+key, "ELECTOP_SESSION="+l.Session())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	return cmd
}

func (c *campaign) say(format string, args ...any) {
	fmt.Fprintln(c.d.stderr, election.Line(fmt.Sprintf(format, args...), 400))
}
