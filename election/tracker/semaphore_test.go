package tracker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"electop/election"
)

// slots parses a state of a semaphore with the key service/web/leader: CreateIndex, ModifyIndex, the limit and the
// holders.
func slots(text string) election.Pair {
	words := strings.Fields(text)
	p := web("- 0 " + words[0] + " " + words[1])
	named := map[string]bool{}
	for _, id := range words[3:] {
		named[id] = true
	}
	p.Flags, p.Value = election.SemaphoreFlag, fmt.Appendf(nil, `{"Limit":%s,"Holders":`, words[2])
	holders, _ := json.Marshal(named) // cannot fail for this value
	p.Value = append(append(p.Value, holders...), '}')
	return p
}

// briefSlots formats events of holders as "type session holders/limit", other events like brief.
func briefSlots(events []election.Event) string {
	parts := make([]string, 0, len(events))
	for i := range events {
		e := &events[i]
		text := brief(events[i : i+1])
		if e.OfSlot() {
			text = strings.TrimSpace(fmt.Sprintf("%s %s", e.Type, e.Session)) + fmt.Sprintf(" %d/%d", e.Holders, e.Limit)
		}
		if e.Initial {
			text += " initial"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// A semaphore has no elected, vacated, updated or overwritten events. Its events report that a holder entered or
// left.
func TestASemaphoreHasHoldersAndNoLeader(t *testing.T) {
	for _, tt := range []struct {
		name, first, then string
		want              string // events of the second read
		state             election.State
	}{
		{"one enters", "slots 10 20 2 a", "slots 10 21 2 a b", "entered b 2/2", election.OfSemaphore},
		{"one leaves", "slots 10 20 2 a b", "slots 10 21 2 b", "left a 1/2", election.OfSemaphore},
		{"a slot moves", "slots 10 20 2 a b", "slots 10 21 2 b c", "left a 2/2, entered c 2/2", election.OfSemaphore},
		{"its value becomes invalid", "slots 10 20 2 a", "slots 10 21 x", "left a 0/0", election.OfSemaphore},
		{"appears", "", "slots 30 30 2 a", "entered a 1/2", election.OfSemaphore},
		{"appears without holders", "", "slots 30 30 2", "", election.OfSemaphore},
		{"deleted", "slots 10 20 2 a", "", "left a 0/0, deleted(0)", election.Vacant},
		{
			"deleted and created again", "slots 10 20 2 a b", "slots 30 31 2 b",
			"left a 0/0, left b 0/0, deleted(0), entered b 1/2", election.OfSemaphore,
		},
		{"a held lock becomes a semaphore", "x 3 10 20 v", "slots 10 21 2 a", "vacated(3), entered a 1/2", election.OfSemaphore},
		{"a semaphore becomes a vacant lock", "slots 10 20 2 a", "- 0 10 21 v", "left a 0/0", election.Vacant},
		{"a semaphore becomes a held lock", "slots 10 20 2 a", "x 1 10 22 v", "left a 0/0, elected(1)", election.Led},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.key(tt.first)
			if got := briefSlots(s.key(tt.then)); got != tt.want {
				t.Errorf("events %q, want %q", got, tt.want)
			}
			if e := s.web(); e.State(s.now) != tt.state {
				t.Errorf("%s, want %s", e.State(s.now), tt.state)
			}
		})
	}
}

func TestHoldersAreNamedIfTheirSessionsAreKnown(t *testing.T) {
	s := newScene(t)
	s.sessions(&election.Session{ID: "a", Name: "gpu-job", Node: "node-1"})
	if e := s.key("slots 10 20 2 a b"); e[0].Leader != "gpu-job" || e[0].Node != "node-1" || e[1].Leader+e[1].Node != "" {
		t.Errorf("%+v", e)
	}
	for i := range 200 { // idle sessions are dropped
		s.sessions(&election.Session{ID: fmt.Sprint("s", i)})
	}
	s.key("slots 10 21 2 a")
	if e := s.key("slots 10 22 2"); e[0].Session != "a" || e[0].Leader != "gpu-job" {
		t.Errorf("%+v", e)
	}
}
