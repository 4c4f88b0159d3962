package cli

import (
	"bytes"
	"io"
	"testing"

	"electop/election"
	"electop/election/insight"
	"electop/ui"
)

func TestUnfinishedActionsAreReported(t *testing.T) {
	var b bytes.Buffer
	err := reportUnfinished(&b, []ui.Unfinished{{Name: "web", Outcome: insight.Outcome{
		Action: election.ActionRelease, Kind: insight.OutcomeUnknown, Reason: "no answer",
	}}})
	if want := "electop: release web: unknown whether the release was applied: no answer\n"; b.String() != want {
		t.Errorf("got %q", b.String())
	}
	if code := reportError(io.Discard, err); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
}

func TestUnfinishedActionsDecideTheExitCode(t *testing.T) {
	for _, c := range []struct {
		kinds []insight.OutcomeKind
		code  int
	}{
		{nil, exitOK},
		{[]insight.OutcomeKind{insight.OutcomeDone}, exitOK},
		{[]insight.OutcomeKind{insight.OutcomeUnknown}, exitFailed},
		{[]insight.OutcomeKind{insight.OutcomeDone, insight.OutcomeFailed}, exitFailed},
		{[]insight.OutcomeKind{insight.OutcomeReturned, insight.OutcomeDenied}, exitDenied},
	} {
		var left []ui.Unfinished
		for _, kind := range c.kinds {
			left = append(left, ui.Unfinished{Name: "web", Outcome: insight.Outcome{Action: election.ActionRelease, Kind: kind}})
		}
		if code := reportError(io.Discard, reportUnfinished(io.Discard, left)); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.kinds, code, c.code)
		}
	}
}
