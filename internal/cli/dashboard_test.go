package cli

import (
	"bytes"
	"testing"

	"electop/election"
	"electop/ui"
)

func TestUnfinishedActionsAreLines(t *testing.T) {
	var b bytes.Buffer
	reportUnfinished(&b, []ui.Unfinished{{Name: "web", Outcome: election.Outcome{
		Action: election.ActionRelease, Kind: election.OutcomeUnknown, Reason: "no answer",
	}}})
	if want := "electop: release web: not known whether the release was applied: no answer\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
}
