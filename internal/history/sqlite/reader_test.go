package sqlite_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// decade records ten elections. The leader of one of them changes every second.
func decade(t *testing.T) *observer {
	o := newObserver(t, start())
	o.session("s1", "node-1")
	pairs := make([]election.Pair, 10)
	for i := range pairs {
		pairs[i] = pair("s1", 10, 1, 20)
		pairs[i].Key = fmt.Sprintf("service/web-%d/leader", i)
	}
	o.read(pairs...)
	for i := range uint64(200) {
		p := &pairs[i%10]
		if p.ModifyIndex = 100 + i; p.Session != "" {
			p.Session = ""
		} else {
			p.Session, p.LockIndex = "s1", p.LockIndex+1
		}
		o.after(time.Second).read(pairs...)
	}
	return o.after(time.Minute)
}

// pages reads all pages in one direction. It returns the events, newest first.
func pages(t *testing.T, f *sqlite.File, q history.EventQuery, older bool) (all []election.Event) {
	t.Helper()
	for {
		page, err := f.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if older {
			all, q.Before = append(all, page.Events...), page.Older
		} else {
			all, q.After = append(slices.Clone(page.Events), all...), page.Newer
		}
		if !page.More {
			return all
		}
	}
}

func TestPagesInBothDirections(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	f := open(t, path)
	want := stored(t, path)
	slices.Reverse(want)
	if _, err := f.Events(t.Context(), history.EventQuery{Filter: history.Filter{Names: []string{"mail"}}}); !errors.Is(err, history.ErrNoElection) {
		t.Error(err)
	}
	web3 := func(e election.Event) bool { return e.Election != "web-3" }
	for name, tt := range map[string]struct {
		query history.EventQuery
		drop  func(election.Event) bool
	}{
		"all":           {history.EventQuery{}, func(election.Event) bool { return false }},
		"one name":      {history.EventQuery{Filter: history.Filter{Names: []string{"web-3"}}}, web3},
		"one key":       {history.EventQuery{Filter: history.Filter{Names: []string{"service/web-3/leader"}}}, web3},
		"type":          {history.EventQuery{Types: []election.EventType{election.Vacated}}, func(e election.Event) bool { return e.Type != election.Vacated }},
		"rare type":     {history.EventQuery{Types: []election.EventType{election.Deleted}}, func(e election.Event) bool { return e.Type != election.Deleted }},
		"cause":         {history.EventQuery{Causes: []election.Cause{election.Unknown}}, func(e election.Event) bool { return e.Cause != election.Unknown }},
		"unlikely word": {history.EventQuery{Causes: []election.Cause{"' OR 1"}}, func(election.Event) bool { return true }},
		"two names": {history.EventQuery{Filter: history.Filter{Names: []string{"web-3", "web-4"}}},
			func(e election.Event) bool { return e.Election != "web-3" && e.Election != "web-4" }},
		"since and until": {history.EventQuery{Filter: history.Filter{Range: history.Range{Since: start().Add(time.Minute), Until: start().Add(2 * time.Minute)}}},
			func(e election.Event) bool {
				return e.Time.Before(start().Add(time.Minute)) || e.Time.After(start().Add(2*time.Minute))
			}},
	} {
		want := slices.DeleteFunc(slices.Clone(want), tt.drop)
		tt.query.Limit = 7
		if got := pages(t, f, tt.query, true); !slices.Equal(got, want) {
			t.Errorf("%s, older pages: %d events, want %d", name, len(got), len(want))
		}
		if len(want) == 0 {
			continue
		}
		first, err := f.Events(t.Context(), history.EventQuery{Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		tt.query.After = first.Older // the oldest event, which no page repeats
		got := pages(t, f, tt.query, false)
		if last := want[len(want)-1]; last == first.Events[len(first.Events)-1] {
			want = want[:len(want)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s, newer pages: %d events, want %d", name, len(got), len(want))
		}
	}
}

func TestACursorAndARangeBothLimitAPage(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	f := open(t, path)
	at := func(second int) time.Time { return start().Add(time.Duration(second) * time.Second) }
	for name, tt := range map[string]struct {
		q           history.EventQuery
		first, last time.Time
	}{
		"after":                       {history.EventQuery{After: history.CursorAt(at(50))}, at(50), at(1000)},
		"after, since":                {history.EventQuery{After: history.CursorAt(at(50)), Filter: history.Filter{Range: history.Range{Since: at(70)}}}, at(70), at(1000)},
		"until, before":               {history.EventQuery{Before: history.CursorAt(at(70)), Filter: history.Filter{Range: history.Range{Until: at(50)}}}, at(0), at(50)},
		"a range, in both directions": {history.EventQuery{After: history.CursorAt(at(50)), Before: history.CursorAt(at(70))}, at(50), at(69)},
	} {
		tt.q.Limit = 1 << 20
		page, err := f.Events(t.Context(), tt.q)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(o.events), func(e election.Event) bool { return e.Time.Before(tt.first) || e.Time.After(tt.last) })
		if len(page.Events) != len(want) || len(want) == 0 {
			t.Errorf("%s: %d events, want %d", name, len(page.Events), len(want))
		}
	}
}

// A client that follows the events receives those that are stored late.
func TestFollowingEvents(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	page, err := open(t, path).Events(t.Context(), history.EventQuery{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if next, err := open(t, path).Events(t.Context(), history.EventQuery{After: page.Newer}); err != nil || len(next.Events) > 0 || next.Newer != page.Newer {
		t.Fatalf("%v: %+v", err, next)
	}
	earlier := resume(t, path, o.now.Add(-30*time.Second)) // after the clock was set back
	earlier.read()
	record(t, path, earlier)
	var got []election.Event
	for more := true; more; more = page.More {
		if page, err = open(t, path).Events(t.Context(), history.EventQuery{After: page.Newer, Limit: 7}); err != nil {
			t.Fatal(err)
		}
		got = append(got, page.Events...)
	}
	if len(got) != len(earlier.events) || len(got) < 10 {
		t.Errorf("%d events, want %d", len(got), len(earlier.events))
	}
}
