package cli

import (
	"fmt"
	"strings"

	"electop/election"
	"electop/election/insight"
)

// assessment contains the inferences about one election.
type assessment struct {
	around     election.Surroundings
	candidates []insight.Candidate
	likely     int // number of candidates with strong evidence; -1 if unknown
}

func newAssessment(s *election.Snapshot, e *election.Election, around election.Surroundings) assessment {
	candidates := insight.Candidates(e, &around, s.Elections)
	return assessment{around, candidates, insight.Likely(candidates, &around)}
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
