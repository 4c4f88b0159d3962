package tracker

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"electop/election"
)

// slotKey returns the key service/web/leader with the value of a semaphore that has these holders.
func slotKey(create, modify uint64, limit int, holders ...string) election.Pair {
	named := map[string]bool{}
	for _, id := range holders {
		named[id] = true
	}
	value, _ := json.Marshal(map[string]any{"Limit": limit, "Holders": named}) // json.Marshal cannot fail for this value
	p := web("", 0, create, modify, string(value))
	p.Flags = election.SemaphoreFlag
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
	none := election.Pair{}
	unreadable := slotKey(10, 21, 0)
	unreadable.Value = []byte("no JSON")
	for _, tt := range []struct {
		name  string
		first election.Pair
		then  election.Pair
		want  string // events of the second read
		state election.State
	}{
		{"one enters", slotKey(10, 20, 2, "a"), slotKey(10, 21, 2, "a", "b"), "entered b 2/2", election.OfSemaphore},
		{"one leaves", slotKey(10, 20, 2, "a", "b"), slotKey(10, 21, 2, "b"), "left a 1/2", election.OfSemaphore},
		{"a slot moves", slotKey(10, 20, 2, "a", "b"), slotKey(10, 21, 2, "b", "c"), "left a 2/2, entered c 2/2", election.OfSemaphore},
		{"its value becomes invalid", slotKey(10, 20, 2, "a"), unreadable, "left a 0/0", election.OfSemaphore},
		{"appears", none, slotKey(30, 30, 2, "a"), "entered a 1/2", election.OfSemaphore},
		{"appears without holders", none, slotKey(30, 30, 2), "", election.OfSemaphore},
		{"deleted", slotKey(10, 20, 2, "a"), none, "left a 0/0, deleted(0)", election.Vacant},
		{
			"deleted and created again", slotKey(10, 20, 2, "a", "b"), slotKey(30, 31, 2, "b"),
			"left a 0/0, left b 0/0, deleted(0), entered b 1/2", election.OfSemaphore,
		},
		{"a held lock becomes a semaphore", web("x", 3, 10, 20, "v"), slotKey(10, 21, 2, "a"), "vacated(3), entered a 1/2", election.OfSemaphore},
		{"a semaphore becomes a vacant lock", slotKey(10, 20, 2, "a"), web("", 0, 10, 21, "v"), "left a 0/0", election.Vacant},
		{"a semaphore becomes a held lock", slotKey(10, 20, 2, "a"), web("x", 1, 10, 22, "v"), "left a 0/0, elected(1)", election.Led},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			for i, p := range []election.Pair{tt.first, tt.then} {
				s.events = nil
				if p.Key == "" {
					s.read()
				} else {
					s.read(p)
				}
				if got := briefSlots(s.events); i == 1 && got != tt.want {
					t.Errorf("events %q, want %q", got, tt.want)
				}
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
	if e := s.read(slotKey(10, 20, 2, "a", "b")); e[0].Leader != "gpu-job" || e[0].Node != "node-1" || e[1].Leader+e[1].Node != "" {
		t.Errorf("%+v", e)
	}
	for i := range 200 { // idle sessions are dropped
		s.sessions(&election.Session{ID: fmt.Sprint("s", i)})
	}
	s.read(slotKey(10, 21, 2, "a"))
	if e := s.read(slotKey(10, 22, 2)); e[0].Session != "a" || e[0].Leader != "gpu-job" {
		t.Errorf("%+v", e)
	}
}
