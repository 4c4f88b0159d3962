// Package insight infers facts that Consul does not record from the data in package election: why an election has no
// leader, which sessions are likely candidates, which software holds the key, which risks its configuration has, and
// what an action causes. The package is pure: it does no I/O, and receives the time as a parameter. Inferences may be
// wrong; the texts mark uncertain statements, for example with "likely" or "probably".
package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// Finding is a risk of an election, or the reason why it has no effective leader. All texts are single lines that are
// safe to print.
type Finding struct {
	// Code identifies the kind of finding in snake_case. Codes are never renamed.
	Code string `json:"code"`
	// Urgent is set if the risk affects the election now or soon.
	Urgent bool `json:"urgent"`
	// Why describes the finding. Do says how to remove a risk.
	Why string `json:"why"`
	Do  string `json:"do"`
	// Fix says how the election gets a leader again. It is empty for advice.
	Fix string `json:"-"`
	// Command is the command of Consul that corrects the key's flags, or empty.
	Command string `json:"-"`
	// Until is the estimated end of the lock-delay, or the latest possible end if AtMost is set.
	Until  time.Time `json:"-"`
	AtMost bool      `json:"-"`
}

// The codes of findings that other packages treat specially. The others are in the table of findings.
const (
	LeaderFailed       = "leader_failed"       // the leader's node has failed, but its session remains
	LockFlags          = "lock_flags"          // candidates that use api.Lock reject the key's flags
	LockDelay          = "lock_delay"          // Consul rejects every acquire
	PatroniReleased    = "patroni_released"    // the key of Patroni's leader has a value and no session
	NoCandidates       = "no_candidate"        // no candidate is known
	QueueBlocked       = "queue_blocked"       // the first key of the queue is not a candidate's
	AwaitingCandidates = "awaiting_candidates" // the candidates may not have tried to acquire the key yet
	UnknownProblem     = "unknown"             // electop cannot read the key, or the evidence that its leader has failed

	noChecks, nodeChecksOnly, serviceChecksOnly = "no_checks", "node_checks_only", "service_checks_only" // of the leader's session
)

// use says what a finding is for, and to which elections it applies.
type use uint

const (
	risk      use = 1 << iota // advice contains it
	fixable                   // it may be the reason why the election has no effective leader
	ofHeld                    // only if the key is held and the session was read
	ofVacant                  // only if the key is not held
	ofUnknown                 // not for Patroni and Vault, which use these session settings intentionally, and not for leases
)

type row struct {
	code string // empty for a find that returns several codes
	use  use
	// find returns a finding, without its code or with the code of the row to which it belongs. Its Why is empty if there
	// is nothing to report.
	find func(d *diagnosis) Finding
}

// table lists all findings. The first one that applies is the problem that [Board.Fix] returns.
func table() []row {
	return []row{
		{LeaderFailed, risk | fixable | ofHeld, leaderFailed},
		{"check_critical", fixable | ofHeld, checkCritical},
		{UnknownProblem, fixable, unread},
		{"overwritten", risk, overwritten},
		{PatroniReleased, fixable | ofVacant, patroniReleased},
		{LockFlags, risk | fixable, lockFlags},
		{"flapping", risk, flapping},
		{noChecks, risk | ofHeld | ofUnknown, boundTo},
		{nodeChecksOnly, risk | ofHeld | ofUnknown, boundTo},
		{serviceChecksOnly, risk | ofHeld | ofUnknown, boundTo},
		{"short_lock_delay", risk | ofHeld | ofUnknown, shortLockDelay},
		{"session_leads_many", risk | ofHeld, leadsMany},
		{"orphaned_sessions", risk | ofHeld, orphanedSessions},
		{"", fixable | ofVacant, vacancy},
	}
}

// AdviceCodes lists the codes of all advice.
func AdviceCodes() (codes []string) {
	for _, r := range table() {
		if r.use&risk != 0 {
			codes = append(codes, r.code)
		}
	}
	return codes
}

// Facts are the facts about an election that the election does not contain.
type Facts struct {
	Now    time.Time
	Around *election.Surroundings // nil if electop has not read the surroundings
	// Connection is the connection to the election's datacenter, for [WhyVacant].
	Connection election.Connection
	// Delay is the result of a probe of the key.
	Delay LockState
	// DelayErr is the reason why the probe for a lock-delay failed, or empty if the probe succeeded.
	DelayErr string
	// Unread is the reason why electop could not read all evidence that a leader has failed, safe to print. It is
	// empty if electop read all evidence.
	Unread string
}

// LockState is the result of a probe for a lock-delay, which Consul's API does not report.
type LockState string

// The results of a probe. The zero value stands for a key that was not probed.
const (
	LockHeld    LockState = "held"    // a session holds the key
	LockDelayed LockState = "delayed" // no session can acquire the key until the lock-delay ends
	LockFree    LockState = "free"    // any session can acquire the key
)

// diagnosis is an election with everything that is known about it.
type diagnosis struct {
	*Board
	Facts
	*election.Election
	candidates []Candidate
	likely     int  // the number of likely candidates, or -1 if unknown
	advice     bool // the candidates are unknown
}

func (d *diagnosis) findings(want use) (found []Finding) {
	held, software := d.Held(), DetectSoftware(d.Election, d.Around)
	for _, r := range table() {
		if r.use&want == 0 || r.use&ofHeld != 0 && (!held || d.Session == nil) || r.use&ofVacant != 0 && held || r.use&ofUnknown != 0 && (software != nil || d.Store.Leases) {
			continue
		}
		if f := r.find(d); f.Why != "" && (f.Code == "" || r.code == "" || f.Code == r.code) {
			f.Code = cmp.Or(f.Code, r.code)
			found = append(found, f)
		}
	}
	return found
}

// Advise returns the advice on one election, urgent advice first. It ignores the surroundings of another election.
func (b *Board) Advise(e *election.Election, s *election.Surroundings, now time.Time) []Finding {
	if s != nil && s.Key != e.Key() {
		s = nil
	}
	var urgent, calm []Finding
	for _, f := range (&diagnosis{Board: b, Election: e, Facts: Facts{Now: now, Around: s}, advice: true}).findings(risk) {
		if f.Fix, f.Why = "", strings.ToLower(f.Why[:1])+strings.TrimSuffix(f.Why[1:], "."); f.Urgent {
			urgent = append(urgent, f)
		} else {
			calm = append(calm, f)
		}
	}
	return append(urgent, calm...)
}

func overwritten(d *diagnosis) Finding {
	if !d.Overwritten() {
		return Finding{}
	}
	f := Finding{
		Urgent: true, Do: "find the client that writes the key",
		Why: "a client wrote the key without the lock while it was held: the value may not be the leader's, and the term number is unknown; the next term has number 1",
	}
	switch {
	case DetectSoftware(d.Election, d.Around) != nil, lockFlags(d).Why != "":
	case lacksLockFlags(d.Election):
		var text string
		text, f.Command = correctFlags(d.Pair)
		f.Do += "; if the candidates use api.Lock, correct the flags " + text
	case replacedLockFlags(d.Election) > 0:
		f.Do += "; before electop release, which ends the current term, start again the candidates that have failed"
	default:
		f.Do += "; electop release ends the current term"
	}
	return f
}

// Thresholds of the advice. They are estimates, not measurements.
const (
	// A session leads too many elections if it leads at least manyElections, and more than twice the mean.
	manyElections = 6
	// flappingChanges is the number of changes within flappingWindow above which an election flaps.
	flappingChanges = 3
	flappingWindow  = 10 * time.Minute
	// If there are at least ManyOrphans similar sessions, they are probably abandoned. Fewer similar sessions may be
	// candidates on the same host.
	ManyOrphans = 3
)

func flapping(d *diagnosis) Finding {
	n := d.Changes(d.Now, flappingWindow)
	if n <= flappingChanges {
		return Finding{}
	}
	return Finding{
		Urgent: true, Why: fmt.Sprintf("%d new leaders within %d minutes", n, int(flappingWindow.Minutes())),
		Do: "see the causes in the history of the election, for example a health check that is too strict or a TTL that is too short",
	}
}

func shortLockDelay(d *diagnosis) Finding {
	s, delay := d.Session, "no lock-delay"
	switch {
	case s.Behavior == election.BehaviorDelete, s.LockDelay >= time.Second:
		return Finding{}
	case s.LockDelay > 0:
		delay = "a lock-delay of " + s.LockDelay.String()
	}
	return Finding{
		Why: delay + ": a leader that loses its connection may still act when the next leader already leads",
		Do: "use a lock-delay longer than the time that the leader needs to detect the loss of the lock, or use the ModifyIndex of the acquisition as a fencing token " +
			"(LockIndex is not a fencing token: a write without the lock resets it)",
	}
}

// leadsMany detects a session that leads unusually many elections.
func leadsMany(d *diagnosis) Finding {
	n := d.led[strings.ToLower(d.Pair.Session)].count
	if n < manyElections || n <= 2*d.usualLead {
		return Finding{}
	}
	return Finding{
		Why: fmt.Sprintf("one session leads %d of the watched elections: when it ends, all of them lose their leader at the same time", n),
		Do:  "use a separate session for each election, unless the shared session is intended",
	}
}

// orphanedSessions detects sessions that a program left behind when it restarted: they are similar to the leader's
// session and hold no known key.
func orphanedSessions(d *diagnosis) Finding {
	if !mayBeOrphan(d.Session) {
		return Finding{}
	}
	same := ProgramOf(d.Session)
	n := d.orphans[same]
	if n < ManyOrphans {
		return Finding{}
	}
	return Finding{
		Why: fmt.Sprintf("%d more sessions named %q on node %s hold no watched key and have no TTL: a program that restarts may leave its sessions behind",
			n, sanitize.Line(same.Name, 60), sanitize.Line(same.Node, 60)),
		Do: "destroy a session when its program ends, or give it a TTL",
	}
}

// boundTo judges the checks and the TTL of the leader's session.
func boundTo(d *diagnosis) Finding {
	s := d.Session
	switch ttl := s.TTL > 0; {
	case len(s.Checks()) == 0 && ttl:
		return Finding{
			Code: noChecks,
			Why:  fmt.Sprintf("the session has no checks: after the process or the node fails, the session ends only when its TTL expires, about %s after the last renewal", 2*s.TTL),
			Do:   "bind the session to serfHealth, so that a failure of its node ends the session sooner",
		}
	case len(s.Checks()) == 0:
		return Finding{
			Code: noChecks, Urgent: true,
			Why: "the session has neither checks nor a TTL: if its process or node fails, the session remains until the node leaves or is removed or a client destroys it",
			Do:  renew,
		}
	case ttl:
	case len(s.NodeChecks) == 0:
		return Finding{
			Code: serviceChecksOnly,
			Why:  "the session does not depend on a node check: when its node fails, its service check keeps the last result and the session keeps the lock until the node leaves or is removed",
			Do:   "also bind the session to serfHealth",
		}
	case len(s.ServiceChecks) == 0 && !slices.ContainsFunc(s.NodeChecks, func(check string) bool { return check != NodeCheck }):
		return Finding{
			Code: nodeChecksOnly,
			Why:  "the session depends only on the health of its node: it ends when the node fails, leaves or is removed. If only the process fails, the session remains, and no other candidate can lead",
			Do:   renew,
		}
	}
	return Finding{}
}

const renew = "give the session a TTL and renew the session, or add a service check"

// Program identifies the sessions that one program on one node creates.
type Program struct{ Name, Datacenter, Node, checks string }

// mayBeOrphan reports whether a session has no TTL and a name that identifies a program.
func mayBeOrphan(s *election.Session) bool { return s.TTL == 0 && s.Name != "" && !genericName(s.Name) }

// ProgramOf returns the program that created a session.
func ProgramOf(s *election.Session) Program {
	return Program{Name: s.Name, Datacenter: s.Datacenter, Node: s.Node, checks: strings.Join(s.Checks(), "\x00")}
}
