package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
)

// actTimeout bounds one write to Consul.
const actTimeout = 15 * time.Second

// action is what release and destroy share: find the election, say what will
// happen, ask, act on exactly what was seen, and wait for the next leader.
type action struct {
	d    deps
	o    *options
	verb string
	yes  bool
	wait time.Duration
	scan bool
	// plan says in lines what will happen; perform does it and gives a line
	// that says what was done.
	plan    func(prospect) []string
	perform func(context.Context, *consulx.Operator, election.Target) (string, error)
}

// prospect is what a plan is made of.
type prospect struct {
	snapshot *election.Snapshot
	target   election.Target
	// behavior of the target's session, empty when it is not known.
	behavior string
	insight  *insight  // nil without an election
	found    *holdings // nil when the store was not searched
}

func (a *action) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.yes, "yes", false, "do not ask")
	cmd.Flags().DurationVar(&a.wait, "wait", 0, "wait this long for the next leader and report the vacancy")
}

// errDeclined says that the person who was asked said no.
var errDeclined = errors.New("nothing was done")

func (a *action) run(ctx context.Context, name string) error {
	client, ps, err := a.begin()
	if err != nil {
		return err
	}
	snapshot, err := look(ctx, client, ps)
	if err != nil {
		return err
	}
	e, err := resolve(snapshot, name)
	if err != nil {
		return err
	}
	if e.State(snapshot.At) != election.Led {
		return fmt.Errorf("%s has no leader: there is nothing to %s", election.Line(e.Name, 100), a.verb)
	}
	target := e.Target()
	if a.asks() {
		p := prospect{snapshot: snapshot, target: target, behavior: target.Behavior}
		in := survey(ctx, client, snapshot, e)
		p.insight = &in
		if err := a.ask(ctx, client, p); err != nil {
			return err
		}
	}
	if a.wait > 0 {
		return a.actAndWait(ctx, client, target)
	}
	return a.act(ctx, consulx.NewOperator(client, nil), target)
}

// begin refuses what --read-only forbids and sets up the client.
func (a *action) begin() (*consulx.Client, election.Patterns, error) {
	if a.wait < 0 {
		return nil, nil, usagef("--wait %s: want a positive duration", a.wait)
	}
	if a.o.readOnly {
		return nil, nil, usagef("--read-only forbids to %s", a.verb)
	}
	return a.o.prepare()
}

// asks reports whether the plan is shown to somebody.
func (a *action) asks() bool { return !a.yes || a.scan }

// ask searches the store, if that is wanted, shows the plan and asks.
func (a *action) ask(ctx context.Context, client *consulx.Client, p prospect) (err error) {
	if a.scan {
		if p.found, err = a.searchStore(ctx, client, p.target.Session); err != nil {
			return err
		}
	}
	for _, line := range a.plan(p) {
		fmt.Fprintln(a.d.stderr, line)
	}
	if err := a.preflight(ctx, client, p.target); err != nil {
		return err
	}
	return a.confirm(ctx)
}

// preflight spares a question whose answer Consul would refuse.
func (a *action) preflight(ctx context.Context, client *consulx.Client, t election.Target) error {
	rights, err := consulx.NewOperator(client, nil).Rights(ctx, t)
	allowed, rule := rights.Release, rights.ReleaseRule
	if a.verb == "destroy" {
		allowed, rule = rights.Destroy, rights.DestroyRule
	}
	if err != nil || !rights.Known || allowed {
		return err
	}
	return fmt.Errorf("%w: this token lacks %s", consulx.ErrDenied, rule)
}

// confirm asks, unless --yes was given.
func (a *action) confirm(ctx context.Context) error {
	if a.yes {
		return nil
	}
	if !a.d.interactive {
		return usagef("nobody can be asked here: give --yes to %s without a question", a.verb)
	}
	fmt.Fprintf(a.d.stderr, "%s? [y/N] ", strings.ToUpper(a.verb[:1])+a.verb[1:])
	switch strings.ToLower(strings.TrimSpace(a.answer(ctx))) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

// answer reads a line, or nothing when the program is told to end. A read from
// a terminal can't be called off: it ends with the process.
func (a *action) answer(ctx context.Context) string {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(a.d.stdin).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		return text
	case <-ctx.Done():
		return ""
	}
}

func (a *action) act(ctx context.Context, operator *consulx.Operator, target election.Target) error {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	done, err := a.perform(ctx, operator, target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.d.stdout, done)
	return err
}

// actAndWait watches the election while it acts, so that the vacancy is
// measured and not computed.
func (a *action) actAndWait(ctx context.Context, client *consulx.Client, target election.Target) error {
	ps := election.Patterns{election.KeyPattern(target.Key)}
	queue := newEventQueue()
	observer := consulx.NewObserver(client, consulx.ObserverOptions{Patterns: ps, OnEvents: queue.push})
	ctx, cancel := context.WithCancel(ctx)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(gctx) })
	err := a.follow(gctx, queue, consulx.NewOperator(client, observer.Note), target)
	cancel()
	if werr := g.Wait(); err == nil && !errors.Is(werr, context.Canceled) {
		err = werr
	}
	return err
}

func (a *action) follow(ctx context.Context, queue *eventQueue, operator *consulx.Operator, target election.Target) error {
	if err := awaitHold(ctx, queue, target); err != nil {
		return err
	}
	if err := a.act(ctx, operator, target); err != nil {
		return err
	}
	next, err := awaitNext(ctx, queue, a.wait)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nobody leads %s after %s", election.Line(target.Election, 100), a.wait)
	}
	if err != nil {
		return err
	}
	vacancy := ""
	if next.VacancyKnown {
		vacancy = " after " + election.FormatDuration(next.Vacancy)
	}
	_, err = fmt.Fprintf(a.d.stdout, "%s leads%s (term %d)\n", election.Line(next.Leader, 100), vacancy, next.Term)
	return err
}

// awaitHold waits until the observer sees the hold that is to be ended.
func awaitHold(ctx context.Context, queue *eventQueue, target election.Target) error {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	first, err := awaitEvent(ctx, queue, func(e election.Event) bool { return e.Initial })
	if err != nil {
		return err
	}
	if first.Type != election.Elected || first.Session != target.Session {
		return fmt.Errorf("%w: %s is no longer held by that session", consulx.ErrMoved, election.Line(target.Election, 100))
	}
	return nil
}

func awaitNext(ctx context.Context, queue *eventQueue, wait time.Duration) (election.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return awaitEvent(ctx, queue, func(e election.Event) bool { return e.Type == election.Elected })
}

func awaitEvent(ctx context.Context, queue *eventQueue, is func(election.Event) bool) (election.Event, error) {
	for {
		events, err := queue.pop(ctx)
		if err != nil {
			return election.Event{}, err
		}
		for _, e := range events {
			if is(e) {
				return e, nil
			}
		}
	}
}
