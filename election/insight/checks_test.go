package insight

import (
	"testing"

	"electop/election"
)

func TestChecksAreCountedWhateverTheSpellingOfTheirIDs(t *testing.T) {
	s := &election.Session{Node: "node-1", NodeChecks: []string{"SERFHEALTH"}, ServiceChecks: []string{"service:web", "gone"}}
	known := election.NodeChecks{Checks: []election.Check{{ID: "serfHealth", Status: "critical"}, {ID: "service:web", Status: "passing"}}}
	tally := TallyChecks(s, map[string]election.NodeChecks{"node-1": known})
	if tally.Critical != 1 || tally.Passing != 1 || tally.Unknown != 1 {
		t.Errorf("%+v", tally)
	}
}
