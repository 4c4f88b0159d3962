package drain

import (
	"cmp"
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
)

// Facts contains the data for a plan.
type Facts struct {
	Nodes    []string
	Patterns election.Patterns
	Snapshot *election.Snapshot
	// Sessions contains all sessions that the token can read.
	Sessions []*election.Session
	// Held contains the keys that the nodes' sessions hold, found by a search of the whole KV store. It may include
	// keys of the snapshot.
	Held []election.Pair
}

// sessions returns the sessions on the nodes by ID.
func (f *Facts) sessions() map[string]*election.Session {
	all := map[string]*election.Session{}
	for _, s := range f.Sessions {
		if slices.Contains(f.Nodes, s.Node) {
			all[s.ID] = s
		}
	}
	return all
}

// SessionIDs returns the IDs of the sessions on the nodes.
func (f *Facts) SessionIDs() []string {
	var all []string
	for _, s := range f.Sessions {
		if slices.Contains(f.Nodes, s.Node) {
			all = append(all, s.ID)
		}
	}
	return all
}

// Unread returns the elections whose leader's session was not read. The sessions of these leaders may be on any node.
func (f *Facts) Unread() []*election.Election {
	known := map[string]bool{}
	for _, s := range f.Sessions {
		known[s.ID] = true
	}
	var all []*election.Election
	for _, e := range f.Snapshot.Elections {
		if e.Exists && e.Pair.Held() && e.Session == nil && !known[e.Pair.Session] {
			all = append(all, e)
		}
	}
	return all
}

// Elections returns the elections, semaphores and other keys that sessions on the nodes hold, sorted by key.
func (f *Facts) Elections() []*election.Election {
	here := f.sessions()
	var all []*election.Election
	seen := map[string]bool{}
	for _, e := range f.Snapshot.Elections {
		if found := heldHere(e, here); found != nil {
			all = append(all, found)
			seen[e.Key()] = true
		}
	}
	for _, p := range f.Held {
		if session := here[p.Session]; session != nil && !seen[p.Key] && !seen[lockOf(p)] {
			all = append(all, f.found(p, session))
		}
	}
	slices.SortStableFunc(all, func(a, b *election.Election) int { return cmp.Compare(a.Key(), b.Key()) })
	return all
}

// heldHere returns the election with its session, or nil if none of the sessions in the map here holds the key.
func heldHere(e *election.Election, here map[string]*election.Session) *election.Election {
	session := here[e.Pair.Session]
	switch {
	case !e.Exists:
		return nil
	case session != nil:
		found := *e
		found.Session = session
		return &found
	}
	for id, holds := range election.SemaphoreHolders(e) {
		if holds && here[id] != nil {
			return e
		}
	}
	return nil
}

// lockOf returns the .lock key for a contender key of a semaphore, or "" for any other key.
func lockOf(p election.Pair) string {
	folder, ok := strings.CutSuffix(p.Key, "/"+p.Session)
	if !ok || p.Flags != election.SemaphoreFlag {
		return ""
	}
	return folder + "/.lock"
}

// found returns the election of a key that is not in the snapshot: no pattern matches the key, or it was acquired
// after the snapshot.
func (f *Facts) found(p election.Pair, session *election.Session) *election.Election {
	name, matched := f.Patterns.Match(p.Key)
	if !matched {
		name = p.Key
	}
	return &election.Election{
		Name: name, Datacenter: f.Snapshot.Datacenter, Pair: p, Exists: true, Session: session, Term: p.LockIndex,
		Leader: election.LeaderLabel(p, session), Unaddressable: !election.Addressable(p.Key),
	}
}

// Item is one election in a plan.
type Item struct {
	Election *election.Election
	// Target is the hold to release first.
	Target election.Target
	// Watched is set if a pattern matches the key.
	Watched bool
	// Next contains the candidates on other nodes, most likely first. Likely is the number of these candidates that are
	// not weak, or -1 if unknown. Rivals is the number of candidates on the drained nodes.
	Next   []insight.Candidate
	Likely int
	Rivals int
	// Around contains the surroundings from which the candidates were inferred.
	Around election.Surroundings
	// Effect describes the effect of a release. Last describes the effect of a destroy.
	Effect, Last insight.Effect
	// Skip is the reason why the drain does not act on the election. It is empty if the drain acts. If the reason counts
	// as a failure, Failure is the kind of the failure.
	Skip    string
	Failure insight.OutcomeKind
}

// Plan contains the elections of a drain, sorted by key.
type Plan struct {
	Nodes []string
	Items []*Item
	// nodes contains the node of each session that was read, by session ID.
	nodes map[string]string
}

// NewPlan returns the plan for f. around contains the surroundings by key. excluded returns the reason why the user
// excludes an election, or "" if the user does not exclude it.
func NewPlan(
	f Facts, around map[string]election.Surroundings, excluded func(*election.Election) string,
) Plan {
	p := Plan{Nodes: f.Nodes, nodes: map[string]string{}}
	for _, s := range f.Sessions {
		p.nodes[s.ID] = s.Node
	}
	board := insight.NewBoard(f.Snapshot.Elections, nil)
	for _, e := range f.Elections() {
		surroundings := around[e.Key()]
		item := newItem(e, f.Nodes, board, &surroundings)
		_, item.Watched = f.Patterns.Match(e.Key())
		if text := excluded(e); text != "" {
			item.Skip, item.Failure = text, ""
		}
		p.Items = append(p.Items, item)
	}
	return p
}

func newItem(e *election.Election, nodes []string, board *insight.Board, around *election.Surroundings) *Item {
	item := &Item{Election: e, Target: e.Target(), Around: *around}
	all := board.Candidates(e, around)
	for _, c := range all {
		if slices.Contains(nodes, c.Session.Node) {
			item.Rivals++
			continue
		}
		item.Next = append(item.Next, c)
	}
	item.Likely = insight.Likely(item.Next, around)
	item.Effect = insight.EffectOf(election.ActionRelease, e, around, item.Likely)
	item.Last = insight.EffectOf(election.ActionDestroy, e, around, item.Likely)
	item.skip()
	return item
}

// skip sets Skip if the drain must not release the election.
func (i *Item) skip() {
	switch {
	case i.Election.Pair.Flags == election.SemaphoreFlag:
		i.Skip = "a semaphore has slots and no leader; stop the program that holds a slot, or destroy its session"
	case i.Effect.Refusal != "":
		i.Skip = i.Effect.Refusal
		if i.Effect.Kind != insight.HolderPatroniMember {
			i.Failure = insight.OutcomeRefused
		}
	}
}

// Planned returns the items on which the drain acts.
func (p Plan) Planned() []*Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i *Item) bool { return i.Skip != "" })
}
