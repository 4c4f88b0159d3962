package tracker

import (
	"slices"
	"time"

	"electop/election"
)

func (t *Tracker) surroundingsRead(s election.Surroundings, at time.Time) {
	s.At = at
	old := t.surroundings
	t.surroundings = &s
	if old == nil || !sameList(old.Sessions, s.Sessions) {
		t.noteSeen(at, s.Sessions)
		t.pruneSeen()
	}
}

// sameList reports whether two lists share their memory. An observer passes the same list until it reads a new one.
func sameList(a, b []*election.Session) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (t *Tracker) sessionListRead(o election.SessionListRead) {
	at := wall(o.At)
	before := t.listed
	if t.listed = o.Index; o.Err != "" {
		t.listed = 0
		t.sessionListFailed(at, o)
		return
	}
	t.noteSeen(at, o.Sessions)
	if !o.AfterGap && before > 0 {
		t.noteCreated(o.Sessions, before)
	}
	t.sessionList = &election.SessionList{At: at, Sessions: o.Sessions, FirstSeen: t.seenOf(o.Sessions), Partial: o.Partial}
	t.pruneSeen()
}

// sessionListFailed stores the error and keeps the sessions of the previous read.
func (t *Tracker) sessionListFailed(at time.Time, o election.SessionListRead) {
	failed := election.SessionList{At: at, Until: at}
	if t.sessionList != nil {
		failed = t.sessionList.Outdated(t.listedUntil(at))
	}
	failed.Err, failed.Denied = o.Err, o.Denied
	t.sessionList = &failed
}

func (t *Tracker) sessionListUnwatched(at time.Time) {
	t.listed = 0
	if t.sessionList != nil {
		unwatched := t.sessionList.Outdated(t.listedUntil(at))
		t.sessionList = &unwatched
	}
}

func (t *Tracker) listedUntil(at time.Time) time.Time {
	return t.currentUntil(election.Part{Kind: election.PartSessions}, t.sessionList.At, at)
}

// noteSeen stores when sessions were first read.
func (t *Tracker) noteSeen(at time.Time, sessions []*election.Session) {
	for _, s := range sessions {
		if _, known := t.seen[s.ID]; !known {
			t.seen[s.ID] = election.Seen{At: at}
		}
	}
}

// noteCreated marks the sessions that were created since the previous list. The caller ensures that the list was
// watched without interruption.
func (t *Tracker) noteCreated(sessions []*election.Session, before uint64) {
	for _, s := range sessions {
		if s.CreateIndex > before {
			t.seen[s.ID] = election.Seen{At: t.seen[s.ID].At, Created: true}
		}
	}
}

// seenOf returns the time at which each of these sessions was first read.
func (t *Tracker) seenOf(sessions []*election.Session) map[string]election.Seen {
	of := make(map[string]election.Seen, len(sessions))
	for _, s := range sessions {
		of[s.ID] = t.seen[s.ID]
	}
	return of
}

// pruneSeen removes sessions that are in no list and hold no key, if there are too many.
func (t *Tracker) pruneSeen() {
	var lists [][]*election.Session
	known := len(t.sessions)
	if t.sessionList != nil {
		lists = append(lists, t.sessionList.Sessions)
	}
	if t.surroundings != nil {
		lists = append(lists, t.surroundings.Sessions)
	}
	for _, list := range lists {
		known += len(list)
	}
	if len(t.seen) <= 2*known+64 {
		return
	}
	kept := make(map[string]election.Seen, known)
	for id := range t.sessions {
		if seen, ok := t.seen[id]; ok {
			kept[id] = seen
		}
	}
	for _, list := range lists {
		for _, s := range list {
			kept[s.ID] = t.seen[s.ID]
		}
	}
	t.seen = kept
}

func (t *Tracker) sessionsRead(o election.SessionsRead) {
	if len(t.sessions) == 0 {
		t.sessions = make(map[string]*election.Session, len(o.Sessions)) // usually one observation contains all sessions
	}
	fresh, held := false, false
	for _, s := range o.Sessions {
		if t.sessions[s.ID] != nil {
			continue
		}
		t.sessions[s.ID], fresh = s, true
		if t.unread[s.ID] > 0 {
			delete(t.unread, s.ID)
			held = true
		}
	}
	// Sessions are usually read before the keys that they hold.
	if held {
		if len(t.unread) == 0 {
			t.unread = map[string]int{} // a map never releases memory, so a new map replaces the empty one
		}
		for i, e := range t.elections {
			if e.Exists && e.Session == nil && e.Pair.Held() && t.sessions[e.Pair.Session] != nil {
				t.set(i, withSession(e, t.sessions[e.Pair.Session]))
			}
		}
	}
	if !fresh {
		return
	}
	if t.surroundings != nil || t.sessionList != nil { // otherwise, no consumer needs the age of a session
		t.noteSeen(wall(o.At), o.Sessions)
		t.pruneSeen()
	}
	for _, p := range t.pending {
		if p.loss.Session == nil {
			p.loss.Session = t.sessions[p.event.Session]
		}
	}
}

// unreadLost records that a session that was never read no longer holds one of its keys.
func (t *Tracker) unreadLost(session string) {
	if t.unread[session]--; t.unread[session] <= 0 {
		delete(t.unread, session)
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
