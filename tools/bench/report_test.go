package main

import (
	"strings"
	"testing"
	"time"
)

func TestDashboardSentence(t *testing.T) {
	b := dashboardResult{curl: 100 * time.Millisecond, first: 150 * time.Millisecond, own: 30 * time.Millisecond, quiet: 0.0015, rss: 50 << 20}
	text := b.sentence(options{rate: 50}, 10_000)
	for _, part := range []string{"after 150 ms, of which the terminal takes 30.0 ms; the rest is 1.20 × the 100 ms", "0.150 % of a core", "50 MB resident"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}

func TestBetweenReplacesOnlyTheMarkedPart(t *testing.T) {
	got, err := between("head\n"+markBegin+"\nold\n"+markEnd+"\ntail\n", "new\n")
	if want := "head\n" + markBegin + "\n\nnew\n\n" + markEnd + "\ntail\n"; err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := between("no marks", "new"); err == nil {
		t.Error("a document without marks was accepted, want an error")
	}
}
