package ui

import (
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui/kit"
)

// lineOf returns the first line of the screen that contains a name, with its colours.
func lineOf(t *testing.T, d *driver, name string) string {
	t.Helper()
	for line := range strings.SplitSeq(d.m.View().Content, "\n") {
		if strings.Contains(line, name) {
			return line
		}
	}
	t.Fatalf("%s is not on the screen", name)
	return ""
}

func TestOnlyTheStaleRowsAreGrey(t *testing.T) {
	d := drive(t, staleSnapshot(), 120, 36)
	led := d.m.painter.Styles.Ink(kit.Plain, kit.Led)
	if line := lineOf(t, d, "svc-00009 "); strings.Contains(line, led) || !strings.Contains(line, "stale") {
		t.Errorf("a stale row looks current: %q", line)
	}
	if line := lineOf(t, d, "svc-00012 "); !strings.Contains(line, led) || strings.Contains(line, "stale") {
		t.Errorf("a current row looks stale: %q", line)
	}
	d.wants("● live · 20 stale 14s", "20 of 312 elections stale for 14s (service/svc-0000… to service/svc-0011…)", "next retry in 3s")

	// The durations in a stale row do not increase. The durations in other rows do.
	d.now = d.now.Add(time.Minute)
	d.send(tickMsg(d.now))
	d.wants("20 of 312 elections stale for 1m14s", "retrying now")
	for name, want := range map[string]string{"svc-00009 ": "8m46s", "svc-00012 ": "13m00s"} {
		if line := lineOf(t, d, name); !strings.Contains(line, want) {
			t.Errorf("%s lacks %s: %q", name, want, line)
		}
	}

	current := staleSnapshot()
	current.Connection.Stale = nil
	d.send(snapshotMsg{current})
	d.lacks("stale", "retrying now")
}

// A dialog refuses to act on stale elections. It acts on current ones.
func TestDialogsRefuseStaleElections(t *testing.T) {
	for key, refused := range map[string]bool{"service/svc-00112/leader": true, "service/svc-00012/leader": false} {
		d := drive(t, staleSnapshot(), 120, 36)
		d.open(key)
		d.keys("r")
		if d.m.overlay == nil || d.ready() == refused {
			t.Errorf("%s: refused %v", key, !refused)
		}
		lost := staleSnapshot()
		lost.Connection.Stale[0].Range = election.PrefixRange("service/")
		d.send(snapshotMsg{lost})
		if d.ready() {
			t.Errorf("%s became stale, but the dialog still acts", key)
		}
	}
}

func TestStaleChecksAndSessionsAreInTheHeader(t *testing.T) {
	for kind, word := range map[election.PartKind]string{
		election.PartChecks: "checks stale 27s", election.PartSessions: "sessions stale 27s", election.PartNames: "list stale 27s",
	} {
		for _, width := range []int{40, 80, 120} {
			d := drive(t, staleOnly(kind)(), width, 24)
			d.lacks("elections stale")
			want := "● live · " + word
			if width < 64 {
				want = "! stale 27s"
			}
			d.wants(want)
		}
	}
}
