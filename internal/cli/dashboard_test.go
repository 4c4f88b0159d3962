package cli

import (
	"bytes"
	"io"
	"testing"

	"electop/election"
	"electop/ui"
)

func TestUnfinishedActionsAreLines(t *testing.T) {
	var b bytes.Buffer
	err := reportUnfinished(&b, []ui.Unfinished{{Name: "web", Outcome: election.Outcome{
		Action: election.ActionRelease, Kind: election.OutcomeUnknown, Reason: "no answer",
	}}})
	if want := "electop: release web: not known whether the release was applied: no answer\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
	if code := report(io.Discard, err); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

// The exit code is that of the same outcome on the command line.
func TestUnfinishedActionsDecideTheExitCode(t *testing.T) {
	for _, c := range []struct {
		kinds []election.OutcomeKind
		code  int
	}{
		{nil, exitDone},
		{[]election.OutcomeKind{election.OutcomeDone}, exitDone},
		{[]election.OutcomeKind{election.OutcomeUnknown}, exitFailed},
		{[]election.OutcomeKind{election.OutcomeDone, election.OutcomeFailed}, exitFailed},
		{[]election.OutcomeKind{election.OutcomeReturned, election.OutcomeDenied}, exitDenied},
	} {
		var left []ui.Unfinished
		for _, kind := range c.kinds {
			left = append(left, ui.Unfinished{Name: "web", Outcome: election.Outcome{Action: election.ActionRelease, Kind: kind}})
		}
		if code := report(io.Discard, reportUnfinished(io.Discard, left)); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.kinds, code, c.code)
		}
	}
}
