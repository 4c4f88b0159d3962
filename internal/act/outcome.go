package act

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// OutcomeKind is the result of an operator's action on one election.
type OutcomeKind string

// The kinds of outcomes. Only [OutcomeDone] and [OutcomeUnknown] may still change; see [Outcome.Follow]. In a drain, any
// kind except [OutcomeSkipped] may change while the drain runs, but a final one only with the leader. "The same leader"
// means the same session, or another session on the same node with the same value or after an overwritten term.
const (
	OutcomeDone     OutcomeKind = "done"        // carried out; no later term was observed
	OutcomeMoved    OutcomeKind = "moved"       // carried out; another leader leads
	OutcomeReturned OutcomeKind = "same_leader" // carried out; the same leader leads again
	OutcomeVacant   OutcomeKind = "vacant"      // carried out; no leader until the time limit
	OutcomeChanged  OutcomeKind = "changed"     // the lock state changed before the action; nothing was written
	OutcomeNoLeader OutcomeKind = "no_leader"   // there was no leader; nothing was written
	OutcomeRefused  OutcomeKind = "refused"     // electop refuses the action on this key; nothing was written
	OutcomeDenied   OutcomeKind = "denied"      // Consul's ACLs denied the action; nothing was written
	OutcomeFailed   OutcomeKind = "failed"      // failed for another reason; nothing was written
	OutcomeUnknown  OutcomeKind = "unknown"     // Consul did not confirm the write: it may have been applied
	OutcomeSkipped  OutcomeKind = "skipped"     // not part of the drain; nothing was written
	OutcomeWaiting  OutcomeKind = "waiting"     // the drain has not acted on the election yet
	OutcomeMoving   OutcomeKind = "moving"      // the drain acts on the election
	OutcomeStayed   OutcomeKind = "stayed"      // a session on a drained node leads after the last round
)

// Applied reports whether Consul confirmed the write.
func (k OutcomeKind) Applied() bool {
	return k == OutcomeDone || k == OutcomeMoved || k == OutcomeReturned || k == OutcomeVacant
}

// Tally counts the kinds of outcomes: "2 moved, 1 failed".
func Tally(all []Outcome) string {
	counts := map[string]int{}
	for _, o := range all {
		counts[string(o.Kind)]++
	}
	var parts []string
	for result := range strings.FieldsSeq(
		"moved done destroyed same_leader stayed vacant unknown refused denied changed no_leader failed interrupted moving waiting skipped",
	) {
		if n := counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(result, "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

// Outcome is the result of one action on one election.
type Outcome struct {
	Action election.ActionKind
	Target election.Target
	Kind   OutcomeKind
	// New is the first leader observed after the action. It is zero if no leader has been observed yet.
	New election.Holder
	// Vacancy is the time between the two terms; of a drain, the total time without a leader since the first release.
	// It is exact if VacancyKnown is set, otherwise an upper bound, or zero if unknown.
	Vacancy      time.Duration
	VacancyKnown bool
	// Outage is nil if unknown.
	Outage *election.Outage
	// Reason says in one line why there is no new leader, why nothing was written, or what was not observed. It may
	// be empty.
	Reason string
	// Note is one line about the action itself. It does not depend on the next leader.
	Note string

	// The fields below are those of a drain, whose New is the current leader, or zero if there is none.

	// Rounds is the number of releases. Destroyed is set if the drain destroyed the session after them.
	Rounds    int
	Destroyed bool
	// Here is set if the leader's session is on a drained node. Watched is set if a pattern matches the key.
	Here, Watched bool
	// Pausing is set during the pause before the next release.
	Pausing bool
	// Since is when the current state (this leader, or no leader) began. It is zero if it began before the drain.
	Since time.Time
	// Failure is the kind of the failure if Kind is OutcomeFailed, or OutcomeSkipped for a reason that counts as one.
	Failure OutcomeKind
	// Better is a command that moves the leader with the software's own method, or empty if none is known.
	Better string
}

// Final reports whether a drain acts on the election again only if the leader changes.
func (o Outcome) Final() bool { return o.Kind != OutcomeWaiting && o.Kind != OutcomeMoving }

// Settled reports whether the outcome is final.
func (o Outcome) Settled() bool { return o.Kind != OutcomeDone && o.Kind != OutcomeUnknown }

// Follow updates the outcome with the first term after the term that the action ended. e is the election after the
// action, or nil if it was not observed. Follow does not change a settled outcome.
func (o Outcome) Follow(e *election.Election) Outcome {
	overwritten := o.Target.LockIndex == 0 && e != nil && e.Pair.LockIndex == 0 && e.Pair.HeldBy(o.Target.Session) // not ended yet
	if o.Settled() || e == nil || e.Key() != o.Target.Key || overwritten {
		return o
	}
	unconfirmed := o.Kind == OutcomeUnknown && o.Action == election.ActionDestroy // the holder may have released the lock
	switch i := o.targetTerm(e.Terms); {
	case i < 0 && !unconfirmed:
		return o.followUnobserved(e.Terms)
	case i < 0, !e.Terms[i].Over(), i == len(e.Terms)-1, unconfirmed && !e.Terms[i].Cause.EndsSession():
		return o
	default:
		return o.succeeded(e.Terms[i], e.Terms[i+1])
	}
}

// Ended returns the outcome of an action whose next term was not observed within wait, which ended now, or until an
// interruption. last is the last snapshot of the election's datacenter.
func (o Outcome) Ended(last *election.Snapshot, now time.Time, wait time.Duration, interrupted bool) Outcome {
	e := last.Find(o.Target.ID())
	_, stale := last.StaleSince(o.Target.Key)
	var reason string
	switch {
	case interrupted:
		reason = "interrupted while waiting for the next leader"
	case e == nil || stale:
		reason = o.Target.Store.String() + " did not respond; the current leader is unknown"
	case e.Held() && o.Kind == OutcomeUnknown && !e.Pair.HeldBy(o.Target.Session):
		reason = "another session leads now"
	case e.Held():
		reason = "no later term was observed within " + wait.String()
	case o.Kind == OutcomeUnknown:
		reason = "the election has no leader"
	default:
		o.Kind, reason = OutcomeVacant, "no candidate acquired the key within "+wait.String()
		if left := e.LockDelayUntil.Sub(now); left > 0 { // the snapshot may be as old as the loss
			reason += fmt.Sprintf("; the lock-delay lasts for about %s more", election.Remaining(left))
		}
	}
	if o.Kind == OutcomeUnknown {
		reason = o.Reason + "; " + reason
	}
	o.Reason = reason
	return o
}

// targetTerm returns the index of the term that the action ended, or -1 if it was not observed. It returns the latest
// match, so that Follow does not treat a term from before the action as the next term. For a destroy, the session is
// sufficient, because the action ends the last term of the session.
func (o Outcome) targetTerm(terms []election.Term) int {
	for i, t := range slices.Backward(terms) {
		if o.targets(&t) && (o.Target.LockIndex > 0 || t.Over()) { // after a write without the lock, the next term may have the same number
			return i
		}
	}
	return -1
}

// targets reports whether the action was about a term. After a write without the lock, an observer may know only LockIndex.
func (o Outcome) targets(t *election.Term) bool {
	return t.Session == o.Target.Session && (o.Action == election.ActionDestroy || o.Target.CreateIndex == 0 ||
		t.CreateIndex == o.Target.CreateIndex && (t.Number == o.Target.Term || t.Number == o.Target.LockIndex))
}

// followUnobserved uses the first later term if the ended term was not observed, for example after a restart. The
// vacancy is then unknown.
func (o Outcome) followUnobserved(terms []election.Term) Outcome {
	target := o.Target
	for _, t := range terms {
		if target.CreateIndex > 0 && (t.CreateIndex > target.CreateIndex ||
			t.CreateIndex == target.CreateIndex && t.Number > max(target.Term, target.LockIndex)) {
			return o.ledBy(t)
		}
	}
	return o
}

// ledBy settles the outcome with the leader of a later term.
func (o Outcome) ledBy(next election.Term) Outcome {
	unconfirmed := o.Kind == OutcomeUnknown
	if o.Kind, o.Reason = OutcomeMoved, ""; unconfirmed {
		o.Reason = fmt.Sprintf("%s did not confirm the %s; perhaps the leader changed without it", o.Target.Store, o.Action)
	}
	// Many clients compete again with a new session after they have lost the lock. A label that comes from the session's
	// name does not suffice, because several sessions may share the name. The value of an overwritten term names no leader.
	if strings.EqualFold(next.Session, o.Target.Session) || (next.Leader == o.Target.Leader || o.Target.Term == 0) && next.Node != "" &&
		election.SameNode(next.Node, o.Target.Node) && !election.NamesNode(next.Leader, next.Node) {
		o.Kind = OutcomeReturned
	}
	o.New = election.Holder{Leader: next.Leader, Session: election.Label(next.Session), Node: election.Label(next.Node)}
	return o
}

func (o Outcome) succeeded(ended, next election.Term) Outcome {
	o = o.ledBy(next)
	if n := ended.MissedUntil(&next); n > 0 {
		o.Reason = election.Plural(n, "term") + " not observed"
		return o
	}
	from := ended.LastSeen()
	o.Vacancy = max(0, next.Start.Sub(from))
	o.VacancyKnown = next.StartKnown && ended.SeenUntil.IsZero()
	if o.Action == election.ActionRelease && o.Reason == "" { // it was confirmed
		if ended.AliveUntil = from; strings.HasPrefix(o.Note, election.FixOf) {
			ended.AliveUntil = time.Time{}
		}
	}
	o.Outage = ended.Outage(&next)
	return o
}

// Old returns the leader before the action.
func (o Outcome) Old() election.Holder {
	return election.Holder{Leader: o.Target.Leader, Session: election.Label(o.Target.Session), Node: election.Label(o.Target.Node)}
}

// reasonLength is greater than the length of every reason. A reason must not be truncated, because its end says what to
// do. Text from Consul in a reason is already truncated.
const reasonLength = 1000

// Name returns the name of the election or the session, safe to print.
func (o Outcome) Name() string {
	if o.Target.Key == "" {
		return "session " + sanitize.Line(o.Target.Session, 40)
	}
	return sanitize.Line(o.Target.Election, 100)
}

// Summary describes the outcome in one line, safe to print: "web-1 on node-1 → web-2 on node-2 after 1.2s", or why there is no new
// leader.
func (o Outcome) Summary() string {
	text := o.headline()
	switch {
	case o.Kind == OutcomeSkipped:
		return o.Reason
	case o.Rounds == 0 || o.Kind == OutcomeStayed: // for a leader that stayed, the reason contains the number of releases
	case o.Destroyed:
		text += ", " + Releases(o.Rounds) + " and a destroy"
	default:
		text += ", " + Releases(o.Rounds)
	}
	if o.Reason != "" {
		text += ": " + sanitize.Line(o.Reason, reasonLength)
	}
	if o.Note != "" {
		text += "; " + sanitize.Line(o.Note, reasonLength)
	}
	return text
}

// Progress describes the state of an election while its drain runs.
func (o Outcome) Progress() string {
	switch {
	case o.Final():
		return o.Summary()
	case o.Rounds > 0 && o.Pausing:
		return Releases(o.Rounds) + " and a pause before the next, " + o.present()
	case o.Rounds > 0:
		return Releases(o.Rounds) + ", " + o.present()
	}
	return o.present()
}

// Releases returns "1 release", "2 releases" and so on.
func Releases(n int) string {
	return election.Plural(n, "release")
}

// present describes the current leader during a drain.
func (o Outcome) present() string {
	if o.New.Session == "" {
		return "no leader"
	}
	return "led by " + o.New.Text()
}

func (o Outcome) headline() string {
	leader, next := o.Old().Text(), o.New.Text()
	if o.Target.Key == "" {
		leader = "session " + election.ShortID(o.Target.Session)
	}
	switch o.Kind {
	case OutcomeMoved:
		return leader + " → " + next + o.vacancyText()
	case OutcomeReturned:
		session := "a new session"
		if o.New.Session == o.Old().Session {
			session = "the same session"
		} else if o.New.Leader != o.Target.Leader { // the value of the old term was overwritten
			return leader + " → " + next + o.vacancyText() + ", perhaps the same process"
		}
		return leader + " leads again" + o.vacancyText() + ", with " + session
	case OutcomeVacant:
		return leader + " → no leader"
	case OutcomeDone:
		return leader + o.doneText()
	case OutcomeUnknown:
		return "unknown whether the " + string(o.Action) + " was applied"
	case OutcomeStayed:
		return "stayed, " + o.present()
	case OutcomeMoving:
		if next != "" && next != leader {
			return "interrupted, " + leader + " → " + next
		}
		return "interrupted, " + o.present()
	case OutcomeWaiting:
		return "interrupted before any release"
	default:
		if o.Action == election.ActionDrain {
			return string(o.Kind)
		}
		return "nothing was changed"
	}
}

// doneText describes a completed action. It does not name the next leader, because no later term was observed.
func (o Outcome) doneText() string {
	switch {
	case o.Action == election.ActionRelease && o.Reason != "":
		return " was released"
	case o.Action == election.ActionRelease:
		return " was released; it may already lead again"
	case o.Target.Key == "":
		return " was destroyed"
	}
	return ": its session was destroyed"
}

func (o Outcome) vacancyText() (text string) {
	switch {
	case o.VacancyKnown:
		text = " " + election.AfterVacancy(o.Vacancy)
	case o.Vacancy > 0:
		text = " after at most " + election.AtMost(o.Vacancy)
	default:
		return ""
	}
	if o.Rounds > 1 {
		text += " in total"
	}
	if !o.VacancyKnown && o.Action == election.ActionRelease && o.Reason == "" { // the holder worked until the release: the outage is the vacancy
		return text
	}
	return text + o.Outage.Beside(nil)
}

// OutcomeJSON is the JSON form of an outcome.
type OutcomeJSON struct {
	Election  string              `json:"election"`
	Key       string              `json:"key"`
	Action    election.ActionKind `json:"action"`
	Result    OutcomeKind         `json:"result"`
	Old       election.Holder     `json:"old"`
	New       *election.Holder    `json:"new,omitempty"`
	VacancyMS *int64              `json:"vacancy_ms,omitempty"`
	*election.Outage
	Reason    string `json:"reason,omitempty"`
	Note      string `json:"note,omitempty"`
	Rounds    *int   `json:"rounds,omitempty"`
	Destroyed bool   `json:"destroyed,omitempty"`
	Watched   *bool  `json:"watched,omitempty"`
	Better    string `json:"better,omitempty"`
}

// JSON returns the form in `electop release -o json` and `electop drain -o json`. It includes vacancy_ms only if the
// beginning and the end of the vacancy were observed.
func (o Outcome) JSON() OutcomeJSON {
	j := OutcomeJSON{
		Election: o.Target.Election, Key: o.Target.Key, Action: o.Action, Result: o.Kind, Old: o.Old(),
		Reason: o.Reason, Note: o.Note, Destroyed: o.Destroyed, Better: o.Better, Outage: o.Outage,
	}
	if o.Action == election.ActionDrain {
		j.Rounds, j.Watched = &o.Rounds, &o.Watched
	}
	if !o.Final() {
		j.Reason = "interrupted"
	}
	if o.New.Session != "" && o.Kind != OutcomeSkipped && o.Kind != OutcomeWaiting {
		j.New = &o.New
	}
	if o.VacancyKnown {
		j.VacancyMS = new(o.Vacancy.Milliseconds())
	}
	return j
}

// MarshalJSON implements [json.Marshaler].
func (o Outcome) MarshalJSON() ([]byte, error) { return json.Marshal(o.JSON()) }
