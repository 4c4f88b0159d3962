package cli

import (
	"strings"
	"testing"

	"electop/consulx"
	"electop/election/insight"
)

// widest returns the width of the longest line, in bytes: the texts are ASCII.
func widest(text string) (n int) {
	for line := range strings.Lines(text) {
		n = max(n, len(line)-1)
	}
	return n
}

func TestDoctorFitsNarrowTerminals(t *testing.T) {
	report := consulx.Report{Rows: []consulx.Row{
		{Subject: "keys service/*/leader", Status: consulx.StatusDenied, Detail: "the token cannot read any key: " + strings.Repeat("long text ", 8), Rule: `key_prefix "service/" { policy = "read" }`},
		{Subject: "sessions", Status: consulx.StatusOK, Detail: "3 sessions"},
	}}
	for width, want := range map[int]string{0: "WHAT ", 60: "\n  missing   key_prefix", 80: "\n  status    denied", 400: "MISSING RULE"} {
		var b strings.Builder
		if err := writeReport(&b, width, report); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("at %d %v:\n%s", width, err, b.String())
		}
		if width > 0 && widest(b.String()) > width {
			t.Errorf("wider than %d:\n%s", width, b.String())
		}
	}
}

func TestAdviceFitsNarrowTerminals(t *testing.T) {
	advice := insight.Advice{Code: "no_checks", Why: strings.Repeat("the session has no checks ", 4), Do: "create sessions with checks"}
	urgent := insight.Advice{Code: "overwritten", Urgent: true, Why: "w", Do: "d"}
	all := []electionAdvice{{Election: "auth", Advice: advice}, {Election: "mail", Advice: urgent}, {Election: "web", Advice: advice}}
	var b strings.Builder
	if err := writeAdvice(&b, 60, all, false); err != nil {
		t.Fatal(err)
	}
	has(t, b.String(), "no_checks\n  elections auth, web\n  why ", "overwritten, urgent\n  elections mail\n")
	if widest(b.String()) > 60 || strings.Count(b.String(), "no_checks") != 1 {
		t.Errorf("lines are wider than 60, or equal advice is not grouped:\n%s", b.String())
	}
	b.Reset()
	if err := writeAdvice(&b, 0, all, false); err != nil || strings.Count(b.String(), "no_checks") != 2 {
		t.Errorf("%v: want a table without a terminal, got:\n%s", err, b.String())
	}
}
