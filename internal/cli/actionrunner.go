package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/ui/kit"
)

// toWrite prepares a command that writes to Consul. --read-only forbids it, and it never reads stale data: a plan from a
// server that lags behind would omit leaders.
func (o *options) toWrite(command string) error {
	if o.readOnly {
		return usagef("--read-only forbids %s", command)
	}
	o.consul.Stale = false
	return nil
}

// writeTimeout bounds one release.
const writeTimeout = 15 * time.Second

// writer carries out actions in one datacenter, and records them in the history.
type writer struct {
	operator
	recorder *historyRecorder // nil if no history is used
}

// Act implements [act.Operator]. It does nothing if ctx has ended.
func (w writer) Act(ctx context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	o := act.Outcome{Action: kind, Target: d.Target}
	var err error
	switch {
	case ctx.Err() != nil:
		return outcomeOf(o, fmt.Errorf("interrupted before the %s", kind))
	case kind == election.ActionDestroy:
		err = w.DestroySession(ctx, d)
	default: // the first ctrl-c lets a write in progress end
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()
		err = w.Release(ctx, d.Target)
	}
	if o = outcomeOf(o, err); o.Kind == act.OutcomeDone {
		o.Note = d.Note
	}
	w.recorder.action(o)
	return o
}

// outcomeOf sets the kind and the reason of an outcome from the error of the action.
func outcomeOf(o act.Outcome, err error) act.Outcome {
	// The kind of the outcome already says that nothing was written.
	o.Reason = strings.TrimSuffix(consulx.Describe(err), "; nothing was written")
	switch {
	case err == nil:
		o.Kind = act.OutcomeDone
	case errors.Is(err, election.ErrMoved), errors.Is(err, election.ErrNoSession) && o.Target.Key != "":
		o.Kind = act.OutcomeChanged
	case errors.Is(err, election.ErrDenied):
		o.Kind = act.OutcomeDenied
	case errors.Is(err, election.ErrRefused):
		o.Kind = act.OutcomeRefused
	case errors.Is(err, election.ErrUnknown):
		o.Kind = act.OutcomeUnknown
	default:
		o.Kind = act.OutcomeFailed
	}
	return o
}

// readOne opens the datacenter of a command that works in one, and reads its elections.
func (o *options) readOne(ctx context.Context, past bool) (lookup, error) {
	l, err := o.openOne()
	if err == nil {
		err = l.read(ctx, past)
	}
	return l, err
}

// readEach opens the clusters of a command, and reads their elections.
func (o *options) readEach(ctx context.Context, past bool) (lookups, error) {
	ls, err := o.open(ctx)
	if err == nil {
		err = ls.each(func(_ int, l *lookup) error { return l.read(ctx, past) })
	}
	return ls, err
}

// surroundings reads the surroundings of elections.
func (l lookup) surroundings(ctx context.Context, of []*election.Election) map[string]election.Surroundings {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	all := map[string]election.Surroundings{}
	if len(of) > 0 {
		for _, read := range l.Survey(ctx, election.Map(of, (*election.Election).Key)) {
			all[read.Key] = read
		}
	}
	return all
}

// checkPermissions finishes the items on which the token may not act, so that the user does not confirm an action that
// Consul will deny.
func (l lookup) checkPermissions(ctx context.Context, kind election.ActionKind, items []*act.Item) error {
	operator := l.Operator(nil)
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for _, i := range act.Pending(items) {
		g.Go(func() error {
			missing, err := operator.Rights(ctx, i.Target)
			if rule := missing[kind]; rule != "" {
				i.Refuse(act.OutcomeDenied, "this token lacks "+rule)
			}
			return err
		})
	}
	return g.Wait()
}

// searchHoldings searches the whole KV store for the keys that the sessions of the items hold. After ErrIncomplete, the
// keys are those that the token can read.
func (l lookup) searchHoldings(ctx context.Context, items []*act.Item, progress kit.Progress) error {
	pairs, err := l.Holdings(ctx, election.Map(items, func(i *act.Item) string { return i.Target.Session }), progress)
	for _, i := range items {
		i.Destroy = election.Destroy{Target: i.Target, Shown: time.Now(), Incomplete: errors.Is(err, election.ErrIncomplete)}
		for _, p := range pairs {
			if p.HeldBy(i.Target.Session) {
				i.Held, i.Destroy.Keys = append(i.Held, p), append(i.Destroy.Keys, p.Key)
			}
		}
	}
	return err
}
