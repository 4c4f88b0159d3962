package tracker

import (
	"cmp"
	"fmt"
	"slices"

	"electop/election"
	"electop/election/sanitize"
)

// Loss describes the observed end of a term.
type Loss struct {
	// Session is the session that held the key, or nil if it was never read.
	Session *election.Session
	// Deleted is set if the key was deleted, even if a client created it again later.
	Deleted bool
	// Replaced is set if Consul lost data or restored a snapshot. The evidence then does not belong to the observed
	// term.
	Replaced bool
	// Gap is set if observation was interrupted when the term ended.
	Gap bool
	// HeldIndex is the Raft index at which the key was last observed as held. KeyIndex is the Raft index at which the
	// term ended, or 0 if unknown because the key was deleted or written again.
	HeldIndex, KeyIndex uint64
}

// Explanation is a cause and its evidence.
type Explanation struct {
	Cause    election.Cause
	Evidence string
	// Guess is set if another cause is possible. Evidence then names the other cause.
	Guess bool
	// Invalidated is set if the session ended while it held the key. A lock-delay then follows.
	Invalidated bool
	// Doubtful is set if it is uncertain whether a lock-delay follows: the holder may have released the key before it
	// ended its session, as lock clients do when they exit.
	Doubtful bool
	// By is the operator whose action ended the term, as user@host.
	By string
}

// Explain determines why a term ended. Only Raft indexes prove a cause: Consul releases the keys of a session at the
// index at which the session ends. A cause is a guess if the data may have changed between the end of the term and
// the read of the evidence.
func Explain(l Loss, ev election.Evidence) Explanation {
	x := explain(l, ev)
	if l.Gap && x.Cause != election.Unknown {
		x.Evidence += "; observation was interrupted when the term ended"
	}
	return x
}

func explain(l Loss, ev election.Evidence) (x Explanation) {
	s := l.Session
	switch x.Cause = election.Unknown; {
	case l.Replaced, l.Deleted && ev.DeleteIndex != 0 && ev.DeleteIndex < l.HeldIndex:
		x.Evidence = "Consul's data was lost or restored from a snapshot"
	case !ev.SessionRead:
		x.Evidence = "the session could not be read" + because(ev.Err)
	case ev.SessionExists && l.Deleted:
		if x.Cause, x.Evidence = election.KeyDeleted, "its session still exists"; l.Gap {
			x.guess("the key may have been released before it was deleted")
		}
	case ev.SessionExists:
		x.Cause, x.Evidence = election.Released, "the session still exists and no longer holds the key"
	case s == nil:
		x.Evidence = "the session is gone; its settings were never read"
	case ev.SessionsIndex > 0 && ev.SessionsIndex < s.CreateIndex:
		// The index of the sessions decreases only if Consul loses data.
		x.Evidence = "Consul's data is older than this session: it was lost or restored"
	case s.Behavior == election.BehaviorDelete && !l.Deleted:
		x.Cause, x.Evidence = election.Released, "the key still exists, but the end of its session would have deleted it (behavior delete)"
	default:
		return explainGone(l, ev)
	}
	return x
}

// guess marks the cause as a guess. It adds only the first reason to the evidence.
func (x *Explanation) guess(why string) {
	if why != "" && !x.Guess {
		x.Guess = true
		x.Evidence += "; a guess: " + why
	}
}

// explainGone determines why a session that no longer exists has ended.
func explainGone(l Loss, ev election.Evidence) Explanation {
	at := lossOf(l, ev)
	if !ev.ChecksRead {
		return Explanation{
			Cause: election.Unknown, Invalidated: true, Doubtful: at.uncertainty() != "",
			Evidence: "the session is gone; its checks could not be read" + because(ev.Err),
		}
	}
	x, critical := Explanation{Invalidated: true}, at.critical
	switch {
	case !ev.NodeExists:
		x.Cause, x.Evidence = election.NodeGone, fmt.Sprintf("node %s is no longer registered", l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	case critical != nil && (at.index == 0 || critical.ModifyIndex <= at.index):
		x.Cause, x.Evidence = election.CheckCritical, criticalEvidence(l.Session, critical)
		if at.index == 0 {
			x.guess(at.uncertainty())
		} else if critical.ModifyIndex != at.index {
			x.guess("the check changed before the key did")
		}
	case critical == nil && at.missing != "":
		x.Cause = election.CheckGone
		x.Evidence = fmt.Sprintf("check %s of node %s is no longer registered", at.missing, l.Session.Node)
		x.guess(at.uncertaintyOfRemoval())
	default:
		x = explainDestroyed(at)
	}
	if l.Deleted && l.Session.Behavior != election.BehaviorDelete {
		x.guess("the key was deleted as well, but the end of this session does not delete keys")
	}
	x.Doubtful = at.uncertainty() != "" && (x.Cause != election.CheckCritical || x.Guess)
	return x
}

// explainDestroyed explains the end of a session if no check or node explains it. A check may have become critical only after the
// key had changed, for example because the process exited.
func explainDestroyed(at lossAt) Explanation {
	s := at.Session
	x := Explanation{Cause: election.SessionDestroyed, Evidence: "the session is gone; it had no TTL", Invalidated: true}
	if s.TTL > 0 {
		x.Cause = election.SessionExpiredOrDestroyed
		x.Evidence = fmt.Sprintf("the session is gone; its TTL was %s (Consul does not distinguish expiry from destruction)", s.TTL)
	}
	if at.uncertainty() == "" {
		x.Evidence += "; the key and the session changed at the same index"
	}
	switch {
	case at.critical != nil:
		x.Evidence += "; its check " + sanitize.Line(at.critical.ID, election.LabelLength) + " is critical, but became critical only after the key had changed"
	case len(s.Checks()) > 0:
		x.Evidence += "; its checks are not critical"
	}
	x.guess(at.uncertainty())
	if c := at.changed; c != nil {
		x.guess("its check " + sanitize.Line(c.ID, election.LabelLength) + " changed after the key did and may have been critical before")
	}
	if at.Gap && len(s.Checks()) == 0 {
		x.guess("its node may have been deregistered and registered again")
	}
	return x
}

// lossAt is a loss with its evidence and Raft index.
type lossAt struct {
	Loss
	election.Evidence
	index uint64 // Raft index of the loss, or 0 if unknown
	// critical is the critical check of the session that most likely ended it: the last one that changed before the
	// loss. changed is a check that changed at the loss or later: its status at the loss is unknown. missing is a check
	// that is no longer registered.
	critical, changed *election.Check
	missing           string
}

// lossOf determines the Raft index of a loss. After a gap it does not use DeleteIndex, which may belong to another
// change if Consul has removed the tombstone of the key.
func lossOf(l Loss, ev election.Evidence) lossAt {
	at := lossAt{Loss: l, Evidence: ev, index: l.KeyIndex}
	if l.Deleted && !l.Gap {
		at.index = ev.DeleteIndex
	}
	var last uint64
	for _, id := range l.Session.Checks() {
		i := slices.IndexFunc(ev.Checks, func(c election.Check) bool { return election.SameCheck(c.ID, id) })
		if i < 0 {
			at.missing = cmp.Or(at.missing, id)
			continue
		}
		c := &ev.Checks[i]
		changed := c.ModifyIndex
		if at.index == 0 || changed >= at.index {
			at.changed = cmp.Or(at.changed, c)
		}
		if at.index != 0 && changed > at.index {
			changed = 0
		}
		if c.Status == election.StatusCritical && (at.critical == nil || changed > last) {
			at.critical, last = c, changed
		}
	}
	return at
}

// uncertainty returns the reason why the holder may have released the key before its session ended. It returns "" if
// the key and the session changed at the same index.
func (a lossAt) uncertainty() string {
	switch {
	case a.index == 0:
		return "the index of the loss is unknown, so the holder may have released the key before its session ended"
	case a.SessionsIndex != a.index:
		return "the holder may have released the key just before its session ended"
	}
	return ""
}

// uncertaintyOfRemoval returns the reason why the removal of a check or a node may not have ended the session. It
// returns "" if the removal ended the session.
func (a lossAt) uncertaintyOfRemoval() string {
	if d := a.uncertainty(); d != "" {
		return d
	}
	if a.ChecksIndex == 0 || a.ChecksIndex > a.index {
		return "this may have happened after the session had ended"
	}
	return ""
}

func because(err string) string {
	if err == "" {
		return ""
	}
	return ": " + err
}

func criticalEvidence(s *election.Session, c *election.Check) string {
	text := fmt.Sprintf("%s on %s", c.ID, s.Node)
	if output := sanitize.Line(c.Output, election.EvidenceLength); output != "" {
		text += ": " + output
	}
	return text
}
