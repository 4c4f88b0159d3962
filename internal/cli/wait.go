package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/act"
)

// waitCommand waits for the state of one election.
type waitCommand struct {
	*options
	led     bool
	vacant  bool
	leader  string
	timeout time.Duration

	name, key string
	election  *election.Election // as last observed; nil while the key does not exist
	at        time.Time
	// unknown is the reason why the current state cannot be read. It is empty if election is current.
	unknown string
}

const waitHelp = `Wait until an election has a leader, has none, or is led by LEADER, and print
its state. LEADER is the leader as electop list shows it, or the ID of its
session. An election in its lock-delay has no leader.

With --led and --leader the key need not exist yet: the first candidate creates
it. NAME must then be a key that a pattern matches, or the part of the key that
the wildcards match. With --vacant the key must exist at the start or in the
history: otherwise a mistyped NAME would count as an election without a leader.

-o json writes the state as in electop list -o json, even after a timeout.

Exit codes:
  0  the state was reached
  1  timeout, or the store did not respond
  2  usage error, or the key belongs to a semaphore
  3  no such election, or the key did not appear before the timeout
  5  denied by the store, or unknown token or user`

func newWaitCommand(o *options) *cobra.Command {
	w := &waitCommand{options: o}
	cmd := &cobra.Command{
		Use:   "wait NAME --led | --vacant | --leader LEADER",
		Short: "Wait until an election has a leader, no leader, or a given leader",
		Long:  waitHelp,
		Example: `  electop wait web --led --timeout 60s
  electop wait web --leader web-2 --timeout 0
  systemctl stop batch && electop wait batch --vacant -o json | jq -r .last_leader`,
		Args: arguments(1, 1), ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE: work(w.run),
	}
	f := cmd.Flags()
	f.BoolVar(&w.led, "led", false, "wait until the election has a leader")
	f.BoolVar(&w.vacant, "vacant", false, "wait until the election has no leader")
	f.Func("leader", "wait until the election is led by this `leader`", nonEmpty(&w.leader))
	f.DurationVar(&w.timeout, "timeout", time.Minute, "time limit; 0 for no limit")
	cmd.MarkFlagsMutuallyExclusive("led", "vacant", "leader")
	o.outputFlag(cmd, "text")
	return cmd
}

func (w *waitCommand) run(ctx context.Context, names []string) error {
	if !w.led && !w.vacant && w.leader == "" {
		return usagef("wait requires --led, --vacant or --leader")
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(w.timeout, math.MaxInt64))
	defer cancel()
	l, err := w.readOne(limited, true)
	if err == nil {
		err = w.find(ctx, l, names[0])
	}
	if err == nil && !w.reached() {
		l.observing(limited, election.Patterns{election.KeyPattern(w.key)}, func(observer observer) {
			act.AwaitState(limited, observer.Snapshots(), func(now *election.Snapshot) bool {
				err = w.update(now)
				return err != nil || w.reached()
			})
		})
	}
	switch {
	case err != nil:
		return err
	case w.reached():
		return w.write()
	case ctx.Err() != nil:
		return errors.New("interrupted before the state was reached")
	case w.election == nil && w.unknown == "":
		return fmt.Errorf("%w: %s did not appear within %s", errNoElection, clean(w.name), w.timeout)
	case w.output == "json" && w.election != nil:
		err = w.write()
	}
	return cmp.Or(err, fmt.Errorf("timeout after %s: %s", w.timeout, w.text()))
}

// find finds the election with this name. If it does not exist, find finds the key that a candidate may create.
func (w *waitCommand) find(ctx context.Context, l lookup, name string) error {
	w.name, w.at = name, l.snapshot.At
	e, err := findElection(l.snapshot, name)
	if err == nil {
		w.name, w.key, w.election = e.Name, e.Key(), e
		return w.check()
	}
	explained := l.explainError(ctx, name, err)
	key, ok := l.patterns.Key(name)
	if w.vacant || !ok || !errors.Is(explained, errNoElection) {
		return explained
	}
	if match, ok := l.patterns.Match(key); ok {
		w.name = match
	}
	w.key = key
	return nil
}

// check returns an error if the election cannot reach any awaited state.
func (w *waitCommand) check() error {
	if w.election != nil && w.election.State(w.at) == election.OfSemaphore {
		return usagef("%s is a semaphore, which has holders and no leader", clean(w.name))
	}
	return nil
}

// reached reports whether the awaited state is reached. It returns false if the current state is unknown.
func (w *waitCommand) reached() bool {
	if w.election == nil || w.unknown != "" {
		return false
	}
	led := w.election.State(w.at) == election.Led
	if w.leader != "" {
		led = led && (w.election.Leader == w.leader || w.election.Pair.Session == w.leader)
	}
	return led != w.vacant
}

// update sets the state according to a later snapshot of the same key.
func (w *waitCommand) update(now *election.Snapshot) error {
	lost := now.Connection.State == election.Lost
	switch {
	case now.Connection.Refused:
		return fmt.Errorf("%w: %s cannot be read; see electop doctor", election.ErrDenied, clean(w.key))
	case !now.Loaded && !lost:
		return nil
	}
	w.at, w.unknown = now.At, ""
	e := now.Find(election.KeyID(w.key))
	if e != nil && (w.election == nil || e.Exists != w.election.Exists || !e.Pair.Identical(&w.election.Pair)) { // this observer knows less about the same term
		named := *e // with the exact pattern, the key is the name of the election
		named.Name = w.name
		w.election = &named
	}
	if _, stale := now.StaleSince(w.key); stale || lost {
		w.unknown = now.Store.String() + " does not respond"
	} else if e != nil && e.Unreadable {
		w.unknown = "the key can no longer be read"
	}
	return w.check()
}

func (w *waitCommand) write() error {
	w.print(w.election.JSON(w.at), w.text(), false)
	return w.written
}

// text describes the state in one line.
func (w *waitCommand) text() string {
	name := clean(w.name)
	switch {
	case w.unknown != "":
		return name + ": " + w.unknown + "; the current state is unknown"
	case w.election.State(w.at) != election.Led:
		return name + " has no leader"
	}
	t := w.election.Target()
	text := fmt.Sprintf("%s is led by %s, %s, session %s", name, sanitize.Line(t.Leader, 60), election.TermText(t.Term, t.CreateIndex, t.Session), sanitize.Line(t.Session, 40))
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		text += " on " + clean(t.Node)
	}
	return text
}
