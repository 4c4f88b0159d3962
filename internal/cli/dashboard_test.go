package cli

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui"
)

// garbage tells how much garbage may pile up now.
func garbage() int {
	now := debug.SetGCPercent(100)
	debug.SetGCPercent(now)
	return now
}

func TestBoardSparesMemoryUntilItEnds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(170))
	for _, c := range []struct {
		env          string
		start, later int
	}{{"", startGarbage, boardGarbage}, {"170", 170, 170}} {
		t.Setenv("GOGC", c.env)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			go spareMemory(ctx)
			synctest.Wait()
			defer func() {
				cancel()
				if synctest.Wait(); garbage() != 170 {
					t.Errorf("GOGC=%q: not restored", c.env)
				}
			}()
			if got := garbage(); got != c.start {
				t.Errorf("GOGC=%q: %d %% at the start, want %d", c.env, got, c.start)
			}
			<-time.After(startTime)
			synctest.Wait()
			if got := garbage(); got != c.later {
				t.Errorf("GOGC=%q: %d %%, want %d", c.env, got, c.later)
			}
		})
	}
}

func TestUnfinishedActionsAreLines(t *testing.T) {
	var b bytes.Buffer
	err := reportUnfinished(&b, []ui.Unfinished{{Name: "web", Outcome: insight.Outcome{
		Action: election.ActionRelease, Kind: insight.OutcomeUnknown, Reason: "no answer",
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
		kinds []insight.OutcomeKind
		code  int
	}{
		{nil, exitDone},
		{[]insight.OutcomeKind{insight.OutcomeDone}, exitDone},
		{[]insight.OutcomeKind{insight.OutcomeUnknown}, exitFailed},
		{[]insight.OutcomeKind{insight.OutcomeDone, insight.OutcomeFailed}, exitFailed},
		{[]insight.OutcomeKind{insight.OutcomeReturned, insight.OutcomeDenied}, exitDenied},
	} {
		var left []ui.Unfinished
		for _, kind := range c.kinds {
			left = append(left, ui.Unfinished{Name: "web", Outcome: insight.Outcome{Action: election.ActionRelease, Kind: kind}})
		}
		if code := report(io.Discard, reportUnfinished(io.Discard, left)); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.kinds, code, c.code)
		}
	}
}
