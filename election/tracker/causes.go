package tracker

import (
	"fmt"

	"electop/election"
	"electop/election/sanitize"
)

// Loss is the key's own data about the end of a term.
type Loss struct {
	// Session is the session that held the key, nil if it was never read.
	Session *election.Session
	// Deleted is set if the key was deleted, even if it was created again since.
	Deleted bool
	// Replaced is set if Consul's data was lost or restored from a snapshot: then
	// no evidence is about the observed term.
	Replaced bool
	// Gap is set if the end was not observed when it happened.
	Gap bool
	// HeldIndex is the Raft index at which the key was last observed as held. KeyIndex is the index at which the term
	// ended, 0 if the key was deleted or written since.
	HeldIndex, KeyIndex uint64
}

// Explanation is a cause and its evidence.
type Explanation struct {
	Cause    election.Cause
	Evidence string
	// Guess is set if another cause is possible; Evidence names it.
	Guess bool
	// Invalidated is set if the session ended while it held the key, so that a lock-delay follows.
	Invalidated bool
	// Doubtful is set if the holder may have released the key and then ended its
	// session, as lock clients do when they exit: then no lock-delay follows.
	Doubtful bool
}

// Explain determines why a term ended. Only Raft indexes prove a cause: Consul releases the keys of a session at the
// index at which the session ends. A cause is a guess if the evidence may have changed since the end of the term.
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
		// The index of the sessions table never decreases unless data is lost.
		return unknown("Consul's data is older than this session: it was lost or restored")
	case s.Behavior == election.BehaviorDelete && !l.Deleted:
		return Explanation{Cause: election.Released, Evidence: "the key still exists, which the end of its session would have deleted (behavior delete)"}
	}
	return explainGone(l, ev)
}

// explainDeleted explains a key that was deleted while its session still exists.
func explainDeleted(l Loss) Explanation {
	x := Explanation{Cause: election.KeyDeleted, Evidence: "its session still exists"}
	if l.Gap {
		x.guess("it may have been released before it was deleted")
	}
	return x
}

// guess marks the cause as a guess. Only the first reason is kept.
func (x *Explanation) guess(why string) {
	if why != "" && !x.Guess {
		x.Guess = true
		x.Evidence += "; a guess: " + why
	}
}

// explainGone determines what ended a session that no longer exists.
func explainGone(l Loss, ev election.Evidence) Explanation {
	at := lossOf(l, ev)
	if !ev.ChecksRead {
		return Explanation{
			Cause: election.Unknown, Invalidated: true, Doubtful: at.uncertainty() != "",
			Evidence: "the session is gone; its checks could not be read" + because(ev.Err),
		}
	}
	x := Explanation{Invalidated: true}
	critical, missing := at.badCheck()
	switch {
	case !ev.NodeExists:
		x.Cause, x.Evidence = election.NodeGone, fmt.Sprintf("node %s is no longer registered", l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	case critical != nil && (at.index == 0 || critical.ModifyIndex <= at.index):
		x.Cause, x.Evidence = election.CheckCritical, criticalEvidence(l.Session, critical)
		x.guess(at.uncertaintyOfCritical(critical))
	case critical == nil && missing != "":
		x.Cause = election.CheckGone
		x.Evidence = fmt.Sprintf("check %s of node %s is no longer registered", missing, l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	default:
		x = explainDestroyed(at, critical)
	}
	if l.Deleted && l.Session.Behavior != election.BehaviorDelete {
		x.guess("the key was deleted as well, which the end of this session does not do")
	}
	x.Doubtful = at.uncertainty() != "" && (x.Cause != election.CheckCritical || x.Guess)
	return x
}

// explainDestroyed explains a session that no check is known to have ended. late is a check of the session that
// became critical or changed only after the key did, as when a process exits.
func explainDestroyed(at lossAt, late *election.Check) Explanation {
	s := at.loss.Session
	x := Explanation{Cause: election.SessionDestroyed, Evidence: "the session is gone; it had no TTL", Invalidated: true}
	if s.TTL > 0 {
		x.Cause = election.SessionExpiredOrDestroyed
		x.Evidence = fmt.Sprintf("the session is gone; its TTL was %s (Consul does not distinguish expiry from destruction)", s.TTL)
	}
	if at.uncertainty() == "" {
		x.Evidence += "; key and session changed at one index"
	}
	switch {
	case late != nil:
		x.Evidence += "; its check " + sanitize.Line(late.ID, election.LabelLength) + " is critical, but changed only after the key did"
	case len(s.Checks()) > 0:
		x.Evidence += "; its checks are not critical"
	}
	x.guess(at.uncertainty())
	if c := at.changedCheck(); c != nil {
		x.guess("its check " + sanitize.Line(c.ID, election.LabelLength) + " changed after the key did and may have been critical before")
	}
	if at.loss.Gap && len(s.Checks()) == 0 {
		x.guess("its node may have been deregistered meanwhile")
	}
	return x
}

// lossAt is a loss with its Raft index.
type lossAt struct {
	loss  Loss
	ev    election.Evidence
	index uint64 // 0 if unknown
}

// lossOf finds the index. After a gap, the tombstone of the key may have been
// collected, and DeleteIndex may be the index of another change.
func lossOf(l Loss, ev election.Evidence) lossAt {
	at := lossAt{loss: l, ev: ev, index: l.KeyIndex}
	if l.Deleted && !l.Gap {
		at.index = ev.DeleteIndex
	}
	return at
}

// uncertainty returns why the end of the session may not have released the key, empty if no session changed after the
// key: then both changed at one index.
func (a lossAt) uncertainty() string {
	switch {
	case a.index == 0:
		return "it may have released the key before, as the index of the loss is unknown"
	case a.ev.SessionsIndex != a.index:
		return "it may have released the key just before"
	}
	return ""
}

// uncertaintyOfRemoval returns why the removal of a check or a node may not have ended the session.
func (a lossAt) uncertaintyOfRemoval() string {
	if d := a.uncertainty(); d != "" {
		return d
	}
	if a.ev.ChecksIndex == 0 || a.ev.ChecksIndex > a.index {
		return "it may have been removed after the session had ended"
	}
	return ""
}

// uncertaintyOfCritical returns why a critical check may not have ended the session, empty for a check that changed
// at the index of the key.
func (a lossAt) uncertaintyOfCritical(c *election.Check) string {
	switch {
	case a.index == 0:
		return "it may have released the key before, as the index of the loss is unknown"
	case c.ModifyIndex != a.index:
		return "the check changed before the key did"
	}
	return ""
}

// changedCheck returns a check of the session that changed at the loss or later, so
// that its previous status is unknown; nil if there is none.
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

// badCheck returns the critical check of the session that changed at the index of the key, else the one that changed
// last, or else a check that is no longer registered.
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
