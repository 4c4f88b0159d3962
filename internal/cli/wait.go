package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/sanitize"
)

// waitCommand waits for the state of one election.
type waitCommand struct {
	d       deps
	o       *options
	led     bool
	vacant  bool
	leader  string
	timeout time.Duration
	output  string
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
  1  timeout, or Consul did not respond
  2  usage error, or the key belongs to a semaphore
  3  no such election, or the key did not appear before the timeout
  5  denied by Consul's ACLs, or unknown token`

func newWaitCommand(d deps, o *options) *cobra.Command {
	w := &waitCommand{d: d, o: o}
	cmd := &cobra.Command{
		Use:   "wait NAME --led | --vacant | --leader LEADER",
		Short: "Wait until an election has a leader, no leader, or a given leader",
		Long:  waitHelp,
		Example: `  electop wait web --led --timeout 60s
  electop wait web --leader web-2 --timeout 0
  systemctl stop batch && electop wait batch --vacant -o json | jq -r .last_leader`,
		Args: exactName, ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := w.validate(cmd); err != nil {
				return err
			}
			return w.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&w.led, "led", false, "wait until the election has a leader")
	f.BoolVar(&w.vacant, "vacant", false, "wait until the election has no leader")
	f.Var((*nonEmptyString)(&w.leader), "leader", "wait until the election is led by this leader")
	f.DurationVar(&w.timeout, "timeout", time.Minute, "time limit; 0 for no limit")
	outputFlag(cmd, &w.output, "text", "json")
	return cmd
}

func (w *waitCommand) validate(cmd *cobra.Command) error {
	conditions := 0
	for _, set := range []bool{w.led, w.vacant, w.leader != ""} {
		if set {
			conditions++
		}
	}
	switch {
	case conditions != 1:
		return usagef("%s requires exactly one of --led, --vacant and --leader", cmd.Name())
	case w.timeout < 0:
		return usagef("--timeout %s: must be 0 or more", w.timeout)
	}
	return nil
}

// waited is the election of a wait command as last observed.
type waited struct {
	name, key string
	election  *election.Election // nil while the key does not exist
	at        time.Time
	// unknown is the reason why the current state cannot be read. It is empty if election is current.
	unknown string
	denied  bool // Consul denies the reads
}

func (w *waitCommand) run(ctx context.Context, name string) error {
	limited := ctx
	if w.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	l, err := w.o.readOne(limited, w.d, w.o.recorded(w.d))
	if err != nil {
		return err
	}
	state, err := w.find(ctx, l, name)
	if err != nil {
		return err
	}
	if !w.reached(state) {
		if state, err = w.observe(limited, l.client, state); err != nil {
			return err
		}
	}
	switch {
	case state.denied:
		return fmt.Errorf("%w: this token cannot read %s; see electop doctor", consulx.ErrDenied, sanitize.Line(state.key, 200))
	case w.reached(state):
		return w.write(state)
	case ctx.Err() != nil:
		return errors.New("interrupted before the state was reached")
	}
	return w.timedOut(state)
}

// find returns the election with this name. If it does not exist, find returns the key that a candidate may create.
func (w *waitCommand) find(ctx context.Context, l lookup, name string) (waited, error) {
	e, err := findElection(l.snapshot, name)
	if err == nil {
		return newWaited(e, l.snapshot.At)
	}
	explained := l.explainError(ctx, err)
	key, ok := l.patterns.Key(name)
	if w.vacant || !ok || !errors.Is(explained, errNoElection) {
		return waited{}, explained
	}
	if match, ok := l.patterns.Match(key); ok {
		name = match
	}
	return waited{name: name, key: key, at: l.snapshot.At}, nil
}

func newWaited(e *election.Election, at time.Time) (waited, error) {
	switch {
	case e.State(at) == election.OfSemaphore:
		return waited{}, usagef("%s is a semaphore, which has holders and no leader", sanitize.Line(e.Name, 100))
	case !election.Addressable(e.Key()):
		return waited{}, usagef("the key %s is not UTF-8: Consul replaces its invalid bytes, so electop cannot observe this key alone", sanitize.Line(e.Key(), 100))
	}
	return waited{name: e.Name, key: e.Key(), election: e, at: at}, nil
}

// reached reports whether the awaited state is reached. It returns false if the current state is unknown.
func (w *waitCommand) reached(s waited) bool {
	if s.election == nil || s.unknown != "" {
		return false
	}
	switch led := s.election.State(s.at) == election.Led; {
	case w.leader != "":
		return led && (s.election.Leader == w.leader || s.election.Pair.Session == w.leader)
	case w.vacant:
		return !led
	default:
		return led
	}
}

// observe follows the key until the state is reached or ctx ends.
func (w *waitCommand) observe(ctx context.Context, client *consulx.Client, s waited) (waited, error) {
	o := observe.Options{Patterns: election.Patterns{election.KeyPattern(s.key)}}
	err := observing(ctx, client, o, func(observer *observe.Observer) {
		awaitState(ctx, observer.Snapshots(), func(now *election.Snapshot) bool {
			s = s.update(now)
			return s.denied || w.reached(s) || s.election != nil && s.election.State(s.at) == election.OfSemaphore
		})
	})
	if err == nil && s.election != nil {
		_, err = newWaited(s.election, s.at)
	}
	return s, err
}

// update returns the state according to a later snapshot of the same key.
func (s waited) update(snapshot *election.Snapshot) waited {
	if !snapshot.Loaded && snapshot.Connection.State != election.Lost {
		return s
	}
	s.at, s.unknown, s.denied = snapshot.At, "", snapshot.Connection.Refused
	e := snapshot.Find(election.KeyID(s.key))
	if e != nil {
		named := *e // with the exact pattern, the key is the name of the election
		named.Name = s.name
		s.election = &named
	}
	_, stale := snapshot.StaleSince(s.key)
	switch {
	case stale || snapshot.Connection.State == election.Lost:
		s.unknown = "Consul does not respond"
	case e != nil && e.Unreadable:
		s.unknown = "this token can no longer read the key"
	}
	return s
}

func (w *waitCommand) timedOut(s waited) error {
	if s.election == nil && s.unknown == "" {
		return fmt.Errorf("%w: %s did not appear within %s", errNoElection, sanitize.Line(s.name, 100), w.timeout)
	}
	if w.output == "json" && s.election != nil {
		if err := w.write(s); err != nil {
			return err
		}
	}
	return fmt.Errorf("timeout after %s: %s", w.timeout, s.text())
}

func (w *waitCommand) write(s waited) error {
	if w.output == "text" {
		_, err := fmt.Fprintln(w.d.stdout, s.text())
		return err
	}
	text, err := s.election.JSON(s.at)
	if err != nil {
		return err
	}
	return writeIndented(w.d.stdout, json.RawMessage(text))
}

// text describes the state in one line.
func (s waited) text() string {
	name := sanitize.Line(s.name, 100)
	switch {
	case s.unknown != "":
		return name + ": " + s.unknown + "; the current state is unknown"
	case s.election.State(s.at) != election.Led:
		return name + " has no leader"
	}
	return name + " is led by " + holderText(s.election.Target())
}
