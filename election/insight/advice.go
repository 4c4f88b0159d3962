package insight

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// Advice is a risk in the configuration of an election.
type Advice struct {
	// Code identifies the kind of advice in snake_case. Codes are never renamed.
	Code string `json:"code"`
	// Urgent is set if the risk affects the election now or soon.
	Urgent bool `json:"urgent"`
	// Why describes the risk. Do says how to remove it. Each is one line.
	Why string `json:"why"`
	Do  string `json:"do"`
}

// LeaderFailed is the code of advice about a leader that has failed.
const LeaderFailed = "leader_failed"

// AdviceCodes lists every [Advice.Code].
func AdviceCodes() []string {
	return []string{
		LeaderFailed, "overwritten", "lock_flags", "flapping", "no_checks", "node_checks_only", "service_checks_only", "short_lock_delay",
		"session_leads_many", "orphaned_sessions",
	}
}

// Thresholds of the advice. They are estimates, not measurements.
const (
	// A session leads too many elections if it leads at least manyElections, and more than twice the median.
	manyElections = 6
	// shortLockDelay is the shortest lock-delay without advice.
	shortLockDelay = time.Second
	// flappingChanges is the number of changes within flappingWindow above which an election flaps.
	flappingChanges = 3
	flappingWindow  = 10 * time.Minute
	// If there are at least ManyOrphans similar sessions, they are probably abandoned. Fewer similar sessions may be
	// candidates on the same host.
	ManyOrphans = 3
)

// Advise returns the advice on one election, urgent advice first. It ignores the surroundings of another election.
func (b *Board) Advise(e *election.Election, s *election.Surroundings, now time.Time) []Advice {
	if s != nil && s.Key != e.Key() {
		s = nil
	}
	software := DetectSoftware(e, s)
	found := []*Advice{adviseFailure(b.failed.Of(e)), adviseOverwritten(e, software), b.adviseFlags(e), adviseFlapping(e, now)}
	if e.Session != nil && e.Exists && e.Pair.Held() {
		if software == nil { // Patroni and Vault use these session settings intentionally
			found = append(found, adviseChecks(e.Session), adviseLockDelay(e.Session))
		}
		found = append(found, b.adviseManyElections(e), b.adviseOrphans(e, s))
	}
	all := make([]Advice, 0, len(found))
	for _, urgent := range []bool{true, false} {
		for _, a := range found {
			if a != nil && a.Urgent == urgent {
				all = append(all, *a)
			}
		}
	}
	return all
}

// adviseFailure detects a leader that has failed. electop rescue and the dashboard offer the fix if its session has no
// TTL.
func adviseFailure(f *Failure) *Advice {
	if !f.Current() {
		return nil
	}
	why := f.Why()
	a := &Advice{
		Code: LeaderFailed, Urgent: true, Why: strings.ToLower(why[:1]) + strings.TrimSuffix(why[1:], "."),
		Do: "make sure that the leader is not running, then destroy its session (electop rescue shows the fix)",
	}
	if f.Session.TTL > 0 {
		a.Do = "wait until the session expires; if the session remains, the leader is still running and renews it"
	}
	return a
}

func adviseOverwritten(e *election.Election, software *Software) *Advice {
	if !e.Overwritten() {
		return nil
	}
	a := &Advice{
		Code: "overwritten", Urgent: true,
		Why: "a client wrote the key without the lock while it was held: the value may not be the leader's, and the term number is unknown; the next term has number 1",
		Do:  "find the client that writes the key",
	}
	if software == nil {
		a.Do += "; electop release ends the current term"
	}
	return a
}

// adviseFlags detects flags that make every waiting api.Lock candidate fail permanently.
func (b *Board) adviseFlags(e *election.Election) *Advice {
	if !e.Exists || e.Pair.Flags == election.LockFlag || e.Pair.Flags == election.SemaphoreFlag || !b.usesAPILock(e) {
		return nil
	}
	return &Advice{
		Code: "lock_flags", Urgent: true,
		Why: fmt.Sprintf("the key's flags are %d, not those of Consul's lock: every waiting api.Lock candidate fails immediately with "+
			"\"Existing key does not match lock use\", even while the key is held", e.Pair.Flags),
		Do: "find the client that sets these flags, and correct them " + correctFlags(e.Pair),
	}
}

// maxCommand is the maximum length of a command in advice. `electop list --advice` truncates at 300 runes, and a user
// must not copy a truncated command.
const maxCommand = 170

// correctFlags returns a command that corrects the flags of a key: an acquire with the holder's session if the key is
// held, otherwise a check-and-set.
func correctFlags(p election.Pair) string {
	flags := strconv.FormatUint(election.LockFlag, 10)
	how, bound, query := "", "-cas -modify-index="+strconv.FormatUint(p.ModifyIndex, 10), "?cas="+strconv.FormatUint(p.ModifyIndex, 10)
	if p.Held() {
		how = "without a step-down, while this session holds the key"
		bound, query = "-acquire -session="+p.Session, "?acquire="+sanitize.Line(p.Session, election.LabelLength)
	}
	command := "consul kv put " + bound + " -flags=" + flags
	if len(p.Value) > 0 {
		command += " -base64 " + p.Key + " " + base64.StdEncoding.EncodeToString(p.Value)
	} else {
		command += " " + p.Key
	}
	if len(command) > maxCommand || !plainKey(p.Key) || strings.Trim(p.Session, shellWord) != "" {
		command = "write the same value with " + query + "&flags=" + flags
	}
	if how == "" {
		how = "while the key is free"
	}
	return how + ": " + command
}

// plainKey reports whether a key is usable without quoting in a shell and without escaping in a URL.
func plainKey(key string) bool {
	return strings.Trim(key, shellWord+"/") == "" && !strings.HasPrefix(key, "-") && !strings.HasPrefix(key, "/") && path.Clean(key) == key
}

// usesAPILock reports whether the current leader or a former leader uses api.Lock.
func (b *Board) usesAPILock(e *election.Election) bool {
	if isAPILock(e.Session) || isAPILock(e.LastSession) {
		return true
	}
	return slices.ContainsFunc(e.Terms, func(t election.Term) bool { return isAPILock(b.sessions[t.Session]) })
}

func adviseFlapping(e *election.Election, now time.Time) *Advice {
	n := e.Changes(now, flappingWindow)
	if n <= flappingChanges {
		return nil
	}
	a := &Advice{
		Code: "flapping", Urgent: true,
		Why: fmt.Sprintf("%d new leaders within %d minutes", n, int(flappingWindow.Minutes())),
		Do:  "see the causes in the history of the election, for example a health check that is too strict or a TTL that is too short",
	}
	if cause, times := usualCause(e, now); times > 0 {
		a.Why += fmt.Sprintf(", mostly because of %s (%d)", sanitize.Line(string(cause), election.LabelLength), times)
	}
	return a
}

// usualCause returns the most frequent known cause within flappingWindow.
func usualCause(e *election.Election, now time.Time) (most election.Cause, times int) {
	counts := map[election.Cause]int{}
	for _, t := range e.Terms {
		if !t.Over() || t.Cause == "" || t.Cause == election.Unknown || now.Sub(t.End) > flappingWindow {
			continue
		}
		if counts[t.Cause]++; counts[t.Cause] > times {
			most, times = t.Cause, counts[t.Cause]
		}
	}
	return most, times
}

func adviseChecks(s *election.Session) *Advice {
	switch {
	case len(s.Checks()) == 0 && s.TTL == 0:
		return &Advice{
			Code: "no_checks", Urgent: true,
			Why: "the session has neither checks nor a TTL: if its process or node fails, the session remains until the node leaves or is removed or a client destroys it",
			Do:  "give the session a TTL and renew the session, or add a service check",
		}
	case len(s.Checks()) == 0:
		return &Advice{
			Code: "no_checks",
			Why:  fmt.Sprintf("the session has no checks: after the process or the node fails, the session ends only when its TTL expires, about %s after the last renewal", 2*s.TTL),
			Do:   "bind the session to serfHealth, so that a failure of its node ends the session sooner",
		}
	case s.TTL > 0:
		return nil // if the leader does not renew the session, the session expires
	case len(s.ServiceChecks) == 0 && !slices.ContainsFunc(s.NodeChecks, mayWatchProcess):
		return &Advice{
			Code: "node_checks_only",
			Why:  "the session depends only on the health of its node: it ends when the node fails, leaves or is removed. If only the process fails, the session remains, and no other candidate can lead",
			Do:   "give the session a TTL and renew the session, or add a service check",
		}
	case len(s.NodeChecks) == 0:
		return &Advice{
			Code: "service_checks_only",
			Why:  "the session does not depend on a node check: when its node fails, its service check keeps the last result and the session keeps the lock until the node leaves or is removed",
			Do:   "also bind the session to serfHealth",
		}
	}
	return nil
}

// mayWatchProcess reports whether a node check is not serfHealth. Such a check may monitor the leader's process.
func mayWatchProcess(check string) bool { return check != NodeCheck }

func adviseLockDelay(s *election.Session) *Advice {
	if s.Behavior == election.BehaviorDelete || s.LockDelay >= shortLockDelay {
		return nil
	}
	delay := "no lock-delay"
	if s.LockDelay > 0 {
		delay = "a lock-delay of " + s.LockDelay.String()
	}
	return &Advice{
		Code: "short_lock_delay",
		Why:  delay + ": a leader that loses its connection may still act when the next leader already leads",
		Do: "use a lock-delay longer than the time that the leader needs to detect the loss of the lock, or use the ModifyIndex of the acquisition as a fencing token " +
			"(LockIndex is not a fencing token: a write without the lock resets it)",
	}
}

// adviseManyElections detects a session that leads unusually many elections.
func (b *Board) adviseManyElections(e *election.Election) *Advice {
	n := b.led[e.Pair.Session].count
	if n < manyElections || n <= 2*b.usualLead {
		return nil
	}
	return &Advice{
		Code: "session_leads_many",
		Why:  fmt.Sprintf("one session leads %d of the watched elections: when it ends, all of them lose their leader at the same time", n),
		Do:   "use a separate session for each election, unless the shared session is intended",
	}
}

// adviseOrphans detects sessions that a program left behind when it restarted: they are similar to the leader's
// session and hold no known key.
func (b *Board) adviseOrphans(e *election.Election, s *election.Surroundings) *Advice {
	if !mayBeOrphan(e.Session) {
		return nil
	}
	same := ProgramOf(e.Session)
	n := b.orphans[same]
	if n >= ManyOrphans && s != nil {
		n -= b.busySiblings(same, s.Siblings)
	}
	if n < ManyOrphans {
		return nil
	}
	return &Advice{
		Code: "orphaned_sessions",
		Why: fmt.Sprintf("%d more sessions named %q on node %s hold no watched key and have no TTL: a program that restarts may leave its sessions behind",
			n, sanitize.Line(same.Name, 60), sanitize.Line(same.Node, 60)),
		Do: "destroy a session when its program ends, or give it a TTL",
	}
}

// busySiblings counts the sessions of a program that hold a sibling key and lead no watched election.
func (b *Board) busySiblings(same Program, siblings []election.Pair) int {
	seen := map[string]bool{}
	for _, p := range siblings {
		ses := b.sessions[p.Session]
		if ses != nil && b.led[ses.ID].count == 0 && mayBeOrphan(ses) && ProgramOf(ses) == same {
			seen[ses.ID] = true
		}
	}
	return len(seen)
}
