package act_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/act"
)

func session(id, name, node string) *election.Session {
	return &election.Session{ID: id, Name: name, Node: node, Behavior: election.BehaviorRelease}
}

func pair(key, session string) election.Pair {
	return election.Pair{Key: key, Session: session, CreateIndex: 1, ModifyIndex: 2, LockIndex: 1}
}

func ledBy(p election.Pair, s *election.Session) *election.Election {
	return &election.Election{Name: strings.Split(p.Key, "/")[1], Exists: true, Pair: p, Session: s, Term: 1}
}

func facts() act.Facts {
	web, web2, mail, db := session("w1", "web", "node-2"), session("w2", "web", "node-3"), session("m1", "mail", "node-2"), session("d1", "db-pg1", "node-2")
	db.Behavior, db.TTL, db.LockDelay = election.BehaviorDelete, 20e9, 1e6
	leader := pair("service/db/leader", "d1")
	leader.Value = []byte("pg1")
	slot := pair("gpu/m1", "m1")
	slot.Flags = election.SemaphoreFlag
	ps, err := election.ParsePatterns([]string{"service/*/leader"})
	if err != nil {
		panic(err)
	}
	return act.Facts{
		Nodes: []string{"node-2"}, Patterns: ps,
		Snapshot: &election.Snapshot{Elections: []*election.Election{
			ledBy(leader, db), ledBy(pair("service/elsewhere/leader", "w2"), web2), ledBy(pair("service/free/leader", ""), nil),
			ledBy(pair("service/web/leader", "w1"), nil),
		}},
		Sessions: []*election.Session{web, web2, mail, db},
		Held:     []election.Pair{slot, pair("lock/backup", "M1"), pair("service/web/leader", "W1"), pair("other/key", "w2"), pair("service/late/leader", "m1")},
	}
}

func plan(f act.Facts) act.Plan {
	around := map[string]election.Surroundings{}
	for _, e := range f.Elections() {
		around[e.Key()] = election.Surroundings{Key: e.Key(), Sessions: f.Sessions}
	}
	return act.NewPlan(f, around, func(*election.Election) string { return "" })
}

func TestPlanHasEverythingThatTheNodeHolds(t *testing.T) {
	p := plan(facts())
	var got []string
	for _, i := range p.Items {
		line := i.Target.Election + " " + i.Target.Node
		if i.Kind != "" {
			line += " skipped " + string(i.Failure)
		}
		if !i.Watched {
			line += " not watched"
		}
		got = append(got, line)
	}
	want := []string{
		"gpu/m1 node-2 skipped  not watched", "lock/backup node-2 not watched", "db node-2 skipped refused", "late node-2", "web node-2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := len(act.Pending(p.Items)); n != 3 {
		t.Errorf("%d planned", n)
	}
}

func TestPlanNamesCandidatesOnOtherNodesOnly(t *testing.T) {
	f := facts()
	f.Sessions = append(f.Sessions, session("w3", "web", "node-2"), session("w4", "web", "node-3"))
	for _, i := range act.Pending(plan(f).Items) {
		switch i.Target.Election {
		case "web":
			if len(i.Next) != 1 || i.Next[0].Session.ID != "w4" || i.Rivals != 1 {
				t.Errorf("%+v, %d rivals", i.Next, i.Rivals)
			}
		case "lock/backup":
			if len(i.Next) != 0 || i.Likely != 0 || !slices.Contains(i.Effect.Warnings, "No other candidate was seen: the election may stay without a leader.") {
				t.Errorf("%+v", i)
			}
		}
	}
}

func TestUnreadFindsHoldersOnUnknownNodes(t *testing.T) {
	f := facts()
	f.Sessions = f.Sessions[1:]
	f.Held = append(f.Held, pair("lock/other", "ended"))
	elections, keys := f.Unread()
	if !slices.Equal(elections, []string{"web"}) || !slices.Equal(keys, []string{"lock/other"}) {
		t.Errorf("%q %q", elections, keys)
	}
}

func TestASecondPlanCorrectsTheResults(t *testing.T) {
	f := facts()
	first := plan(f)
	var results []act.Outcome
	for _, i := range first.Items {
		o := i.Outcome
		o.Kind = cmp.Or(o.Kind, act.OutcomeVacant)
		results = append(results, o)
	}
	f.Nodes = []string{"NODE-2"}
	f.Held = []election.Pair{pair("lock/late", "m1")}
	var got []string
	for _, r := range act.Check(results, plan(f)) {
		got = append(got, fmt.Sprintf("%s %s %v %s", r.Target.Key, r.Kind, r.Here, r.New.Session))
	}
	want := []string{
		"gpu/m1 skipped false ", "lock/backup vacant false ", "service/db/leader skipped true d1", "service/late/leader vacant false ",
		"service/web/leader stayed true w1",
		"lock/late stayed true m1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
