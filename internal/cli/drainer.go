package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/act"
	"electop/internal/feed"
)

// drainer plans and carries out one drain, for the command and for the dashboard. The reads of its client are
// consistent.
type drainer struct {
	lookup
	act.Options
	noScan           bool
	include, exclude []string // names of elections
	// searching receives the progress of a search of the store.
	searching func(done, total int)
	// note receives every action, as does the observer of the drain.
	note func(election.OperatorAction)

	found              act.Facts // the latest
	plan               act.Plan
	included, excluded map[string]bool // the keys of include and exclude
}

var errInterrupted = fmt.Errorf("interrupted: %w", errDeclined)

// makePlan reads everything that the plan needs, and makes the plan.
func (d *drainer) makePlan(ctx context.Context, nodes []string) (err error) {
	d.found, err = d.facts(ctx, nodes)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	if err := d.checkNodes(ctx, nodes); err != nil {
		return err
	}
	d.snapshot = d.found.Snapshot
	if d.included, err = d.keysOf(ctx, d.include); err != nil {
		return err
	}
	if d.excluded, err = d.keysOf(ctx, d.exclude); err != nil {
		return err
	}
	var keys []string
	for _, e := range d.found.Elections() {
		keys = append(keys, e.Key())
	}
	d.plan = act.NewPlan(d.found, d.surroundings(ctx, keys), d.unselected)
	d.plan.Options = d.Options
	return d.checkPermissions(ctx, election.ActionRelease, d.plan.Items)
}

// unselected returns why --include and --exclude do not select an election. It returns "" if the election is selected.
func (d *drainer) unselected(e *election.Election) string {
	switch {
	case d.excluded[e.Key()]:
		return "excluded by --exclude"
	case len(d.included) > 0 && !d.included[e.Key()]:
		return "not selected by --include"
	}
	return ""
}

// checkNodes fails if a node does not exist, or if the token cannot read whether it exists.
func (d *drainer) checkNodes(ctx context.Context, nodes []string) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	known, err := consulx.Nodes(ctx, d.client)
	hidden := errors.Is(err, consulx.ErrIncomplete) || errors.Is(err, consulx.ErrDenied)
	if err != nil && !hidden {
		return err
	}
	for _, s := range d.found.Sessions {
		known = append(known, s.Node)
	}
	slices.Sort(known)
	for _, node := range nodes {
		name := clean(node)
		switch {
		case act.Among(node, known):
		case hidden:
			return consulx.Fail(consulx.ErrDenied, "no sessions were found on node %s; check the name, because this token cannot read all nodes", name)
		default:
			return fmt.Errorf("%w: %s; Consul's nodes are %s", errNoNode, name, lineNames(slices.Compact(known)))
		}
	}
	return nil
}

// factTries is the maximum number of reads of the keys whose holders have changed.
const factTries = 3

// facts reads which keys sessions on the nodes hold. It fails if the node of an election's leader is unknown.
func (d *drainer) facts(ctx context.Context, nodes []string) (act.Facts, error) {
	f := act.Facts{Nodes: nodes, Patterns: d.patterns}
	addHeld := func(p election.Pair) {
		if p.Held() {
			f.Held = append(f.Held, p)
		}
	}
	hidden := false
	if !d.noScan {
		err := consulx.ScanStore(ctx, d.client, d.searching, addHeld)
		if hidden = errors.Is(err, consulx.ErrIncomplete); err != nil && !hidden {
			return f, err
		}
	}
	var unread []string
	for range factTries {
		partly, err := d.readLeaders(ctx, &f)
		if err != nil {
			return f, err
		}
		if hidden || f.Snapshot.Filtered || partly {
			f.Incomplete = "This token cannot read all keys and sessions: keys that sessions on the node hold may be missing."
		}
		elections, keys := f.Unread()
		switch {
		case partly && len(elections) > 0:
			return f, fmt.Errorf("%w: this token cannot read the sessions of these elections' leaders, so their nodes are unknown (see electop doctor): %s",
				consulx.ErrDenied, lineNames(elections))
		case partly, len(elections)+len(keys) == 0:
			return f, nil
		}
		unread = slices.Concat(elections, keys)
		f.Held = slices.DeleteFunc(f.Held, func(p election.Pair) bool { return slices.Contains(keys, p.Key) })
		unreadable, err := consulx.Scan(ctx, d.client, keys, nil, addHeld)
		if err != nil {
			return f, err
		}
		hidden = hidden || unreadable
	}
	return f, fmt.Errorf("the leaders of these elections changed while electop read them; try again: %s", lineNames(unread))
}

// readLeaders reads the elections, and then all sessions. partly is set if Consul may hide sessions.
func (d *drainer) readLeaders(ctx context.Context, f *act.Facts) (partly bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if f.Snapshot, err = observe.Once(ctx, d.client, d.patterns, election.HistoryRead{}); err != nil {
		return false, err
	}
	f.Sessions, err = d.client.AllSessions(d.client.Read(ctx))
	switch {
	case errors.Is(err, consulx.ErrIncomplete):
		return true, nil
	case err != nil:
		return false, err
	}
	return d.client.OmitsSilently(ctx)
}

// keysOf returns the keys for names. A name selects an election that a pattern matches, or a held key that the search
// found. An unknown name is an error: with a misspelled name in --exclude, the drain would release an election that the
// user protects.
func (d *drainer) keysOf(ctx context.Context, names []string) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, name := range names {
		e, err := findElection(d.snapshot, name)
		switch {
		case err == nil:
			name = e.Key()
		case !slices.ContainsFunc(d.found.Held, func(p election.Pair) bool { return p.Key == name }):
			return nil, d.explainError(ctx, name, err)
		}
		keys[name] = true
	}
	return keys, nil
}

// execute carries out the plan, and verifies with a second plan that sessions on the nodes lead no election. unverified
// is nil if this was verified. changed receives each changed result; connection receives the reason when the connection
// is lost, and "" when it is restored. execute never calls them concurrently.
func (d *drainer) execute(
	ctx context.Context, recorder *historyRecorder, changed func(act.Outcome), connection func(string),
) (results []act.Outcome, unverified error) {
	if len(act.Pending(d.plan.Items)) == 0 {
		results = act.NewRunner(d.plan, nil).Results()
		for _, r := range results {
			changed(r)
		}
		return results, d.complete()
	}
	results, err := d.move(ctx, recorder, changed, connection)
	if err != nil {
		return results, err
	}
	if d.found, err = d.facts(ctx, d.plan.Nodes); err != nil {
		return results, err
	}
	checked := act.Check(results, act.NewPlan(d.found, nil, d.unselected))
	for i, r := range checked {
		if i >= len(results) || r.Kind != results[i].Kind {
			changed(r)
		}
	}
	return checked, d.complete()
}

// complete returns an error if keys may be missing from the latest plan. With --include, only these keys and their
// holders' sessions must be readable.
func (d *drainer) complete() error {
	hidden := d.found.Incomplete != "" && len(d.included) == 0
	_, unread := d.found.Unread()
	for key := range d.included {
		e := d.found.Snapshot.Find(election.KeyID(key))
		held := slices.ContainsFunc(d.found.Held, func(p election.Pair) bool { return p.Key == key })
		hidden = hidden || d.found.Incomplete != "" && !held && (e == nil || e.Unreadable) || slices.Contains(unread, key)
	}
	if hidden {
		return consulx.Fail(consulx.ErrDenied, "%s", d.found.Incomplete)
	}
	return nil
}

// move observes the elections of the plan and moves them. It returns an error if it was interrupted or could not begin.
func (d *drainer) move(
	ctx context.Context, recorder *historyRecorder, changed func(act.Outcome), connection func(string),
) ([]act.Outcome, error) {
	operator := &drainOperator{writer: writer{recorder: recorder}, planned: map[string]bool{}}
	ps := slices.Clone(d.patterns)
	for _, item := range act.Pending(d.plan.Items) {
		operator.planned[item.Target.Key] = true
		if !item.Watched {
			ps = append(ps, election.KeyPattern(item.Target.Key))
		}
	}
	runner := act.NewRunner(d.plan, operator)
	runner.OnResult, runner.OnConnection = changed, connection
	var seen sync.WaitGroup
	var err error
	_ = observing(ctx, d.client, feed.Options{Patterns: ps}, func(observer *observe.Observer) {
		operator.Operator = consulx.NewOperator(d.client, func(a election.OperatorAction) {
			a.By = userAtHost()
			observer.Note(a)
			d.note(a)
		})
		var first *election.Snapshot
		if first, err = awaitSnapshot(ctx, d.client, ps, observer.Snapshots()); err != nil {
			return
		}
		runner.See(first)
		seen.Go(func() {
			for s := range observer.Snapshots() {
				runner.See(s)
			}
		})
		runner.Run(ctx)
	})
	seen.Wait()
	return runner.Results(), cmp.Or(err, ctx.Err())
}

// drainOperator carries out the actions of a drain.
type drainOperator struct {
	writer
	planned map[string]bool
}

// Act implements [act.Operator]. It destroys no session that holds a key which is not part of the drain.
func (o *drainOperator) Act(ctx context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	if kind == election.ActionRelease {
		return o.writer.Act(ctx, kind, d)
	}
	return o.carryOut(ctx, kind, d.Target, func() error {
		asked := time.Now()
		held, _, err := o.HeldBy(ctx, d.Session, asked)
		if other := slices.IndexFunc(held, func(key string) bool { return !o.planned[key] }); other >= 0 {
			err = consulx.Fail(consulx.ErrRefused, "it also holds %s, which is not part of the drain", clean(held[other]))
		}
		if err != nil {
			return err
		}
		return o.DestroySession(ctx, election.Destroy{Target: d.Target, Keys: held, Shown: asked}) // it refuses if keys are hidden
	})
}
