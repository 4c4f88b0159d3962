package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

func TestEveryErrorHasAResultAndAnExitCode(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("while testing: %w", err) }
	for _, tt := range []struct {
		err  error
		key  string
		kind insight.OutcomeKind
		code int
	}{
		{nil, "k", insight.OutcomeDone, exitOK},
		{wrapped(consulx.ErrMoved), "k", insight.OutcomeChanged, exitChanged},
		{wrapped(consulx.ErrNoSession), "k", insight.OutcomeChanged, exitChanged},
		{wrapped(consulx.ErrNoSession), "", insight.OutcomeFailed, exitFailed},
		{wrapped(consulx.ErrDenied), "k", insight.OutcomeDenied, exitDenied},
		{wrapped(consulx.ErrRefused), "k", insight.OutcomeRefused, exitFailed},
		{wrapped(consulx.ErrUnknown), "k", insight.OutcomeUnknown, exitFailed},
		{wrapped(context.DeadlineExceeded), "k", insight.OutcomeFailed, exitFailed},
		{errors.New("other"), "k", insight.OutcomeFailed, exitFailed},
	} {
		o := outcomeOf(insight.Outcome{Action: election.ActionRelease, Target: election.Target{Key: tt.key}}, tt.err)
		if o.Kind != tt.kind || exitOf(o.Kind, false) != tt.code || (o.Reason == "") != (tt.err == nil) {
			t.Errorf("%v: %+v, exit code %d", tt.err, o, exitOf(o.Kind, false))
		}
	}
}

func TestTheMostSevereExitCodeWins(t *testing.T) {
	all := bySeverity()
	for i, want := range all {
		codes := map[int]bool{}
		for _, code := range all[i:] {
			codes[code] = true
		}
		if code := reportError(io.Discard, worstOf(codes)); code != want {
			t.Errorf("%v: exit code %d, want %d", codes, code, want)
		}
	}
}

// With --wait, a result that was not observed is a failure.
func TestExitCodesOfAWait(t *testing.T) {
	for kind, want := range map[insight.OutcomeKind]int{
		insight.OutcomeDone: exitFailed, insight.OutcomeVacant: exitFailed, insight.OutcomeUnknown: exitFailed,
		insight.OutcomeRefused: exitFailed, insight.OutcomeMoved: exitOK, insight.OutcomeReturned: exitSameLeader,
	} {
		if got := exitOf(kind, true); got != want {
			t.Errorf("%s: exit code %d, want %d", kind, got, want)
		}
	}
}
