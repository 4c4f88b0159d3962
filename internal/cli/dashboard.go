package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/ui"
)

// dashboard opens the board on the Consul that the flags name.
func dashboard(ctx context.Context, d deps, o *options) error {
	if !d.interactive || os.Getenv("TERM") == "dumb" {
		return errors.New("the dashboard needs a terminal that can draw; without one use `electop list` or `electop watch`")
	}
	return d.guard(o, func() error { return runDashboard(ctx, d, o) })
}

func runDashboard(ctx context.Context, d deps, o *options) error {
	client, ps, err := o.prepare()
	if err != nil {
		return err
	}
	log, closeLog, err := o.logger(d)
	if err != nil {
		return err
	}
	defer closeLog()
	return openBoard(ctx, d, board{client: client, patterns: ps, log: log, readOnly: o.readOnly, ascii: o.ascii})
}

// board is what a dashboard is opened on.
type board struct {
	client   *consulx.Client
	patterns election.Patterns
	log      *slog.Logger
	readOnly bool
	ascii    bool
	demo     string
}

// openBoard runs observer and screen until either ends.
func openBoard(ctx context.Context, d deps, b board) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	observer := observe.New(b.client, observe.Options{
		Patterns: b.patterns, OnEvents: logEvents(b.log), Logger: b.log,
	})
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(ctx) })
	if tty, ok := d.stdin.(*os.File); ok {
		// Bubble Tea ignores the end of its input, and SIGHUP may be ignored.
		g.Go(func() error { return pollHangup(ctx, tty) })
	}
	if d.guarded {
		g.Go(func() error { return awaitReaderGone(ctx, d.stderr) }) // the parent is gone
	}
	var screen error
	g.Go(func() error {
		defer cancel()
		screen = runScreen(ctx, d, b, observer)
		return screen
	})
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return screen // another goroutine may have ended first
}

func runScreen(ctx context.Context, d deps, b board, observer *observe.Observer) error {
	op := consulx.NewOperator(b.client, observer.Note)
	jobs := newJobControl()
	defer jobs.close()
	options := []tea.ProgramOption{tea.WithInput(d.stdin), tea.WithOutput(stream(d.stdout))}
	if d.guarded {
		options = append(options, tea.WithoutCatchPanics()) // the parent handles panics of every goroutine alike
	}
	left := make(chan error, 1)
	go func() {
		unfinished, err := ui.Run(ctx, uiOptions(b, observer, op, jobs), options...)
		left <- cmp.Or(err, reportUnfinished(d.stderr, unfinished))
	}()
	select {
	case err := <-left:
		return err
	case <-jobs.ended:
		return nil
	}
}

// reportUnfinished writes a line for each action whose end the dashboard did not
// observe, and gives the exit code that the same outcomes have on the command line.
func reportUnfinished(w io.Writer, left []ui.Unfinished) error {
	codes := map[int]bool{}
	for _, u := range left {
		fmt.Fprintf(w, "electop: %s %s: %s\n", u.Outcome.Action, u.Name, u.Outcome.Summary())
		codes[exitOf(u.Outcome, false)] = true
	}
	for _, code := range bySeverity() {
		if codes[code] && code != exitDone {
			return exitError(code)
		}
	}
	return nil
}

func uiOptions(b board, observer *observe.Observer, op *consulx.Operator, jobs *jobControl) ui.Options {
	return ui.Options{
		Snapshots: observer.Snapshots(), Operator: operator{op}, ReadOnly: b.readOnly,
		Address: b.client.Address(), Patterns: b.patterns.Strings(), ASCII: b.ascii, Demo: b.demo,
		WatchChecks: observer.WatchChecks, Study: observer.Study, WatchSessions: observer.WatchSessions,
		Rights: op.Rights, Holdings: b.holdings, Survey: b.survey, Suspend: jobs.suspend, Interludes: jobs.next,
	}
}

// survey reads what stands around several elections.
func (b board) survey(ctx context.Context, keys []string) []election.Surroundings {
	return consulx.Surveys(ctx, b.client, keys)
}

// holdings searches for keys of sessions and tells apart what the token may
// not read.
func (b board) holdings(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error) {
	keys, err := consulx.Holdings(ctx, b.client, sessions, progress)
	if errors.Is(err, consulx.ErrIncomplete) {
		return keys, false, nil
	}
	return keys, err == nil, err
}

// operator reports the operator's actions to the screen as outcomes.
type operator struct{ *consulx.Operator }

// Release releases the key that the target names.
func (o operator) Release(ctx context.Context, t election.Target) insight.Outcome {
	released, err := o.Operator.Release(ctx, t)
	return noted(settled(insight.Outcome{Action: election.ActionRelease, Target: t}, err), released)
}

// DestroySession destroys the session that the target names.
func (o operator) DestroySession(ctx context.Context, t election.Target) insight.Outcome {
	_, err := o.Operator.DestroySession(ctx, t)
	return settled(insight.Outcome{Action: election.ActionDestroy, Target: t}, err)
}
