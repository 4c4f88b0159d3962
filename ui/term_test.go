package ui

import (
	"strings"
	"testing"

	"electop/election"
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
