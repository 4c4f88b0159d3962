package tracker

import (
	"fmt"
	"testing"
	"time"

	"electop/election"
)

// permission is a board of n elections with leaders, named s00, s01 and so on.
type permission struct {
	*scene
	pairs []election.Pair
}

func newPermission(t *testing.T, n int) *permission {
	t.Helper()
	p := &permission{scene: newScene(t)}
	for i := range n {
		pair := web("a", 1, 10, 20, "v")
		pair.Key = fmt.Sprintf("service/s%02d/leader", i)
		p.pairs = append(p.pairs, pair)
	}
	p.read()
	p.read(p.pairs...)
	return p
}

// only reads the board with a token that can read the first n keys.
func (p *permission) only(n int) []election.Event {
	p.now = p.now.Add(time.Second)
	var hidden []string
	for _, pair := range p.pairs[n:] {
		hidden = append(hidden, pair.Key)
	}
	return p.observe(election.KeysRead{At: p.now, Range: election.PrefixRange("service/"), Filtered: true, Pairs: p.pairs[:n], Hidden: hidden})
}

func TestLostAndRegainedPermissionsAreEvents(t *testing.T) {
	for _, tt := range []struct {
		name            string
		elections, left int
		lost, regained  int // number of events
	}{
		{"all of a few elections", 3, 0, 3, 3},
		{"some of a few elections", 3, 2, 1, 1},
		{"some of many elections", 40, 20, 20, 1}, // all unreadable keys become readable in one read
		{"all of many elections", 40, 0, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPermission(t, tt.elections)
			lost := p.only(tt.left)
			if len(lost) != tt.lost || len(p.only(tt.left)) != 0 {
				t.Errorf("%d events, want %d, and no events of a second read", len(lost), tt.lost)
			}
			checkCount(t, lost, election.Unreadable, tt.elections-tt.left)
			for i, e := range p.tracker.Snapshot(p.now).Elections {
				if e.Unreadable != (i >= tt.left) || e.State(p.now) != election.Led || e.Leader != "v" {
					t.Errorf("%s: unreadable %v, %s, leader %q", e.Name, e.Unreadable, e.State(p.now), e.Leader)
				}
				if last := e.Events[len(e.Events)-1]; e.Unreadable != (last.Type == election.Unreadable) {
					t.Errorf("%s: the latest event %s does not match the field Unreadable", e.Name, last.Type)
				}
			}
			regained := p.read(p.pairs...)
			if len(regained) != tt.regained {
				t.Errorf("%d events, want %d", len(regained), tt.regained)
			}
			checkCount(t, regained, election.Readable, tt.elections-tt.left)
			if p.tracker.unreadable != 0 {
				t.Errorf("%d unreadable", p.tracker.unreadable)
			}
		})
	}
}

// checkCount checks that the events report n elections, in one event each or in one event for all.
func checkCount(t *testing.T, events []election.Event, kind election.EventType, n int) {
	t.Helper()
	told := 0
	for _, e := range events {
		told++
		if e.Key == "" {
			told += int(e.Count) - 1
			if e.Prefix != "service/" {
				t.Errorf("prefix %q", e.Prefix)
			}
		}
		if e.Type != kind {
			t.Errorf("%s", e.Type)
		}
	}
	if told != n {
		t.Errorf("%d elections became %s, but the events report %d", n, kind, told)
	}
}
