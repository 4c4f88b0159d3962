package observe

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// namesOn returns the names of the elections on the board.
func (b *board) namesOn() []string {
	var names []string
	if b.last.Loaded {
		for _, e := range b.last.Elections {
			names = append(names, e.Name)
		}
	}
	return names
}

func TestPatternsChangeWhileObserving(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		s := b.Session(t, &api.SessionEntry{})
		for _, key := range []string{"a/web", "a/mail", "b/web"} {
			b.Acquire(t, api.KVPair{Key: p + key, Session: s})
		}
		board := observe(t, b.client, p+"a/*")
		shows := func(names ...string) {
			t.Helper()
			board.until(fmt.Sprint(names), func() bool { return slices.Equal(board.namesOn(), names) })
		}
		shows("mail", "web")
		for _, e := range board.of(p + "a/web") {
			if !e.Initial {
				t.Errorf("%+v", e)
			}
		}
		board.o.SetPatterns(patterns(t, p+"a/*", p+"b/*"))
		shows("mail", "web", "web")
		board.o.SetPatterns(patterns(t, p+"**", "!"+p+"a/mail"))
		shows("a/web", "b/web")
		b.unlock(t, p+"a/web", s)
		board.event(0, election.Explained, p+"a/web") // an election that no pattern selects is not explained
		b.unlock(t, p+"a/mail", s)                    // no pattern selects this key now
		board.o.SetPatterns(patterns(t, p+"a/*"))
		shows("mail", "web")
		board.o.SetPatterns(patterns(t, p+"c/*"))
		board.until("an empty board", func() bool { return board.last.Loaded && len(board.last.Elections) == 0 })
		b.Acquire(t, api.KVPair{Key: p + "c/new", Session: s})
		board.event(0, election.Elected, p+"c/new")
		board.until("events", func() bool {
			for _, e := range board.events {
				if e.Type == election.Deleted || e.Type == election.Missed || e.Type == election.ConnectionLost {
					t.Errorf("%+v", e)
				}
			}
			return true
		})
		if got := typesOf(board.of(p + "a/web")); !slices.Equal(got, []string{"elected initial", "vacated", "explained"}) {
			t.Errorf("a/web: %v", got)
		}
		if got := typesOf(board.of(p + "a/mail")); !slices.Equal(got, []string{"elected initial", "vacated initial"}) {
			t.Errorf("a/mail: %v", got)
		}
		if got := typesOf(board.of(p + "b/web")); !slices.Equal(got, []string{"elected initial"}) {
			t.Errorf("b/web: %v", got)
		}
	})
}

func typesOf(events []election.Event) []string {
	var types []string
	for _, e := range events {
		name := string(e.Type)
		if e.Initial {
			name += " initial"
		}
		types = append(types, name)
	}
	return types
}

// While the patterns change, every term of an election that all patterns select must be reported or counted as
// missed.
func TestPatternsChangeDuringFailovers(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		s := b.Session(t, &api.SessionEntry{})
		key := p + "a/web"
		b.Acquire(t, api.KVPair{Key: key, Session: s})
		board := observe(t, b.client, p+"a/*")
		board.loaded()
		// Consul counts the connection of each cancelled query for 22 s, and accepts 200 connections.
		const terms, changes = 200, 60
		var workers sync.WaitGroup
		done := make(chan struct{})
		workers.Go(func() {
			defer close(done)
			for range terms {
				b.unlock(t, key, s)
				b.Acquire(t, api.KVPair{Key: key, Session: s})
			}
		})
		workers.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for i := range changes {
				select {
				case <-done:
					return
				case <-pace.C:
					board.o.SetPatterns(patterns(t, p+"a/*", fmt.Sprint(p, i%2, "/*")))
				}
			}
		})
		workers.Wait()
		board.until("the last term and its event", func() bool { // a snapshot may arrive before its events
			e := board.last.Find(election.KeyID(key))
			latest := slices.IndexFunc(board.events, func(e election.Event) bool {
				return e.Key == key && e.Type == election.Elected && e.Term == terms+1
			})
			return e != nil && e.Term == terms+1 && e.Exists && latest >= 0
		})
		elected, missed := 0, 0
		for _, e := range board.of(key) {
			switch e.Type {
			case election.Elected:
				elected++
			case election.Missed:
				missed += int(e.Count)
			case election.Deleted, election.Overwritten, election.Unreadable:
				t.Errorf("%+v", e)
			default:
			}
		}
		if elected+missed != terms+1 {
			t.Errorf("%d terms elected and %d missed, want %d", elected, missed, terms+1)
		}
	})
}
