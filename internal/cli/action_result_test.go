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
		if o.Kind != tt.kind || exitOf(o, false) != tt.code || (o.Reason == "") != (tt.err == nil) {
			t.Errorf("%v: %+v, exit code %d", tt.err, o, exitOf(o, false))
		}
	}
}

func TestTheMostSevereExitCodeWins(t *testing.T) {
	all := []int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitOK}
	for i, want := range all {
		for _, codes := range [][]int{all[i:], {exitOK, want}} {
			if code := reportError(io.Discard, worstOf(codes...)); code != want {
				t.Errorf("%v: exit code %d, want %d", codes, code, want)
			}
		}
	}
}
