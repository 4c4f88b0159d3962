package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
)

// drainer plans and carries out one drain, for the command and for the dashboard. The reads of its client are
// consistent.
type drainer struct {
	lookup
	act.Options
	noScan           bool
	include, exclude []string // names of elections
	// searching begins a search of the store. It returns the functions that receive its progress and its end.
	searching func() (update func(done, total int), end func())
	// note receives every action, as does the observer of the drain.
	note func(election.OperatorAction)

	found    act.Facts // the latest
	plan     act.Plan
	selected selection
}

// makePlan reads everything that the plan needs, and makes the plan.
func (d *drainer) makePlan(ctx context.Context, nodes []string) error {
	unknown, err := d.checkNodes(ctx, nodes)
	if err != nil {
		return err
	}
	f, err := d.facts(ctx, nodes)
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	d.snapshot, d.found = f.Snapshot, f
	for _, node := range unknown {
		if !slices.ContainsFunc(f.Sessions, func(s *election.Session) bool { return election.SameNode(s.Node, node) }) {
			return consulx.Fail(consulx.ErrDenied, "no sessions were found on node %s; check the name, because this token cannot read all nodes", sanitize.Line(node, 60))
		}
	}
	if d.selected, err = d.choose(ctx); err != nil {
		return err
	}
	var keys []string
	for _, e := range f.Elections() {
		keys = append(keys, e.Key())
	}
	around := map[string]election.Surroundings{}
	if len(keys) > 0 {
		sctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		for _, read := range consulx.Surveys(sctx, d.client, keys) {
			around[read.Key] = read
		}
	}
	d.plan = act.NewPlan(f, around, d.selected.excluded)
	d.plan.Options = d.Options
	return d.checkPermissions(ctx)
}

var errInterrupted = fmt.Errorf("interrupted: %w", errDeclined)

// checkNodes fails if a node does not exist. It returns the nodes of which the token cannot read whether they exist.
func (d *drainer) checkNodes(ctx context.Context, nodes []string) (unknown []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	known, err := consulx.Nodes(ctx, d.client)
	partly := errors.Is(err, consulx.ErrIncomplete) || errors.Is(err, consulx.ErrDenied)
	if err != nil && !partly {
		return nil, err
	}
	for _, node := range nodes {
		switch {
		case slices.ContainsFunc(known, func(k string) bool { return election.SameNode(k, node) }):
		case partly:
			unknown = append(unknown, node)
		default:
			slices.Sort(known)
			for i := range known {
				known[i] = sanitize.Line(known[i], 60)
			}
			text := fmt.Sprintf("no such node: %s; Consul's nodes are %s", sanitize.Line(node, 60), shortNames(known))
			return nil, &missingError{name: node, text: text}
		}
	}
	return unknown, nil
}

// factTries is the maximum number of reads of the keys whose holders have changed.
const factTries = 3

// facts reads which keys sessions on the nodes hold. It fails if the node of an election's leader is unknown.
func (d *drainer) facts(ctx context.Context, nodes []string) (act.Facts, error) {
	f := act.Facts{Nodes: nodes, Patterns: d.patterns}
	partly, err := d.readSessions(ctx, &f)
	if err != nil {
		return f, err
	}
	hidden := false
	onNode := func(s *election.Session) bool { return act.Among(s.Node, nodes) }
	if !d.noScan && (partly || slices.ContainsFunc(f.Sessions, onNode)) {
		if hidden, err = d.searchStore(ctx, &f); err != nil {
			return f, err
		}
	}
	var unread []string
	for range factTries {
		if partly, err = d.readLeaders(ctx, &f); err != nil {
			return f, err
		}
		f.Incomplete = incomplete(hidden || f.Snapshot.Filtered, partly)
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
		unreadable, err := consulx.Scan(ctx, d.client, keys, nil, addHeld(&f))
		if err != nil {
			return f, err
		}
		hidden = hidden || unreadable
	}
	return f, fmt.Errorf("the leaders of these elections changed while electop read them; try again: %s", lineNames(unread))
}

func lineNames(names []string) string {
	for i := range names {
		names[i] = sanitize.Line(names[i], 100)
	}
	return shortNames(names)
}

// incomplete returns the reason why keys may be missing, or "" if neither keys nor sessions are hidden.
func incomplete(keys, sessions bool) string {
	what := "keys"
	switch {
	case !keys && !sessions:
		return ""
	case keys && sessions:
		what = "keys and sessions"
	case sessions:
		what = "sessions"
	}
	return "This token cannot read all " + what + ": keys that sessions on the node hold may be missing."
}

// readLeaders reads the elections, and then all sessions.
func (d *drainer) readLeaders(ctx context.Context, f *act.Facts) (partly bool, err error) {
	rctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if f.Snapshot, err = observe.Once(rctx, d.client, d.patterns); err != nil {
		return false, err
	}
	return d.readSessions(ctx, f)
}

// readSessions reads all sessions. partly is set if Consul may hide sessions.
func (d *drainer) readSessions(ctx context.Context, f *act.Facts) (partly bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	f.Sessions, err = consulx.Sessions(ctx, d.client)
	if errors.Is(err, consulx.ErrIncomplete) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return d.client.OmitsSilently(ctx)
}

// searchStore searches the whole KV store for held keys. hidden is set if the token cannot read all keys.
func (d *drainer) searchStore(ctx context.Context, f *act.Facts) (hidden bool, err error) {
	update, end := d.searching()
	defer end()
	err = consulx.ScanStore(ctx, d.client, update, addHeld(f))
	if errors.Is(err, consulx.ErrIncomplete) {
		return true, nil
	}
	return false, err
}

// addHeld returns a function that adds a key to the facts if a session holds it.
func addHeld(f *act.Facts) func(election.Pair) {
	return func(p election.Pair) {
		if p.Held() {
			f.Held = append(f.Held, p)
		}
	}
}

// selection contains the keys of --include and --exclude.
type selection struct{ include, exclude map[string]bool }

// excluded returns why an election is not selected. It returns "" if the election is selected.
func (s selection) excluded(e *election.Election) string {
	switch {
	case s.exclude[e.Key()]:
		return "excluded by --exclude"
	case len(s.include) > 0 && !s.include[e.Key()]:
		return "not selected by --include"
	}
	return ""
}

// choose resolves the names of --include and --exclude. An unknown name is an error: with a misspelled name in
// --exclude, the drain would release an election that the user protects.
func (d *drainer) choose(ctx context.Context) (s selection, err error) {
	keysOf := func(names []string) map[string]bool {
		keys := map[string]bool{}
		for _, name := range names {
			key, keyErr := d.keyOf(ctx, name)
			err = cmp.Or(err, keyErr)
			keys[key] = true
		}
		return keys
	}
	s = selection{keysOf(d.include), keysOf(d.exclude)}
	return s, err
}

// keyOf returns the key for a name. The name selects an election that a pattern matches, or any other key in the store.
func (d *drainer) keyOf(ctx context.Context, name string) (string, error) {
	e, err := findElection(d.snapshot, name)
	if err == nil {
		return e.Key(), nil
	}
	if !errors.Is(err, errNoElection) {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	if d.noScan { // the plan contains no other key
		return "", d.explainError(ctx, err)
	}
	keys := []string{name, strings.TrimPrefix(name, "/")} // Consul accepts keys with a leading "/"
	holders, readErr := consulx.Holders(ctx, d.client, slices.Compact(keys))
	for _, key := range keys {
		if _, exists := holders[key]; exists && readErr == nil {
			return key, nil
		}
	}
	return "", d.explainError(ctx, err)
}

// checkPermissions skips the elections that the token may not release, so that the user does
// not confirm an action that Consul will deny.
func (d *drainer) checkPermissions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	operator := consulx.NewOperator(d.client, nil)
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for _, item := range d.plan.Planned() {
		g.Go(func() error {
			rights, err := operator.Rights(ctx, item.Target)
			if missing, rule := rights.Missing(election.ActionRelease); missing {
				item.Skip, item.Failure = "this token lacks "+rule, insight.OutcomeDenied
			}
			return err
		})
	}
	return g.Wait()
}
