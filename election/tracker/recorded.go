package tracker

import (
	"cmp"
	"slices"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// waiting is the state of a tracker that waits for the history. Its snapshots show only what was observed.
type waiting struct {
	until    time.Time // zero before the first observation
	recalled *Tracker  // receives the history, and then the observations
	observed []election.Observation
}

// Waits reports whether the tracker withholds its events because it waits for the history.
func (t *Tracker) Waits() bool { return t.waiting != nil }

// observeWaiting withholds the events of an observation. Once the history was read or the wait has ended, it repeats all
// observations in another tracker, after the history: the result does not depend on the duration of the read.
func (t *Tracker) observeWaiting(o election.Observation) (events []election.Event) {
	w := t.waiting
	past, read := o.(election.HistoryRead)
	at := wall(past.At)
	if read { // this tracker has lent its sessions to snapshots
		w.observed = slices.Concat([]election.Observation{o}, past.Replayed, w.observed)
	} else {
		at, w.observed = t.apply(o), append(w.observed, o)
		if w.until.IsZero() {
			w.until = at.Add(t.Recall)
		}
		if at.Before(w.until) {
			t.finish(at)
			return nil
		}
	}
	*t = *w.recalled
	for _, o := range w.observed {
		events = append(events, t.finish(t.apply(o))...)
	}
	for _, p := range t.ends { // the search for the evidence begins now
		p.deadline = p.deadline.Add(at.Sub(p.Time))
	}
	t.out = nil
	t.explainOverdue(at)
	return append(events, t.finish(at)...)
}

func (t *Tracker) historyRead(o election.HistoryRead) {
	if t.Loaded() {
		return
	}
	t.recorded, t.parts = nil, o.Parts
	for _, e := range o.Elections {
		if name, ok := t.Patterns.Match(e.Key()); ok && e.Recorded() {
			e.Name = name
			t.recall(e)
			t.recorded = append(t.recorded, e)
		}
	}
	t.addRecorded()
}

// addRecorded adds the recorded elections of the current datacenter whose keys have not been read. It removes the
// recorded elections of any other datacenter.
func (t *Tracker) addRecorded() {
	if len(t.recorded) == 0 {
		return
	}
	all := election.Without(t.elections, (*election.Election).Recorded)
	datacenter := t.datacenter
	if datacenter == "" { // its name has not been read yet: that which was observed last
		datacenter = slices.MaxFunc(t.recorded, func(a, b *election.Election) int { return a.RecordedUntil.Compare(b.RecordedUntil) }).Datacenter
	}
	for _, e := range t.recorded {
		if e.Datacenter == datacenter && !t.covered.Contains(e.Key()) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, election.Compare)
	t.elections = all
}

// recall sanitizes a recorded election, because its strings come from a file or from another host. A copy would need
// memory.
func (t *Tracker) recall(e *election.Election) {
	e.Store = t.Store
	e.Leader = election.Label(e.Leader)
	e.RecordedUntil = wall(e.RecordedUntil)
	e.Terms = tail(e.Terms, t.keep())
	for i := range e.Terms {
		term := &e.Terms[i]
		term.Leader, term.Node = election.Label(term.Leader), sanitize.Text(term.Node)
		term.Cause = election.Cause(election.Label(string(term.Cause)))
		term.Evidence = sanitize.Text(term.Evidence)
	}
	for i := range e.Events {
		e.Events[i].Evidence = sanitize.Text(e.Events[i].Evidence)
	}
	for _, s := range []*election.Session{e.Session, e.LastSession} {
		if s != nil {
			s.Name, s.Node = sanitize.Text(s.Name), sanitize.Text(s.Node)
		}
	}
	if s := e.Session; s != nil && t.sessions[s.ID] == nil { // its settings explain the loss if the session no longer exists
		t.sessions[s.ID] = s
	}
	if e.Session = nil; e.Exists {
		e.Session = t.sessions[e.Pair.Session]
		e.Leader = cmp.Or(e.Leader, election.SessionLabel(e.Pair.Session, e.Session)) // each led election has a label
	}
}

// foldRecorded updates a recorded election after the first read of its key. A history contains no values or flags, so
// foldRecorded treats them as unchanged.
func (t *Tracker) foldRecorded(e *election.Election, p *election.Pair, r *rangeRead) *election.Election {
	known := *e
	known.Session = t.sessions[e.Pair.Session]
	if !known.Pair.OfSemaphore() {
		known.Pair.Value, known.Pair.Flags = p.Value, p.Flags
	}
	emitted := len(t.out)
	read := t.foldChanged(&known, p, r)
	read.RecordedUntil = time.Time{}
	if len(t.out) == emitted { // nothing changed: report the state as initial
		c := change{t: t, rangeRead: r, Election: read}
		c.initial(p)
	}
	return read
}

// foldRecordedAbsent processes a recorded election whose key is not in the first read. It returns nil if the tracker
// does not keep the election.
func (t *Tracker) foldRecordedAbsent(e *election.Election, r *rangeRead) *election.Election {
	if r.Filtered { // the token may not be allowed to read the key
		return nil
	}
	read := *e
	if e.Exists {
		read = *t.foldDeleted(e, r)
		if r.At.Sub(e.RecordedUntil) > election.KeepDeleted {
			return nil
		}
	}
	read.RecordedUntil = time.Time{}
	return &read
}

// createdUnobserved reports whether a key was created after the end of the recorded observation, and returns this end.
// The CreateIndex of the key is then higher than all recorded indexes.
func (t *Tracker) createdUnobserved(p *election.Pair) (until time.Time, created bool) {
	for _, r := range t.parts {
		if r.Patterns.Selects(p.Key) && r.Datacenter == t.datacenter && r.Newest > 0 && p.CreateIndex > r.Newest {
			return wall(r.Until), true
		}
	}
	return time.Time{}, false
}
