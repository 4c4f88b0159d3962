package election

import "time"

// Seen tells when a session was first reported. It may be older, unless its
// creation was observed: Consul does not record when it created a session.
type Seen struct {
	At      time.Time
	Created bool
}

func (t *Tracker) surroundingsRead(s Surroundings, at time.Time) {
	s.At = at
	old := t.surroundings
	t.surroundings = &s
	if old == nil || !sameList(old.Sessions, s.Sessions) {
		t.noteSeen(at, s.Sessions)
		t.pruneSeen()
	}
}

// sameList reports lists in the same memory. An observer hands over its latest list
// again while it reads no other.
func sameList(a, b []*Session) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (t *Tracker) sessionListRead(o SessionListRead) {
	at := wall(o.At)
	before := t.listed
	if t.listed = o.Index; o.Err != "" {
		t.listed = 0
		t.sessionListFailed(at, o.Err)
		return
	}
	t.noteSeen(at, o.Sessions)
	if !o.AfterGap && before > 0 {
		t.noteCreated(o.Sessions, before)
	}
	t.sessionList = &SessionList{At: at, Sessions: o.Sessions, FirstSeen: t.seenOf(o.Sessions)}
	t.pruneSeen()
}

// sessionListFailed keeps the sessions that were read before.
func (t *Tracker) sessionListFailed(at time.Time, err string) {
	failed := SessionList{At: at, Until: at}
	if t.sessionList != nil {
		failed = t.sessionList.outdated(at)
	}
	failed.Err = err
	t.sessionList = &failed
}

func (t *Tracker) sessionListUnwatched(at time.Time) {
	t.listed = 0
	if t.sessionList != nil {
		unwatched := t.sessionList.outdated(at)
		t.sessionList = &unwatched
	}
}

// outdated is the list when it is no longer current after at.
func (l *SessionList) outdated(at time.Time) SessionList {
	old := *l
	if old.Until.IsZero() {
		old.Until = at
	}
	return old
}

// noteSeen remembers when sessions were first reported.
func (t *Tracker) noteSeen(at time.Time, sessions []*Session) {
	for _, s := range sessions {
		if _, known := t.seen[s.ID]; !known {
			t.seen[s.ID] = Seen{At: at}
		}
	}
}

// noteCreated finds the sessions that did not exist at the index of the list before,
// which was watched until now.
func (t *Tracker) noteCreated(sessions []*Session, before uint64) {
	for _, s := range sessions {
		if s.CreateIndex > before {
			t.seen[s.ID] = Seen{At: t.seen[s.ID].At, Created: true}
		}
	}
}

// seenOf tells when each of these sessions was first reported.
func (t *Tracker) seenOf(sessions []*Session) map[string]Seen {
	of := make(map[string]Seen, len(sessions))
	for _, s := range sessions {
		of[s.ID] = t.seen[s.ID]
	}
	return of
}

// pruneSeen forgets sessions that are in no list and hold nothing.
func (t *Tracker) pruneSeen() {
	var lists [][]*Session
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
	kept := make(map[string]Seen, known)
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
