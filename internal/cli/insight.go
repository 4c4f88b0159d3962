package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// shownCandidates is how many candidates a text names; JSON has them all.
const shownCandidates = 10

// assessment is what is inferred about one election from what stands around it.
type assessment struct {
	around     election.Surroundings
	candidates []insight.Candidate
	semaphore  *election.Semaphore
	software   *insight.Software
	advice     []insight.Advice
	vacant     *election.Election // the election, if it has no leader
	situation  insight.Situation
	why        string // there is no leader, empty while there is one
	probe      *consulx.ProbeResult
	likely     int // candidates with a strong reason, -1 when unknown
}

// survey reads what stands around an election and infers the rest.
func survey(ctx context.Context, client *consulx.Client, s *election.Snapshot, e *election.Election) assessment {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	return newInsight(s, e, consulx.Survey(ctx, client, e.Key()))
}

func newInsight(s *election.Snapshot, e *election.Election, around election.Surroundings) assessment {
	in := assessment{
		around: around, candidates: insight.Candidates(e, &around, s.Elections),
		semaphore: election.ReadSemaphore(e, &around), software: insight.DetectSoftware(e, &around),
		advice: insight.Advise(e, &around, s.Elections, s.At),
	}
	in.likely = insight.Likely(in.candidates)
	if in.likely == 0 && (len(in.candidates) > 0 || len(in.unread()) > 0) {
		in.likely = -1 // that there is none is not known
	}
	in.situation = insight.Situation{Now: s.At, Connection: s.Connection, Candidates: in.likely}
	in.why = insight.WhyVacant(e, in.situation)
	if in.why != "" {
		in.vacant = e
	}
	return in
}

// unread tells what could not be read, in plain words.
func (in assessment) unread() []string {
	var all []string
	for _, text := range []string{in.around.SiblingsErr, in.around.SessionsErr} {
		if text != "" {
			all = append(all, sanitize.Line(text, 200))
		}
	}
	return all
}

// insightJSON is what `show -o json` adds to an element of `list -o json`.
type insightJSON struct {
	WhyVacant  string              `json:"why_vacant,omitempty"`
	Candidates []insight.Candidate `json:"candidates"`
	Semaphore  *election.Semaphore `json:"semaphore,omitempty"`
	Software   *insight.Software   `json:"software,omitempty"`
	Advice     []insight.Advice    `json:"advice"`
	Unread     []string            `json:"unread,omitempty"`
	Probe      *probeJSON          `json:"probe,omitempty"`
}

type probeJSON struct {
	State   string `json:"state"`
	Exists  bool   `json:"exists"`
	Session string `json:"session,omitempty"`
}

// MarshalJSON writes lists as lists, empty ones too.
func (in assessment) MarshalJSON() ([]byte, error) {
	j := insightJSON{
		WhyVacant: in.why, Candidates: in.candidates, Semaphore: in.semaphore, Software: in.software,
		Advice: in.advice, Unread: in.unread(),
	}
	if j.Candidates == nil {
		j.Candidates = []insight.Candidate{}
	}
	if j.Advice == nil {
		j.Advice = []insight.Advice{}
	}
	if in.probe != nil {
		j.Probe = &probeJSON{State: string(in.probe.State), Exists: in.probe.Exists, Session: in.probe.Session}
	}
	return json.Marshal(j)
}

// rows writes the insight as rows of `show`.
func (in assessment) rows(row func(string, string, ...any)) {
	in.semaphoreRows(row)
	in.candidateRows(row)
	if s := in.software; s != nil {
		row("Software", "%s", s.Name)
	}
	for i, a := range in.advice {
		row(once(i, "Advice"), "%s%s: %s", urgent(a), a.Code, a.Why)
		row("", "  %s", a.Do)
	}
	for i, text := range in.unread() {
		row(once(i, "Unread"), "%s", text)
	}
	if in.probe != nil {
		row("Probe", "%s", probeText(*in.probe))
	}
}

// effectRows say what the operator's actions do to the leader.
func (in assessment) effectRows(row func(string, string, ...any), e *election.Election) {
	if !e.Exists || !e.Pair.Held() {
		return
	}
	release, destroy := in.effect(election.ActionRelease, e), in.effect(election.ActionDestroy, e)
	if release.Refusal != "" {
		row("Release", "refused: %s", release.Refusal)
	} else {
		row("Release", "%s", release.Holder)
	}
	row("Destroy", "%s", destroy.Holder)
	for _, better := range []string{release.Better, destroy.Better} {
		if better != "" {
			row("Step down", "%s", better)
			break
		}
	}
}

// once gives a label to the first row of several.
func once(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func urgent(a insight.Advice) string {
	if a.Urgent {
		return "! "
	}
	return ""
}

func (in assessment) semaphoreRows(row func(string, string, ...any)) {
	s := in.semaphore
	if s == nil {
		return
	}
	row("Semaphore", "limit %d, %d held, %d gone, %d waiting", s.Limit, s.Live(), len(s.Holders)-s.Live(), len(s.Waiters))
	for _, h := range s.Holders {
		gone := ""
		if h.Gone {
			gone = " (gone: its slot is free for the next)"
		}
		row("  holder", "%s%s", contender(h), gone)
	}
	for _, w := range s.Waiters {
		row("  waiter", "%s", contender(w))
	}
	if !s.ContendersKnown {
		row("", "Unknown: waiters and holders that are gone.")
	}
}

func contender(h election.SemaphoreHolder) string {
	text := h.Session
	if h.Name != "" {
		text += " " + h.Name
	}
	if h.Node != "" && !election.NamesNode(h.Name, h.Node) {
		text += " on " + h.Node
	}
	return text
}

func (in assessment) candidateRows(row func(string, string, ...any)) {
	if len(in.candidates) == 0 {
		row("Likely next", "%s", in.nobodyNext())
		return
	}
	for i, c := range in.candidates[:min(len(in.candidates), shownCandidates)] {
		row(once(i, "Likely next"), "%s (%s)", c.Name, reason(c))
	}
	if more := len(in.candidates) - shownCandidates; more > 0 {
		row("", "and %d more", more)
	}
}

func reason(c insight.Candidate) string {
	if c.Weak {
		return "perhaps: " + c.Reason
	}
	return c.Reason
}

func (in assessment) nobodyNext() string {
	if len(in.unread()) > 0 {
		return "not known: " + strings.Join(in.unread(), "; ")
	}
	return "no candidate was seen among " + election.Plural(uint64(len(in.around.Sessions)), "session")
}

// probed takes what Consul itself says, which beats what was inferred.
func (in *assessment) probed(found consulx.ProbeResult) {
	in.probe = &found
	switch {
	case in.vacant == nil && found.State != consulx.LockHeld:
		in.why = "The leader lost the key after electop read it: " + probeText(found) + "."
		return
	case in.vacant == nil:
		return
	case found.State == consulx.LockHeld:
		in.why = "There was no leader when electop read the key; it is now " + probeText(found) + "."
		return
	case found.State == consulx.LockDelayed:
		in.situation.LockDelay = insight.DelayActive
	case found.State == consulx.LockFree:
		in.situation.LockDelay = insight.DelayNone
	}
	in.why = insight.WhyVacant(in.vacant, in.situation)
}

func probeText(p consulx.ProbeResult) string {
	switch p.State {
	case consulx.LockHeld:
		return "held by session " + sanitize.Line(p.Session, 40)
	case consulx.LockDelayed:
		return "a lock-delay is active: Consul rejects every acquire"
	case consulx.LockFree:
		if !p.Exists {
			return "free: no lock-delay is active; the next candidate that acquires the key creates it and leads"
		}
		return "free: no lock-delay is active; the next candidate that acquires the key leads"
	}
	return string(p.State)
}

// next says in one line who may lead next.
func (in assessment) next() string {
	if len(in.candidates) == 0 {
		return in.nobodyNext()
	}
	names := make([]string, 0, 3)
	for _, c := range in.candidates[:min(len(in.candidates), cap(names))] {
		names = append(names, fmt.Sprintf("%s (%s)", election.ShortLeader(c.Name), reason(c)))
	}
	text := "likely: " + strings.Join(names, ", ")
	if more := len(in.candidates) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// effect says what an action does to the hold of the election.
func (in assessment) effect(kind election.ActionKind, e *election.Election) insight.Effect {
	return insight.EffectOf(kind, e, &in.around, in.likely)
}
