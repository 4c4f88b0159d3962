package ui

import (
	"testing"

	"electop/election"
)

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
