package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
)

// A leader on a failed node is a problem in every view, as the fix dialog says.
func TestAFailedLeaderIsVisible(t *testing.T) {
	x := newDiagnosis()
	d := drive(t, uitest.Failed(""), 120, 45, x.option)
	d.wants("✗ 1 failed")
	if row := d.row("ledger"); !strings.Contains(row, "ledger ✗") || !strings.Contains(row, "node failed") {
		t.Errorf("the row is %q", row)
	}
	d.keys(":", "'sort problems", "enter", "g")
	var order []string
	for range 3 {
		order = append(order, d.selected())
		d.keys("n")
	}
	if !slices.Equal(order, []string{"mail", "ledger", "search"}) {
		t.Errorf("n visits %v, want mail, ledger and search", order)
	}
	d.open(keyOf("ledger"))
	d.wants("✗ The leader's node node-4 has failed (serfHealth is critical), but its session is not bound to serfHealth",
		"Then destroy session", "f fix…")
	d.filter("advice:leader_failed")
	d.wants("1 of 12 elections")
}

// The board ignores checks that are not watched or not readable.
func TestOldChecksShowNoFailedLeader(t *testing.T) {
	for _, change := range []func(*election.NodeChecks){
		func(c *election.NodeChecks) { c.Until = ago(time.Minute) },
		func(c *election.NodeChecks) { c.Err = "not readable with this token" },
	} {
		s := uitest.Failed("")
		c := s.Checks["node-4"]
		change(&c)
		s.Checks["node-4"] = c
		d := drive(t, s, 120, 45)
		d.open(keyOf("ledger"))
		d.lacks("1 failed", "node failed", "has failed")
	}
}

// The nodes of visible leaders are watched first, and then those of other leaders.
func TestNodesOutsideTheScreenAreWatched(t *testing.T) {
	s := uitest.Crowd(300)
	for i, e := range s.Elections {
		if e.Session != nil {
			e.Session.NodeChecks, e.Session.ServiceChecks = nil, nil
			if i >= 200 {
				e.Session.Node = fmt.Sprint("far-", i%40)
			}
		}
	}
	var last []string
	calls := 0
	d := drive(t, s, 80, 24, func(o *Options) { fake(o).onWatchChecks = func(_ string, nodes []string) { last = nodes; calls++ } })
	if d.send(snapshotMsg{s}); calls != 1 {
		t.Errorf("WatchChecks was called %d times for the same nodes", calls)
	}
	if len(last) != 16 || !slices.Contains(last[:3], "node-1") || !strings.HasPrefix(last[3], "far-") {
		t.Errorf("%d watched nodes, want 16 with those of visible leaders first: %v", len(last), last)
	}
	for _, view := range []string{"enter", "2", "3"} { // the header counts failed leaders in every view
		if d.keys(view); len(last) != 16 {
			t.Errorf("after %s, WatchChecks received %d nodes, want 16: %v", view, len(last), last)
		}
	}
	d.keys("1", "esc")
	d.filter("advice:leader_failed") // the filter depends on the checks of elections that it hides
	if len(last) != 16 {
		t.Errorf("with a filter by advice, WatchChecks received %d nodes, want 16: %v", len(last), last)
	}
}

// failed shows the detail of a leader on a failed node.
func failed(change ...func(*Options)) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := drive(t, uitest.Failed(keyOf("ledger")), w, h, change...)
		d.open(keyOf("ledger"))
		return d
	}
}
