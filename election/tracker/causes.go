package tracker

import (
	"fmt"

	"electop/election"
	"electop/election/sanitize"
)

// Loss is what the key itself tells about a term's end.
type Loss struct {
	// Session is the session that held the key, nil when it was never read.
	Session *election.Session
	// Deleted says that the key is gone, or was created again since.
	Deleted bool
	// Replaced says that Consul's data was lost or restored from a snapshot:
	// then nothing that is found tells of the term that was observed.
	Replaced bool
	// Gap says that the end was not observed as it happened.
	Gap bool
	// HeldIndex is the Raft index at which the key was last seen held, KeyIndex
	// the one at which the term ended: 0 when the key is gone or was written
	// since.
	HeldIndex, KeyIndex uint64
}

// Explanation is a cause with the evidence it rests on.
type Explanation struct {
	Cause    election.Cause
	Evidence string
	// Guess says that the evidence leaves another cause possible; Evidence names
	// it.
	Guess bool
	// Invalidated says that the session was ended while it held the key, so
	// that a lock-delay follows.
	Invalidated bool
	// Doubtful says that the holder may as well have released the key and ended
	// its session right after, as locks do on their way out: then none follows.
	Doubtful bool
}

// Explain finds the cause of a term's end. Only Raft indexes prove one: whatever
// ends a session takes its keys at the same index. What may have changed between
// the end and the look at it makes the cause a guess.
func Explain(l Loss, ev election.Evidence) Explanation {
	x := explain(l, ev)
	if l.Gap && x.Cause != election.Unknown {
		x.Evidence += "; observation was interrupted when the term ended"
	}
	return x
}

func explain(l Loss, ev election.Evidence) Explanation {
	unknown := func(why string) Explanation { return Explanation{Cause: election.Unknown, Evidence: why} }
	s := l.Session
	switch {
	case l.Replaced, l.Deleted && ev.DeleteIndex != 0 && ev.DeleteIndex < l.HeldIndex:
		return unknown("Consul's data was lost or restored from a snapshot")
	case !ev.SessionRead:
		return unknown("the session could not be read" + because(ev.Err))
	case ev.SessionExists && l.Deleted:
		return explainDeleted(l)
	case ev.SessionExists:
		return Explanation{Cause: election.Released, Evidence: "the session still exists and no longer holds the key"}
	case s == nil:
		return unknown("the session is gone; its settings were never read")
	case ev.SessionsIndex > 0 && ev.SessionsIndex < s.CreateIndex:
		// The index of all sessions never falls by itself.
		return unknown("Consul's data is older than this session: it was lost or restored")
	case s.Behavior == election.BehaviorDelete && !l.Deleted:
		return Explanation{Cause: election.Released, Evidence: "the key still exists, which the end of its session would have deleted (behavior delete)"}
	}
	return explainGone(l, ev)
}

// explainDeleted tells of a key that is gone while its session is not.
func explainDeleted(l Loss) Explanation {
	x := Explanation{Cause: election.KeyDeleted, Evidence: "its session still exists"}
	if l.Gap {
		x.guess("it may have been released before it was deleted")
	}
	return x
}

// guess calls the cause a guess, for the first reason that is given.
func (x *Explanation) guess(why string) {
	if why != "" && !x.Guess {
		x.Guess = true
		x.Evidence += "; a guess: " + why
	}
}

// explainGone looks for what ended a session that no longer exists.
func explainGone(l Loss, ev election.Evidence) Explanation {
	at := lossOf(l, ev)
	if !ev.ChecksRead {
		return Explanation{
			Cause: election.Unknown, Invalidated: true, Doubtful: at.doubt() != "",
			Evidence: "the session is gone; its checks could not be read" + because(ev.Err),
		}
	}
	x := Explanation{Invalidated: true}
	critical, missing := at.badCheck()
	switch {
	case !ev.NodeExists:
		x.Cause, x.Evidence = election.NodeGone, fmt.Sprintf("node %s is no longer registered", l.Session.Node)
		x.guess(at.doubtOfRemoval())
	case critical != nil && (at.index == 0 || critical.ModifyIndex <= at.index):
		x.Cause, x.Evidence = election.CheckCritical, criticalEvidence(l.Session, critical)
		x.guess(at.doubtOfCritical(critical))
	case critical == nil && missing != "":
		x.Cause = election.CheckGone
		x.Evidence = fmt.Sprintf("check %s of node %s is no longer registered", missing, l.Session.Node)
		x.guess(at.doubtOfRemoval())
	default:
		x = explainDestroyed(at, critical)
	}
	if l.Deleted && l.Session.Behavior != election.BehaviorDelete {
		x.guess("the key was deleted as well, which the end of this session does not do")
	}
	x.Doubtful = at.doubt() != "" && (x.Cause != election.CheckCritical || x.Guess)
	return x
}

// explainDestroyed tells of a session that no check ended, as far as is known.
// late is a check of it that turned critical, or changed while critical, only
// after the key did: those of a program that ends do.
func explainDestroyed(at lossAt, late *election.Check) Explanation {
	s := at.loss.Session
	x := Explanation{Cause: election.SessionDestroyed, Evidence: "the session is gone; it had no TTL", Invalidated: true}
	if s.TTL > 0 {
		x.Cause = election.SessionExpiredOrDestroyed
		x.Evidence = fmt.Sprintf("the session is gone; its TTL was %s (Consul does not tell expiry from destruction)", s.TTL)
	}
	if at.doubt() == "" {
		x.Evidence += "; key and session changed at one index"
	}
	switch {
	case late != nil:
		x.Evidence += "; its check " + sanitize.Line(late.ID, election.LabelLength) + " is critical, but changed only after the key did"
	case len(s.Checks()) > 0:
		x.Evidence += "; its checks are not critical"
	}
	x.guess(at.doubt())
	if c := at.changedCheck(); c != nil {
		x.guess("its check " + sanitize.Line(c.ID, election.LabelLength) + " changed after the key did and may have been critical before")
	}
	if at.loss.Gap && len(s.Checks()) == 0 {
		x.guess("its node may have been deregistered meanwhile")
	}
	return x
}

// lossAt is a loss with the Raft index at which it happened.
type lossAt struct {
	loss  Loss
	ev    election.Evidence
	index uint64 // 0 when it is not known
}

// lossOf finds the index. A tombstone tells it for a while only: after a gap it
// may be collected, and the index that of another change.
func lossOf(l Loss, ev election.Evidence) lossAt {
	at := lossAt{loss: l, ev: ev, index: l.KeyIndex}
	if l.Deleted && !l.Gap {
		at.index = ev.DeleteIndex
	}
	return at
}

// doubt says why the end of the session need not be what took the key: only when
// no session changed after the key did, they ended together.
func (a lossAt) doubt() string {
	switch {
	case a.index == 0:
		return "it may have released the key before, as the index of the loss is not known"
	case a.ev.SessionsIndex != a.index:
		return "it may have released the key just before"
	}
	return ""
}

// doubtOfRemoval says why the removal of a check or a node need not be what ended
// the session.
func (a lossAt) doubtOfRemoval() string {
	if d := a.doubt(); d != "" {
		return d
	}
	if a.ev.ChecksIndex == 0 || a.ev.ChecksIndex > a.index {
		return "it may have been removed after the session had ended"
	}
	return ""
}

// doubtOfCritical says why a critical check need not be what ended the session. One
// that changed at the key's own index leaves no doubt.
func (a lossAt) doubtOfCritical(c *election.Check) string {
	switch {
	case a.index == 0:
		return "it may have released the key before, as the index of the loss is not known"
	case c.ModifyIndex != a.index:
		return "the check changed before the key did"
	}
	return ""
}

// changedCheck is a check of the session that changed at the loss or after it, so
// that its status before is not known; nil if there is none.
func (a lossAt) changedCheck() *election.Check {
	for _, id := range a.loss.Session.Checks() {
		for i := range a.ev.Checks {
			if c := &a.ev.Checks[i]; c.ID == id && (a.index == 0 || c.ModifyIndex >= a.index) {
				return c
			}
		}
	}
	return nil
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

// badCheck finds the critical check of the session that changed with the key, else
// the one that changed last, or a check that is no longer registered.
func (a lossAt) badCheck() (critical *election.Check, missing string) {
	for _, id := range a.loss.Session.Checks() {
		found := false
		for i := range a.ev.Checks {
			c := &a.ev.Checks[i]
			if c.ID != id {
				continue
			}
			found = true
			if c.Status == election.StatusCritical && a.likelier(c, critical) {
				critical = c
			}
		}
		if !found && missing == "" {
			missing = id
		}
	}
	return critical, missing
}

func (a lossAt) likelier(c, other *election.Check) bool {
	switch {
	case other == nil:
		return true
	case a.index != 0 && other.ModifyIndex == a.index:
		return false
	case a.index != 0 && c.ModifyIndex == a.index:
		return true
	}
	return c.ModifyIndex > other.ModifyIndex
}

func criticalEvidence(s *election.Session, c *election.Check) string {
	text := fmt.Sprintf("%s on %s", c.ID, s.Node)
	if output := sanitize.Line(c.Output, election.EvidenceLength); output != "" {
		text += ": " + output
	}
	return text
}
