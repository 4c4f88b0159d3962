package tracker

import (
	"cmp"
	"slices"
	"time"

	"electop/election"
)

func (t *Tracker) sessionListRead(o election.SessionListRead) {
	at := wall(o.At)
	if o.Err != "" {
		t.sessionList = t.outdatedList(at)
		t.sessionList.Err, t.sessionList.Denied = o.Err, o.Denied
		return
	}
	read := &election.SessionList{At: at, Sessions: o.Sessions, FirstSeen: make(map[string]election.Seen, len(o.Sessions)), Partial: o.Partial}
	var before map[string]election.Seen
	if t.sessionList != nil {
		before = t.sessionList.FirstSeen
	}
	for _, s := range o.Sessions {
		read.FirstSeen[s.ID] = cmp.Or(before[s.ID], election.Seen{At: at, Created: !o.AfterGap && t.listed > 0 && s.CreateIndex > t.listed})
	}
	t.sessionList, t.listed = read, o.Index
}

// outdatedList returns a copy of the list that is marked as outdated.
func (t *Tracker) outdatedList(at time.Time) *election.SessionList {
	t.listed = 0
	old := election.SessionList{At: at}
	if t.sessionList != nil {
		old = *t.sessionList
	}
	if old.Until.IsZero() {
		old.Until = t.currentUntil(old.At, at)
	}
	return &old
}

func (t *Tracker) sessionsRead(o election.SessionsRead) {
	if len(t.sessions) == 0 {
		t.sessions = make(map[string]*election.Session, len(o.Sessions)) // usually one observation contains all sessions
	}
	fresh, again := false, false
	for _, s := range o.Sessions {
		known := t.sessions[s.ID]
		if known != nil && known.Read.Equal(s.Read) && len(t.recorded) == 0 { // a recorded session would be in memory twice
			continue
		}
		t.sessions[s.ID], fresh, again = s, true, again || known != nil
	}
	if !fresh {
		return
	}
	complete := func(i int) {
		e := t.elections[i]
		if e.Session != nil && !again || !e.Exists || !e.Pair.Held() {
			return
		}
		if s := t.sessions[e.Pair.Session]; s == nil {
			t.noteIncomplete(e)
		} else if e.Session == nil || !e.Session.Read.Equal(s.Read) {
			t.own()[i] = withSession(e, s)
		}
	}
	keys := t.incomplete
	t.incomplete = map[string]struct{}{}
	if again || len(keys) == maxIncomplete {
		for i := range t.elections {
			complete(i)
		}
	} else {
		for key := range keys {
			if t.Find(key) != nil {
				complete(t.search(key))
			}
		}
	}
	for _, p := range t.pending {
		if p.loss.Session == nil {
			p.loss.Session = t.sessions[p.Session]
		}
	}
}

// maxIncomplete is the number of elections without the leader's session from which a scan of all elections is cheaper.
const maxIncomplete = 1000

// noteIncomplete notes that the session of an election's leader has not been read.
func (t *Tracker) noteIncomplete(e *election.Election) {
	if len(t.incomplete) < maxIncomplete {
		t.incomplete[e.Key()] = struct{}{}
	}
}

// withSession returns a copy of an election with the holder's session.
func withSession(e *election.Election, s *election.Session) *election.Election {
	n := *e
	n.Session = s
	if e.Leader == election.SessionLabel(s.ID, nil) { // the label was the session ID; any other label comes from the value
		n.Leader = election.LeaderLabel(n.Pair, s)
	}
	if last := len(n.Terms) - 1; last >= 0 && n.Terms[last].Session == s.ID {
		n.Terms = slices.Clone(n.Terms)
		n.Terms[last].Node, n.Terms[last].Leader = s.Node, n.Leader
	}
	return &n
}
