package observe

import (
	"fmt"
	"slices"
	"testing"

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
		p := b.Prefix()
		s := b.Session()
		for _, key := range []string{"a/web", "a/mail", "b/web"} {
			b.Acquire(api.KVPair{Key: p + key, Session: s})
		}
		board := observe(t, b.Client, p+"a/*")
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
		unlock(t, b, p+"a/web", s)
		board.event(0, election.Explained, p+"a/web") // an election that no pattern selects is not explained
		unlock(t, b, p+"a/mail", s)                   // no pattern selects this key now
		board.o.SetPatterns(patterns(t, p+"a/*"))
		shows("mail", "web")
		board.o.SetPatterns(patterns(t, p+"c/*"))
		board.until("an empty board", func() bool { return board.last.Loaded && len(board.last.Elections) == 0 })
		b.Acquire(api.KVPair{Key: p + "c/new", Session: s})
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
