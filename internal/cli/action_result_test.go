package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
		if o.Kind != tt.kind || outcomeExit(o, false) != tt.code || (o.Reason == "") != (tt.err == nil) {
			t.Errorf("%v: %+v, exit code %d", tt.err, o, outcomeExit(o, false))
		}
	}
}

func TestTheMostSevereExitCodeWins(t *testing.T) {
	// One outcome per exit code, the most severe first.
	var outcomes []insight.Outcome
	for _, kind := range []insight.OutcomeKind{
		insight.OutcomeUnknown, insight.OutcomeDenied, insight.OutcomeChanged, insight.OutcomeNoLeader,
		insight.OutcomeReturned, insight.OutcomeMoved,
	} {
		outcomes = append(outcomes, insight.Outcome{Kind: kind})
	}
	for i, want := range []int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitOK} {
		rest := slices.Clone(outcomes[i:])
		slices.Reverse(rest)
		if code := reportError(io.Discard, worstExit(rest, false)); code != want {
			t.Errorf("%v: exit code %d, want %d", rest, code, want)
		}
	}
}

// With --wait, a result that was not observed is a failure.
func TestExitCodesOfAWait(t *testing.T) {
	for kind, want := range map[insight.OutcomeKind]int{
		insight.OutcomeDone: exitFailed, insight.OutcomeVacant: exitFailed, insight.OutcomeUnknown: exitFailed,
		insight.OutcomeRefused: exitFailed, insight.OutcomeMoved: exitOK, insight.OutcomeReturned: exitSameLeader,
	} {
		if got := outcomeExit(insight.Outcome{Kind: kind}, true); got != want {
			t.Errorf("%s: exit code %d, want %d", kind, got, want)
		}
	}
}

func TestTheLastLineOfTheSummaryDescribesTheExitCode(t *testing.T) {
	kinds := map[string]insight.OutcomeKind{
		"big": insight.OutcomeVacant, "billing": insight.OutcomeReturned, "vacant": insight.OutcomeNoLeader,
		"db": insight.OutcomeRefused, "web": insight.OutcomeMoved, "mail": insight.OutcomeDenied, "chat": insight.OutcomeChanged,
	}
	for _, tt := range []struct{ names, last string }{
		{"big billing vacant db", "2 of 4 failed: big, db"},
		{"web billing vacant mail", "1 of 4 denied: mail"},
		{"web billing vacant chat", "1 of 4 changed before the action: chat"},
		{"web billing vacant", "1 of 3 without a leader: vacant"},
		{"web billing", "1 of 2 done, but the same leader leads again: billing"},
		{"billing", "done, but the same leader leads again: billing"},
		{"web", ""},
		{"db", ""}, // a single election gets no summary line
	} {
		var outcomes []insight.Outcome
		for _, name := range strings.Fields(tt.names) {
			outcomes = append(outcomes, insight.Outcome{Kind: kinds[name], Target: election.Target{Election: name, Key: name}})
		}
		var b strings.Builder
		writeSummary(&b, outcomes, true)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if last := strings.TrimPrefix(lines[len(lines)-1], "electop: "); last != tt.last {
			t.Errorf("%s: %q, want %q", tt.names, last, tt.last)
		}
	}
}
