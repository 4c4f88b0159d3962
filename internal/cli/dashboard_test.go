package cli

import (
	"bytes"
	"io"
	"testing"

	"electop/election"
	"electop/internal/act"
	dialogs "electop/ui/act"
)

func TestUnfinishedActionsAreReported(t *testing.T) {
	var b bytes.Buffer
	err := reportUnfinished(&b, []dialogs.Unfinished{
		{Name: "mail", Outcome: act.Outcome{Action: election.ActionRelease, Kind: act.OutcomeDenied}},
		{Name: "web", Outcome: act.Outcome{Action: election.ActionRelease, Kind: act.OutcomeUnknown, Reason: "no answer"}},
	})
	if want := "electop: release mail: nothing was changed\nelectop: release web: unknown whether the release was applied: no answer\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
	if code := reportError(io.Discard, err); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}
