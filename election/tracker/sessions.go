package tracker

import (
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
	for _, s := range o.Sessions {
		var known bool
		if t.sessionList != nil {
			read.FirstSeen[s.ID], known = t.sessionList.FirstSeen[s.ID]
		}
		if !known {
			read.FirstSeen[s.ID] = election.Seen{At: at, Created: !o.AfterGap && t.listed > 0 && s.CreateIndex > t.listed}
		}
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
	fresh := map[string]*election.Session{}
	for _, s := range o.Sessions {
		known := t.sessions[s.ID]
		if known != nil && known.Read.Equal(s.Read) && len(t.recorded.all) == 0 { // a recorded session would be in memory twice
			continue
		}
		t.sessions[s.ID], fresh[s.ID] = s, s
	}
	if len(fresh) == 0 {
		return
	}
	t.replace(func(e *election.Election) *election.Election {
		s := fresh[e.Pair.Session]
		if s == nil || !e.Held() || e.Session != nil && e.Session.Read.Equal(s.Read) {
			return e
		}
		return withSession(e, s)
	})
	for _, p := range t.pending {
		if p.loss.Session == nil {
			p.loss.Session = t.sessions[p.Session]
		}
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
