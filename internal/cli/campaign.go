package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	candidacy "electop/consulx/campaign"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/supervise"
)

type campaign struct {
	*options
	name    string
	command []string
	value   string
	session candidacy.SessionOptions
	try     time.Duration
}

func newCampaignCommand(o *options) *cobra.Command {
	c := &campaign{options: o}
	cmd := &cobra.Command{
		Use:   "campaign NAME [-- CMD [ARG…]]",
		Short: "Compete as a candidate, and run CMD while leading",
		Long: fmt.Sprintf(`Compete as a candidate for an election. With CMD, run it while leading, like
`+"`consul lock`"+` but on the key itself, and exit when it ends. Without CMD, lead
until a signal arrives, and compete again when the leadership is lost.

NAME is an election's name or a full key. A name that does not exist yet
replaces the wildcard of the first pattern. On exit, electop releases the key
(value and flags are kept; --behavior delete deletes the key) and destroys the
session.

electop reads the key every 2.5s. If no read shows for 10s that its session
holds the key, the leadership is lost: CMD gets SIGTERM, and SIGKILL %[1]s later
(with a shorter --lock-delay, 2s before it has passed). Therefore, no other
candidate leads while CMD runs. A supervisor process, "electop supervise", stops
CMD if electop itself is frozen or killed. Two leaders are still possible, for
at most 13s, if another client releases or deletes the key, because no
lock-delay follows, and if CMD starts processes that leave its process group.
See docs/campaign.md.

Exit codes: that of CMD, or 128 + N if signal N ended it; 128 + N if signal N
ended the campaign; 126 if CMD cannot be run, 127 if it is not found (both are
checked before competing); 1 if the leadership was lost while CMD ran or --try
expired; 5 if Consul denies a request before CMD runs; otherwise those of
electop --help. A failed release is a warning that says what is left. A second
signal ends electop without waiting for Consul and CMD.`, supervise.StopGrace),
		Example: `  electop campaign web
  electop campaign backup --value "$(hostname)" -- ./backup.sh
  electop campaign backup --try 30s -- ./backup.sh`,
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveDefault),
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash != 1 && (dash >= 0 || len(args) != 1) {
				return usagef("campaign requires one NAME, and accepts a program after --; see electop campaign --help")
			}
			return nil
		},
		RunE: work(c.run),
	}
	f := cmd.Flags()
	f.StringVar(&c.value, "value", "", "value to write while leading (default: this host's name)")
	f.StringVar(&c.session.Name, "name", "electop campaign", "name of the session")
	f.DurationVar(&c.session.TTL, "ttl", 15*time.Second, "TTL of the session, 10s to 24h")
	f.DurationVar(&c.session.LockDelay, "lock-delay", 15*time.Second, "lock-delay of the session, 10s to 60s")
	c.session.Behavior = election.BehaviorRelease
	f.Var(wordFlag{&c.session.Behavior, []string{election.BehaviorRelease, election.BehaviorDelete}}, "behavior", "what happens to the key when the session ends: release or delete")
	f.DurationVar(&c.try, "try", 0, "exit with code 1 if the leadership is not acquired within this time (default: no limit)")
	f.StringArrayVar(&c.session.ServiceChecks, "service-check", nil, "service check that the session depends on, repeatable")
	f.StringArrayVar(&c.session.NodeChecks, "node-check", nil, "node check that the session depends on, repeatable (default serfHealth)")
	return cmd
}

func (c *campaign) run(ctx context.Context, args []string) error {
	c.name, c.command = args[0], args[1:]
	err := c.validate()
	if err == nil && c.value == "" {
		c.value, err = os.Hostname()
	}
	if err != nil {
		return err
	}
	if len(c.command) > 0 {
		if _, err := exec.LookPath(c.command[0]); err != nil {
			return c.cannotRun(err)
		}
	}
	tryCtx, cancel := context.WithTimeout(ctx, cmp.Or(c.try, math.MaxInt64))
	defer cancel()
	err = c.compete(ctx, tryCtx)
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(tryCtx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s was not acquired within %s (--try)", clean(c.name), c.try)
	}
	var received signalError
	if errors.As(context.Cause(ctx), &received) && errors.Is(err, context.Canceled) {
		return exitError(128 + int(received)) // as in a shell
	}
	return err
}

// validate checks the command line before the first request to Consul.
func (c *campaign) validate() error {
	if err := c.toWrite("campaign, which writes a key"); err != nil {
		return err
	}
	switch {
	case strings.Contains(c.name, "*"):
		return usagef("%q contains a wildcard; campaign requires the name or the key of one election", clean(c.name))
	case c.session.LockDelay < candidacy.MinLockDelay || c.session.LockDelay > election.MaxLockDelay:
		return usagef("--lock-delay %s: must be from %s to %s", c.session.LockDelay, candidacy.MinLockDelay, election.MaxLockDelay)
	case c.session.TTL < 10*time.Second || c.session.TTL > 24*time.Hour:
		return usagef("--ttl %s: must be from 10s to 24h", c.session.TTL)
	case len(c.command) > 0 && !supervise.Supported:
		return usagef("campaign cannot run a program on this system: electop could not stop it without the process groups of Unix; omit CMD")
	}
	return nil
}

// compete finds the key, campaigns, and closes the candidate. A failed release does not change the result.
func (c *campaign) compete(ctx, tryCtx context.Context) error {
	l, err := c.readOne(tryCtx, false)
	if err != nil {
		return err
	}
	e, err := c.find(tryCtx, l)
	if err != nil {
		return err
	}
	key := e.Key()
	left := fmt.Sprintf("the session %q may remain and hold %s until it expires in about %s", c.session.Name, key, 2*c.session.TTL)
	candidate := candidacy.New(l.client(), candidacy.Options{
		Key: key, Value: []byte(c.value), Flags: e.Pair.Flags, Session: c.session, StopTime: supervise.StopGrace, Logger: c.log,
	})
	err = c.lead(ctx, tryCtx, candidate, key)
	closeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if closed := candidate.Close(closeCtx); closed != nil {
		c.printf("electop: %s: %s", left, consulx.Describe(closed))
	}
	return err
}

// find returns the election to compete for. It rejects a key that belongs to other software, because that software would
// treat the candidate as one of its members. The flags of an existing key are kept, because other candidates may reject
// different flags.
func (c *campaign) find(ctx context.Context, l lookup) (*election.Election, error) {
	e, err := findElection(l.snapshot, c.name)
	switch {
	case err == nil && e.IsSemaphore():
		return nil, usagef("%s is a semaphore: it has no single leader", clean(e.Key()))
	case errors.Is(err, errNoElection):
		key, ok := l.patterns.Key(c.name)
		if !ok {
			return nil, usagef("no election is named %q, and no pattern maps this name to a key; specify the full key with -k", clean(c.name))
		}
		e = &election.Election{Pair: election.Pair{Key: key, Flags: election.LockFlag}}
	case err != nil:
		return nil, err
	}
	around := l.Survey(ctx, []string{e.Key()})[0]
	if software := insight.DetectSoftware(e, &around); software != nil {
		return nil, fmt.Errorf("%s belongs to %s: a campaign would interfere with its election; use another key", clean(e.Key()), software.Name)
	}
	return e, nil
}

// lead campaigns until the program has ended or a signal arrives. --try limits only the
// first campaign.
func (c *campaign) lead(ctx, tryCtx context.Context, candidate *candidacy.Candidate, key string) error {
	for limit := tryCtx; ; limit = ctx {
		c.printf("competing for %s", key)
		l, err := candidate.Campaign(limit)
		if err != nil {
			return err
		}
		c.printf("leading %s with session %s, term %d", key, l.Pair.Session, l.Pair.LockIndex)
		if len(c.command) > 0 {
			return c.runProgram(ctx, l, key)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.Lost():
			c.printf("lost %s: %s", key, consulx.Describe(l.Err()))
		}
	}
}

func (c *campaign) printf(format string, args ...any) {
	fmt.Fprintln(c.stderr, sanitize.Line(fmt.Sprintf(format, args...), 400))
}

// Exit codes for a program that cannot be run, as in shells and env(1).
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// newSuperviseCommand returns the hidden command that campaign runs as the parent process of its program.
func newSuperviseCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: supervise.Command, Hidden: true, DisableFlagParsing: true,
		// All arguments are arguments of the program: electop's flags and config file do not apply.
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(_ *cobra.Command, program []string) error {
			if !supervise.Supported || len(program) == 0 {
				return usagef("%s is an internal command; use electop campaign", supervise.Command)
			}
			err := supervise.Run(o.program(program))
			if errors.Is(err, supervise.ErrStart) {
				return o.cannotRun(err)
			}
			return programExit(err)
		},
	}
}

// program returns a program with the streams of electop.
func (d deps) program(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // it ends at its deadlines
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.stdin, d.stdout, d.stderr
	return cmd
}

// extendInterval is the time between two extensions of the deadlines. It is short compared with SessionOptions.Hold.
const extendInterval = 500 * time.Millisecond

// runProgram runs the program until the program ends, the leadership is lost or a signal arrives. When runProgram
// returns, every process in the program's process group has ended or has been sent SIGKILL.
func (c *campaign) runProgram(ctx context.Context, l *candidacy.Leadership, key string) error {
	var lostAt, signalledAt time.Time
	deadlines := func() supervise.Deadlines {
		return supervise.NewDeadlines(time.Now(), l.Remaining(), lostAt, signalledAt)
	}
	cmd := c.program(c.command)
	cmd.Env = append(os.Environ(), "CONSUL_LOCK_HELD=true", "ELECTOP_KEY="+key, "ELECTOP_SESSION="+l.Pair.Session)
	client, err := supervise.Start(cmd, deadlines())
	if err != nil {
		return err
	}
	lost, signalled := l.Lost(), ctx.Done()
	tick := time.Tick(extendInterval)
	for {
		select {
		case err := <-client.Done():
			switch {
			case !lostAt.IsZero():
				return fmt.Errorf("lost the lock on %s while the program was running: %s", clean(key), consulx.Describe(l.Err()))
			case !signalledAt.IsZero():
				return ctx.Err()
			}
			return programExit(err)
		case <-lost:
			lost, lostAt = nil, time.Now()
		case <-signalled:
			signalled, signalledAt = nil, time.Now()
		case <-tick:
		}
		client.Extend(deadlines())
	}
}

// cannotRun reports why the program cannot be run, and returns its exit code.
func (d deps) cannotRun(err error) error {
	d.warn("cannot run CMD: " + sanitize.Line(err.Error(), 400))
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitError(exitNotFound)
	}
	return exitError(exitCannotRun)
}

// programExit returns the exit code of a program that has ended: its own, or 128 + N
// if signal N ended it. It returns other errors unchanged.
func programExit(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError(128 + int(status.Signal()))
	}
	return exitError(exit.ExitCode())
}
