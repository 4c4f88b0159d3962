package act

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
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

// held returns the held keys with their sessions, sorted by key. A session that was not read is nil. The slots of
// semaphores are such keys.
func (f *Facts) held() []*election.Election {
	sessions, watched := election.ByID(f.Sessions), map[string]bool{} // a key keeps the spelling with which it was acquired
	var all []*election.Election
	for _, e := range f.Snapshot.Elections {
		watched[e.Key()] = true
		if e.Held() {
			found := *e
			found.Session = sessions[strings.ToLower(e.Pair.Session)]
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
		e := &election.Election{Name: name, Datacenter: f.Snapshot.Datacenter, Pair: p, Exists: true, Session: sessions[strings.ToLower(p.Session)], Term: p.LockIndex}
		e.Leader = election.LeaderLabel(p, e.Session)
		all = append(all, e)
	}
	slices.SortStableFunc(all, election.Compare)
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

// Plan contains the elections of a drain, sorted by key.
type Plan struct {
	Nodes []string
	Items []*Item
	Options
	// Incomplete is that of the facts.
	Incomplete string
	// Start begins the drain of a dashboard. It must not block. destroy is [Options.Destroy].
	Start func(destroy bool) *Running
}

// NodesText joins the names of the nodes, safe to print.
func (p Plan) NodesText() string {
	return sanitize.Line(strings.Join(p.Nodes, ", "), 200)
}

// NewPlan returns the plan for f. around contains the surroundings by key. excluded returns the reason why the user
// excludes an election, or "" if the user does not exclude it.
func NewPlan(
	f Facts, around map[string]election.Surroundings, excluded func(*election.Election) string,
) Plan {
	p := Plan{Nodes: f.Nodes, Incomplete: f.Incomplete}
	board := insight.NewBoard(f.Snapshot.Elections, nil)
	for _, e := range f.Elections() {
		surroundings := around[e.Key()]
		item := NewItem(election.ActionDrain, e, f.Nodes, board, &surroundings)
		_, item.Watched = f.Patterns.Match(e.Key())
		if text := excluded(e); text != "" {
			item.Refuse("", text)
		}
		p.Items = append(p.Items, item)
	}
	return p
}

// Check returns the outcomes with those changes that a second plan shows. The second plan was made after the drain, and
// lists the elections that sessions on the nodes still lead.
func Check(all []Outcome, second Plan) []Outcome {
	all = slices.Clone(all)
	for _, item := range second.Items {
		n := slices.IndexFunc(all, func(o Outcome) bool { return o.Target.Key == item.Target.Key })
		if n < 0 {
			n = len(all)
			all = append(all, item.Outcome)
		}
		o := &all[n]
		if o.Kind == "" || o.Kind == OutcomeMoved || o.Kind == OutcomeVacant {
			o.Kind, o.Reason = OutcomeStayed, "a session on the node acquired the key after the plan was made; drain again"
		}
		o.Here, o.New = true, item.Old()
	}
	return all
}
