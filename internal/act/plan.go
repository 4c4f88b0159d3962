package act

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
	// Held contains the held keys that a search of the whole KV store found. It may include keys of the snapshot.
	Held []election.Pair
	// Sessions contains all sessions that the token can read. They were read after the keys, so that a key whose
	// session is missing was held by a session that has ended or that the token cannot read.
	Sessions []*election.Session
	// Incomplete is the reason why keys may be missing, in one sentence. It is empty if the facts are complete.
	Incomplete string
}

// Among reports whether nodes contains a node, in any spelling.
func Among(node string, nodes []string) bool {
	return slices.ContainsFunc(nodes, func(n string) bool { return election.SameNode(n, node) })
}

// sessionMap contains sessions by ID in lower case. A key keeps the spelling with which it was acquired.
type sessionMap map[string]*election.Session

func (m sessionMap) of(id string) *election.Session { return m[strings.ToLower(id)] }

func newSessionMap(all []*election.Session) sessionMap {
	m := make(sessionMap, len(all))
	for _, s := range all {
		m[strings.ToLower(s.ID)] = s
	}
	return m
}

// held returns the held keys with their sessions, sorted by key. A session that was not read is nil. The slots of
// semaphores are such keys.
func (f *Facts) held() []*election.Election {
	sessions, watched := newSessionMap(f.Sessions), map[string]bool{}
	var all []*election.Election
	for _, e := range f.Snapshot.Elections {
		watched[e.Key()] = true
		if e.Exists && e.Pair.Held() {
			found := *e
			found.Session = sessions.of(e.Pair.Session)
			all = append(all, &found)
		}
	}
	for _, p := range f.Held {
		if watched[p.Key] {
			continue
		}
		name, matched := f.Patterns.Match(p.Key) // a key that matches was acquired after the snapshot
		if !matched {
			name = p.Key
		}
		e := &election.Election{Name: name, Datacenter: f.Snapshot.Datacenter, Pair: p, Exists: true, Session: sessions.of(p.Session), Term: p.LockIndex}
		e.Leader = election.LeaderLabel(p, e.Session)
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b *election.Election) int { return cmp.Compare(a.Key(), b.Key()) })
	return all
}

// Unread returns the names of the elections, and the other keys, whose holder's session was not read. The holder may
// be on any node.
func (f *Facts) Unread() (elections, keys []string) {
	for _, e := range f.held() {
		switch {
		case e.Session != nil:
		case f.Snapshot.Find(e.ID()) != nil:
			elections = append(elections, e.Name)
		default:
			keys = append(keys, e.Key())
		}
	}
	return elections, keys
}

// Elections returns the elections and the other keys that sessions on the nodes hold, sorted by key.
func (f *Facts) Elections() []*election.Election {
	return slices.DeleteFunc(f.held(), func(e *election.Election) bool { return e.Session == nil || !Among(e.Session.Node, f.Nodes) })
}

// Item is one election in a plan.
type Item struct {
	// Target is the hold to release first.
	Target election.Target
	// Watched is set if a pattern matches the key.
	Watched bool
	// Next contains the candidates on other nodes, most likely first. Likely is the number of these candidates that are
	// not weak, or -1 if unknown. Rivals is the number of candidates on the drained nodes.
	Next   []insight.Candidate
	Likely int
	Rivals int
	// Unread says which data about the candidates could not be read.
	Unread []string
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
	Options
	// Incomplete is that of the facts.
	Incomplete string
	// Start begins the drain of a dashboard. It must not block. destroy is [Options.Destroy].
	Start    func(destroy bool) Running
	sessions sessionMap
}

// NewPlan returns the plan for f. around contains the surroundings by key. excluded returns the reason why the user
// excludes an election, or "" if the user does not exclude it.
func NewPlan(
	f Facts, around map[string]election.Surroundings, excluded func(*election.Election) string,
) Plan {
	p := Plan{Nodes: f.Nodes, Incomplete: f.Incomplete, sessions: newSessionMap(f.Sessions)}
	board := insight.NewBoard(f.Snapshot.Elections, nil)
	for _, e := range f.Elections() {
		surroundings := around[e.Key()]
		item := NewItem(e, f.Nodes, board, &surroundings)
		_, item.Watched = f.Patterns.Match(e.Key())
		if text := excluded(e); text != "" {
			item.Skip, item.Failure = text, ""
		}
		p.Items = append(p.Items, item)
	}
	return p
}

// NewItem returns the plan for one election. nodes are the drained nodes, which no candidate in Next is on.
func NewItem(e *election.Election, nodes []string, board *insight.Board, around *election.Surroundings) *Item {
	item := &Item{Target: e.Target(), Unread: around.Unread()}
	all := board.Candidates(e, around)
	for _, c := range all {
		if Among(c.Session.Node, nodes) {
			item.Rivals++
			continue
		}
		item.Next = append(item.Next, c)
	}
	item.Likely = insight.Likely(item.Next, around)
	item.Effect = insight.EffectOf(election.ActionRelease, e, around, item.Likely)
	item.Last = insight.EffectOf(election.ActionDestroy, e, around, item.Likely)
	item.skip(e)
	return item
}

// skip sets Skip if the drain must not release the election.
func (i *Item) skip(e *election.Election) {
	switch {
	case e.Pair.Flags == election.SemaphoreFlag:
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

// Check returns the results with those changes that a second plan shows. The second plan was made after the drain, and
// lists the elections that sessions on the nodes still lead.
func Check(results []Result, second Plan) []Result {
	results = slices.Clone(results)
	for _, item := range second.Items {
		n := slices.IndexFunc(results, func(r Result) bool { return r.Item.Target.Key == item.Target.Key })
		if n < 0 {
			n = len(results)
			results = append(results, Result{Item: item, Status: Vacant, Failure: item.Failure, Reason: item.Skip})
			if item.Skip != "" {
				results[n].Status = Skipped
			}
		}
		r := &results[n]
		if r.Status == Moved || r.Status == Vacant {
			r.Status, r.Reason = Stayed, "a session on the node acquired the key during the drain"
		}
		r.Here, r.Leader = true, insight.Outcome{Target: item.Target}.Old()
	}
	return results
}
