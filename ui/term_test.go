package ui

import (
	"strings"
	"testing"

	"electop/election"
	"electop/ui/scene"
)

// overwrittenSnapshot returns a snapshot with an election that was written without the lock. A term of 0 is a term
// whose number was never read.
func overwrittenSnapshot(term uint64) *election.Snapshot {
	s := mixedSnapshot()
	e := s.Find("service/orders/leader")
	e.Term, e.Terms[0].Number = term, term
	return s
}

func TestTermIsTheSameInRowAndPane(t *testing.T) {
	for term, want := range map[uint64]string{44: "44!", 0: "?!"} {
		d := drive(t, overwrittenSnapshot(term), 120, 45)
		d.keys("j")
		if d.selected() != "orders" {
			t.Fatalf("%q is selected", d.selected())
		}
		if row := d.row("orders"); !strings.Contains(row, " "+want+" ") {
			t.Errorf("row %q has no term %s", row, want)
		}
		d.wants("orders-1  term " + want)
		d.keys("tab", "tab")
		d.wants("term " + strings.TrimSuffix(want, "!"))
	}
}

func TestTermOfALedAndAVacantElection(t *testing.T) {
	s := mixedSnapshot()
	never := vacantElection(9, "zero", 1, 0, 0, 0, "", "")
	never.Term, never.Terms = 0, nil
	s.Elections = append(s.Elections, never)
	d := drive(t, s, 120, 45)
	d.keys("k")
	d.wants("billing-3  term 18")
	if row := d.row("billing"); !strings.Contains(row, " 18 ") {
		t.Errorf("%q", row)
	}
	if got := scene.TermSpan(never, d.m.scene.Sym).Text; got != d.m.scene.Sym.Dash {
		t.Errorf("an election without a term shows the term %q", got)
	}
}
