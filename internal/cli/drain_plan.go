package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/drain"
)

// countElections returns "1 election", "2 elections" and so on.
func countElections(n int) string {
	return election.Plural(uint64(n), "election") //nolint:gosec // not negative
}

// makePlan reads everything that the plan needs, and makes the plan.
func (r *drainRun) makePlan(ctx context.Context, nodes []string) error {
	f := drain.Facts{Nodes: nodes, Patterns: r.patterns, Snapshot: r.snapshot}
	if err := r.readSessions(ctx, &f); err != nil {
		return err
	}
	if err := r.checkNodes(ctx, f); err != nil {
		return err
	}
	if err := r.searchStore(ctx, &f); err != nil {
		return err
	}
	var err error
	if r.selected, err = r.choose(ctx, f); err != nil {
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
		for _, read := range consulx.Surveys(sctx, r.client, keys) {
			around[read.Key] = read
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	r.plan = drain.NewPlan(f, around, r.selected.excluded)
	return r.checkPermissions(ctx)
}

var errInterrupted = fmt.Errorf("interrupted: %w", errDeclined)

// readSessions reads all sessions. It fails if the token cannot read the session of a leader, because this leader
// could be on any node.
func (r *drainRun) readSessions(ctx context.Context, f *drain.Facts) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var err error
	f.Sessions, err = consulx.Sessions(ctx, r.client)
	partly := errors.Is(err, consulx.ErrIncomplete)
	if err != nil && !partly {
		return err
	}
	unread := f.Unread()
	if !partly && len(unread) > 0 {
		if partly, err = r.client.OmitsSilently(ctx); err != nil {
			return err
		}
	}
	if !partly {
		return nil
	}
	if len(unread) > 0 {
		names := make([]string, len(unread))
		for i, e := range unread {
			names[i] = sanitize.Line(e.Name, 100)
		}
		return fmt.Errorf("%w: this token cannot read the sessions of these elections' leaders, so their nodes are unknown (see electop doctor): %s",
			consulx.ErrDenied, shortNames(names))
	}
	r.incomplete = "This token cannot read all sessions: keys that unreadable sessions on the node hold may be missing."
	return nil
}

// checkNodes fails if a node does not exist. If the token cannot read all nodes, it only warns.
func (r *drainRun) checkNodes(ctx context.Context, f drain.Facts) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	known, err := consulx.Nodes(ctx, r.client)
	if err != nil && !errors.Is(err, consulx.ErrIncomplete) && !errors.Is(err, consulx.ErrDenied) {
		return err
	}
	for _, node := range f.Nodes {
		onNode := func(s *election.Session) bool { return s.Node == node }
		switch {
		case slices.Contains(known, node) || slices.ContainsFunc(f.Sessions, onNode):
		case err != nil:
			r.d.warn(fmt.Sprintf("no sessions were found on node %s; check the name, because this token cannot read all nodes", sanitize.Line(node, 60)))
		default:
			slices.Sort(known)
			text := fmt.Sprintf("no such node: %s; Consul's nodes are %s", sanitize.Line(node, 60), shortNames(strings.Split(nodeNames(known), ", ")))
			return &missingError{name: node, text: text}
		}
	}
	return nil
}

// searchStore searches the whole KV store for keys that the nodes' sessions hold.
func (r *drainRun) searchStore(ctx context.Context, f *drain.Facts) error {
	ids := f.SessionIDs()
	if len(ids) == 0 || r.noScan {
		return nil
	}
	held, err := r.holdings(ctx, ids)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, consulx.ErrIncomplete):
		r.incomplete = "This token cannot read all keys: other keys that sessions on the node hold may be missing."
	case err != nil:
		return err
	}
	f.Held = held
	return nil
}

// holdings searches the whole KV store and shows the progress.
func (r *drainRun) holdings(ctx context.Context, sessions []string) ([]election.Pair, error) {
	if r.progress != nil {
		return consulx.Holdings(ctx, r.client, sessions, r.progress)
	}
	p := &progress{w: r.d.stderr, terminal: r.d.interactive}
	defer p.end()
	return consulx.Holdings(ctx, r.client, sessions, p.update)
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
func (r *drainRun) choose(ctx context.Context, f drain.Facts) (selection, error) {
	s := selection{map[string]bool{}, map[string]bool{}}
	for _, list := range []struct {
		names []string
		keys  map[string]bool
	}{{r.include, s.include}, {r.exclude, s.exclude}} {
		for _, name := range list.names {
			key, err := r.keyOf(ctx, f, name)
			if err != nil {
				return s, err
			}
			list.keys[key] = true
		}
	}
	return s, nil
}

// keyOf returns the key for a name. The name selects an election that a pattern matches, a key of the plan, or any
// other key in the store.
func (r *drainRun) keyOf(ctx context.Context, f drain.Facts, name string) (string, error) {
	e, err := findElection(r.snapshot, name)
	if err == nil {
		return e.Key(), nil
	}
	if !errors.Is(err, errNoElection) {
		return "", err
	}
	key := strings.TrimPrefix(name, "/")
	if slices.ContainsFunc(f.Held, func(p election.Pair) bool { return p.Key == key }) {
		return key, nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	holders, readErr := consulx.Holders(ctx, r.client, []string{key})
	if _, exists := holders[key]; exists && readErr == nil {
		return key, nil
	}
	return "", r.explainError(ctx, err)
}

// checkPermissions skips the elections that the token may not release, so that the user does
// not confirm an action that Consul will deny.
func (r *drainRun) checkPermissions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	operator, planned := consulx.NewOperator(r.client, nil), r.plan.Planned()
	check := func(item *drain.Item) (known bool, err error) {
		rights, err := operator.Rights(ctx, item.Target)
		if missing, rule := rights.Missing(election.ActionRelease); missing {
			item.Skip, item.Failure = "this token lacks "+rule, insight.OutcomeDenied
		}
		return rights.Known, err
	}
	if len(planned) == 0 {
		return nil
	}
	if known, err := check(planned[0]); err != nil || !known {
		return err // Consul does not report permissions, for example because ACLs are off
	}
	var g errgroup.Group
	g.SetLimit(consulx.Parallel)
	for _, item := range planned[1:] {
		g.Go(func() error { _, err := check(item); return err })
	}
	return g.Wait()
}
