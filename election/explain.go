package election

import "fmt"

// Evidence is what an observer found when it looked, right after a term ended,
// at the session that had held the key and at the checks that kept it alive.
type Evidence struct {
	// SessionRead says whether Consul answered about the session at all, and
	// SessionExists what it answered.
	SessionRead   bool
	SessionExists bool
	// SessionsIndex is the Raft index of the last change to any session
	// (X-Consul-Index of GET /v1/session/info/:id).
	SessionsIndex uint64
	// KeyIndex is the Raft index at which the key changed when the term ended,
	// 0 when it is not known (the key is gone or changed again).
	KeyIndex uint64
	// ChecksRead says whether the checks of the node could be read,
	// NodeExists whether the node is still registered.
	ChecksRead bool
	NodeExists bool
	Checks     []Check
	// ChecksIndex is the Raft index of the last change to any check, as far as
	// Consul tells with the checks of the node.
	ChecksIndex uint64
	// Err says why something could not be read.
	Err string
}

// Explanation is a cause with the evidence it rests on.
type Explanation struct {
	Cause    Cause
	Evidence string
	// Invalidated says that the session was ended while it held the key, so
	// that a lock-delay follows.
	Invalidated bool
	// Doubtful says that the holder may as well have released the key and ended
	// its session right after, as locks do on their way out: then none follows.
	Doubtful bool
}

// Explain finds the cause of a term's end. s is the session that held the key,
// nil when it was never read. deleted says that the key itself is gone.
func Explain(s *Session, deleted bool, ev Evidence) Explanation {
	switch {
	case !ev.SessionRead:
		return Explanation{Cause: Unknown, Evidence: unreadEvidence(ev)}
	case ev.SessionExists && deleted:
		return Explanation{Cause: KeyDeleted, Evidence: "its session still exists"}
	case ev.SessionExists:
		return Explanation{Cause: Released, Evidence: "the session still exists and no longer holds the key"}
	case s == nil:
		return Explanation{Cause: Unknown, Evidence: "the session is gone; its settings were never read"}
	case ev.SessionsIndex > 0 && ev.SessionsIndex < s.CreateIndex:
		// The index of all sessions never falls by itself.
		return Explanation{Cause: Unknown, Evidence: "Consul's data is older than this session: it was lost or restored"}
	}
	e := explainGone(s, ev)
	// A check that turned critical at the key's own index leaves no doubt.
	e.Doubtful = ev.doubt() != "" && e.Cause != CheckCritical
	if deleted && s.Behavior != BehaviorDelete && e.Cause != Unknown {
		e.Evidence += "; a guess: the key was deleted as well, which the end of this session does not do"
	}
	return e
}

func unreadEvidence(ev Evidence) string {
	if ev.Err != "" {
		return "the session could not be read: " + ev.Err
	}
	return "the session could not be read"
}

// explainGone looks for what ended a session that no longer exists.
func explainGone(s *Session, ev Evidence) Explanation {
	e := Explanation{Invalidated: true}
	var missing string
	if ev.ChecksRead {
		if !ev.NodeExists {
			e.Cause, e.Evidence = NodeGone, fmt.Sprintf("node %s is no longer registered", s.Node)+ev.doubtOfChecks()
			return e
		}
		var critical *Check
		if critical, missing = badCheck(s, ev.Checks); critical != nil {
			if ev.KeyIndex != 0 && critical.ModifyIndex > ev.KeyIndex {
				return explainDestroyed(s, ev, critical)
			}
			e.Cause, e.Evidence = CheckCritical, criticalEvidence(s, critical)
			return e
		}
		if missing != "" {
			e.Cause = CheckGone
			e.Evidence = fmt.Sprintf("check %s of node %s is no longer registered", missing, s.Node) + ev.doubtOfChecks()
			return e
		}
	}
	if !ev.ChecksRead {
		return Explanation{
			Cause: Unknown, Invalidated: true,
			Evidence: "the session is gone; its checks could not be read" + suffix(ev.Err),
		}
	}
	return explainDestroyed(s, ev, nil)
}

// explainDestroyed tells of a session that no check ended. late is a check of it
// that turned critical only afterwards, as those of a program that ends do.
func explainDestroyed(s *Session, ev Evidence, late *Check) Explanation {
	e := Explanation{Cause: SessionDestroyed, Invalidated: true}
	what := "the session is gone; it had no TTL"
	if s.TTL > 0 {
		e.Cause = SessionExpiredOrDestroyed
		what = fmt.Sprintf("the session is gone; its TTL was %s (Consul does not tell expiry from destruction)", s.TTL)
	}
	e.Evidence = what + ev.doubt()
	if ev.KeyIndex != 0 && ev.SessionsIndex == ev.KeyIndex {
		e.Evidence += "; key and session changed at one index"
	}
	switch {
	case late != nil:
		e.Evidence += "; its check " + Line(late.ID, labelLength) + " is critical, but changed only after the key did"
	case len(s.Checks()) > 0:
		e.Evidence += "; its checks are not critical"
	}
	return e
}

// doubt calls a guess a guess: whatever ends a session takes its keys at the
// same index. Where some session changed later than the key, the holder may
// have released the key and ended its session right after.
func (ev Evidence) doubt() string {
	if ev.KeyIndex != 0 && ev.SessionsIndex > ev.KeyIndex {
		return "; a guess: it may have released the key just before"
	}
	return ""
}

// doubtOfChecks is doubt, and calls it a guess as well when checks changed after
// the key did: what is missing may have been removed after the session ended.
func (ev Evidence) doubtOfChecks() string {
	if d := ev.doubt(); d != "" {
		return d
	}
	if ev.KeyIndex != 0 && ev.ChecksIndex > ev.KeyIndex {
		return "; a guess: it may have been removed after the session had ended"
	}
	return ""
}

func suffix(err string) string {
	if err == "" {
		return ""
	}
	return " (" + err + ")"
}

// badCheck finds the critical check of the session that changed last, or a check
// that is no longer registered.
func badCheck(s *Session, checks []Check) (critical *Check, missing string) {
	for _, id := range s.Checks() {
		found := false
		for i := range checks {
			c := &checks[i]
			if c.ID != id {
				continue
			}
			found = true
			if c.Status == StatusCritical && (critical == nil || c.ModifyIndex > critical.ModifyIndex) {
				critical = c
			}
		}
		if !found && missing == "" {
			missing = id
		}
	}
	return critical, missing
}

// evidenceLength is how much of a check's output an explanation quotes, in runes.
const evidenceLength = 200

func criticalEvidence(s *Session, c *Check) string {
	text := fmt.Sprintf("%s on %s", c.ID, s.Node)
	if output := Line(c.Output, evidenceLength); output != "" {
		text += ": " + output
	}
	return text
}
