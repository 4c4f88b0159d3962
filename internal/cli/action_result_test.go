package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

// Every error of an action stands for one result and one exit code.
func TestErrorsStandForResultsAndExitCodes(t *testing.T) {
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
	// One outcome per line, the most severe first.
	order := []insight.OutcomeKind{
		insight.OutcomeUnknown, insight.OutcomeDenied, insight.OutcomeChanged, insight.OutcomeNoLeader,
		insight.OutcomeReturned, insight.OutcomeMoved,
	}
	codes := []int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader}
	for i := range codes {
		b := &batch{action: &action{d: deps{stderr: &bytes.Buffer{}}}}
		for _, kind := range order[i:] {
			b.items = append([]*item{{outcome: insight.Outcome{Kind: kind}}}, b.items...)
		}
		var code exitError
		if err := b.result(); !errors.As(err, &code) || int(code) != codes[i] {
			t.Errorf("%v: %v, want exit code %d", order[i:], err, codes[i])
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

// A refusal names the software's own method and changes nothing.
func TestARefusalNamesTheBetterMethod(t *testing.T) {
	var out, errOut bytes.Buffer
	b := &batch{action: &action{d: deps{stdout: &out, stderr: &errOut}, kind: election.ActionRelease}}
	s := &item{
		effect: insight.Effect{Refusal: "Patroni identifies the leader by the value.", Better: "patronictl switchover db"},
		outcome: insight.Outcome{
			Action: election.ActionRelease, Target: election.Target{Election: "db", Key: "service/db/leader", Leader: "pg1"},
		},
	}
	s.finish(insight.OutcomeRefused, s.effect.Refusal)
	b.items = []*item{s}
	if err := b.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	var code exitError
	if err := b.result(); !errors.As(err, &code) || int(code) != exitFailed || out.Len() > 0 {
		t.Errorf("%v, out %q", err, out.String())
	}
	has(t, errOut.String(), "electop: db: nothing was changed: Patroni identifies", "instead   patronictl switchover db\n")
}

// The descriptions that state exit codes and effects fit a terminal of 80 columns.
func TestDescriptionsFit80Columns(t *testing.T) {
	root := newRootCommand(deps{})
	texts := map[string]string{"electop": root.Long}
	for _, cmd := range root.Commands() {
		if slices.Contains([]string{"release", "destroy", "show"}, cmd.Name()) {
			texts[cmd.Name()] = cmd.Long
		}
	}
	if len(texts) != 4 {
		t.Fatalf("%d descriptions", len(texts))
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}

// The last line on stderr names what the exit code stands for.
func TestTheLastLineNamesWhatDecides(t *testing.T) {
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
		{"db", ""}, // the only election has been reported
	} {
		for _, format := range []string{"text", "json"} {
			var errOut bytes.Buffer
			b := &batch{action: &action{d: deps{stderr: &errOut}, wait: 1, output: format}}
			for _, name := range strings.Fields(tt.names) {
				b.items = append(b.items, &item{outcome: insight.Outcome{
					Kind: kinds[name], Target: election.Target{Election: name, Key: name},
				}})
			}
			_ = b.result()
			lines := strings.Split(strings.TrimSuffix(errOut.String(), "\n"), "\n")
			if last := strings.TrimPrefix(lines[len(lines)-1], "electop: "); last != tt.last {
				t.Errorf("%s: %q, want %q", tt.names, last, tt.last)
			}
		}
	}
}
