package cli

import (
	"context"
	"fmt"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// assessment contains the inferences about one election.
type assessment struct {
	around     election.Surroundings
	candidates []insight.Candidate
	semaphore  *election.Semaphore
	software   *insight.Software
	advice     []insight.Advice
	vacant     *election.Election // the election; nil if the election has a leader
	situation  insight.Situation
	why        string // why there is no leader; empty if there is a leader
	probe      *consulx.ProbeResult
	likely     int // number of candidates with strong evidence; -1 if unknown
}

// assess reads the keys and sessions from which electop infers candidates and advice, and returns the assessment.
func assess(ctx context.Context, client *consulx.Client, s *election.Snapshot, e *election.Election) assessment {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return newAssessment(s, e, consulx.Survey(ctx, client, e.Key()))
}

func newAssessment(s *election.Snapshot, e *election.Election, around election.Surroundings) assessment {
	a := assessment{
		around: around, candidates: insight.Candidates(e, &around, s.Elections),
		semaphore: election.ReadSemaphore(e, &around), software: insight.DetectSoftware(e, &around),
		advice: insight.NewBoard(s.Elections, around.Sessions).WithChecks(s.ChecksOf(e)).Advise(e, &around, s.At),
	}
	a.likely = insight.Likely(a.candidates, &around)
	a.situation = insight.Situation{Now: s.At, Connection: s.Connection, Candidates: a.likely}
	a.why = insight.WhyVacant(e, a.situation)
	if a.why != "" {
		a.vacant = e
	}
	return a
}

// applyProbe replaces inferences with the result of a probe.
func (a *assessment) applyProbe(found consulx.ProbeResult) {
	a.probe = &found
	switch {
	case a.vacant == nil && found.State != consulx.LockHeld:
		a.why = "The leader lost the key after electop read it: " + probeText(found) + "."
		return
	case a.vacant == nil:
		return
	case found.State == consulx.LockHeld:
		a.why = "There was no leader when electop read the key; the key is now " + probeText(found) + "."
		return
	case found.State == consulx.LockDelayed:
		a.situation.LockDelay = insight.DelayActive
	case found.State == consulx.LockFree:
		a.situation.LockDelay = insight.DelayNone
	}
	a.why = insight.WhyVacant(a.vacant, a.situation)
}

// nextText names the likely candidates in one line.
func (a assessment) nextText() string {
	if len(a.candidates) == 0 {
		return insight.NoCandidate(&a.around)
	}
	names := make([]string, 0, 3)
	for _, c := range a.candidates[:min(len(a.candidates), cap(names))] {
		names = append(names, fmt.Sprintf("%s (%s)", election.ShortLeader(c.Name), reason(c)))
	}
	text := "likely: " + strings.Join(names, ", ")
	if more := len(a.candidates) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// effect predicts how an action affects the leader.
func (a assessment) effect(kind election.ActionKind, e *election.Election) insight.Effect {
	return insight.EffectOf(kind, e, &a.around, a.likely)
}

func reason(c insight.Candidate) string {
	if c.Weak {
		return "perhaps: " + c.Reason
	}
	return c.Reason
}
