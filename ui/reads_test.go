package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/uitest"
)

// A change of the board must not cause a read of the lanes.
func TestLanesAreReadAtAMeasuredPace(t *testing.T) {
	h := uitest.Incident()
	d := drive(t, nil, 160, 45, func(o *Options) { o.History = h })
	d.run(d.send(mixedSnapshot()))
	for range 180 {
		d.now = d.now.Add(time.Second)
		d.run(d.send(tea.ResumeMsg{}))
	}
	if h.Reads < 2 || h.Reads > 4 {
		t.Errorf("%d reads in three minutes, want 2 to 4", h.Reads)
	}
	reads := h.Reads
	if d.run(d.keys("-")); h.Reads != reads+1 {
		t.Errorf("another window caused %d reads, want 1", h.Reads-reads)
	}
	d.wants("LAST 1 H")
	h.Err = errors.New("history: no route to host")
	d.run(d.keys("-"))
	d.wants("The lanes may be incomplete. Reading the history failed: history: no route to host")
	for range 20 {
		d.now = d.now.Add(time.Second)
		d.run(d.send(tea.ResumeMsg{}))
	}
	if more := h.Reads - reads; more > 4 {
		t.Errorf("%d failed reads in 20 s, want at most 4", more)
	}
}

// Reads for the details would compete with the first read of the keys.
func TestDetailsAreReadAfterTheFirstResponse(t *testing.T) {
	for state, want := range map[election.ConnectionState]int{election.Connecting: 0, election.Lost: 1, election.Live: 1} {
		h, snap := uitest.Incident(), uitest.Recorded()
		snap.Connection.State = state
		d := drive(t, nil, 120, 36, func(o *Options) { o.History = h })
		if d.run(d.send(snap)); h.Reads != want || len(d.calls["study"]) != want {
			t.Errorf("%s: the dashboard reads the lanes %d times and studies %q", state, h.Reads, d.calls["study"])
		}
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
	d := drive(t, s, 80, 24)
	last := func() []string { return strings.Fields(d.calls["checks"][len(d.calls["checks"])-1]) }
	if d.send(s); len(d.calls["checks"]) != 1 {
		t.Errorf("WatchChecks was called for the same nodes: %q", d.calls["checks"])
	}
	if len(last()) != 16 || !slices.Contains(last()[:3], "node-1") || !strings.HasPrefix(last()[3], "far-") {
		t.Errorf("want 16 nodes with those of visible leaders first: %v", last())
	}
	for _, view := range []string{"enter", "2", "3"} { // the header counts failed leaders in every view
		if d.keys(view); len(last()) != 16 {
			t.Errorf("after %s, WatchChecks received %v, want 16 nodes", view, last())
		}
	}
	d.keys("1", "esc")
	if d.filter("advice:leader_failed"); len(last()) != 16 { // depends on the checks of elections that it hides
		t.Errorf("with a filter by advice, WatchChecks received %v, want 16 nodes", last())
	}
}
