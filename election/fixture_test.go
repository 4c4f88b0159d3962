package election

import "time"

// led returns an election whose leader holds the key with session s.
func led(name, key string, s *Session) *Election {
	return &Election{
		Name: name, Exists: true, Session: s, Leader: name + "-1", Term: 1, Since: t0,
		Pair: Pair{Key: key, Value: []byte(name + "-1"), Session: s.ID, LockIndex: 1, CreateIndex: 1, ModifyIndex: 2},
	}
}

// newSession returns a session. Its settings, except the name and node, are those of Consul's leader election
// tutorial.
func newSession(id, name, node string, change ...func(*Session)) *Session {
	s := &Session{ID: id, Name: name, Node: node, Behavior: BehaviorRelease, LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"}}
	for _, c := range change {
		c(s)
	}
	return s
}

// around returns the surroundings of an election.
func around(e *Election, siblings []Pair, sessions ...*Session) *Surroundings {
	return &Surroundings{At: t0, Key: e.Key(), Siblings: siblings, Sessions: sessions}
}

func sibling(key, session string) Pair { return Pair{Key: key, Session: session, LockIndex: 1} }

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
