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
		"since, after":                {history.EventQuery{After: history.CursorAt(at(70)), Filter: history.Filter{Range: history.Range{Since: at(50)}}}, at(70), at(1000)},
		"after, until":                {history.EventQuery{After: history.CursorAt(at(50)), Filter: history.Filter{Range: history.Range{Until: at(70)}}}, at(50), at(70)},
		"before, until":               {history.EventQuery{Before: history.CursorAt(at(50)), Filter: history.Filter{Range: history.Range{Until: at(70)}}}, at(0), at(49)},
		"until, before":               {history.EventQuery{Before: history.CursorAt(at(70)), Filter: history.Filter{Range: history.Range{Until: at(50)}}}, at(0), at(50)},
		"since, before":               {history.EventQuery{Before: history.CursorAt(at(70)), Filter: history.Filter{Range: history.Range{Since: at(50)}}}, at(50), at(69)},
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

func TestANewerPageContainsLaterEvents(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	f := open(t, path)
	page, err := f.Events(t.Context(), history.EventQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	next, err := f.Events(t.Context(), history.EventQuery{After: page.Newer})
	if err != nil || len(next.Events) > 0 || next.Newer != page.Newer {
		t.Fatalf("%v: %+v", err, next)
	}
	o.after(time.Minute)
	o.after(time.Minute)
	o = resume(t, path, o.now)
	added := o.read()
	record(t, path, o)
	if next, err = f.Events(t.Context(), history.EventQuery{After: page.Newer, Limit: 1000}); err != nil || len(next.Events) != len(added) {
		t.Errorf("%v: %d events, want %d", err, len(next.Events), len(added))
	}
}

func TestUnknownNames(t *testing.T) {
	path := newPath(t)
	record(t, path, decade(t))
	if _, err := open(t, path).Events(t.Context(), history.EventQuery{Filter: history.Filter{Names: []string{"mail"}}}); !errors.Is(err, history.ErrNoElection) {
		t.Error(err)
	}
}

func TestTermsAndStats(t *testing.T) {
	o, path := incident(t), newPath(t)
	record(t, path, o)
	terms := termsIn(t, path)
	if len(terms) != 2 {
		t.Fatalf("%+v", terms)
	}
	second, first := terms[0], terms[1]
	if first.StartKnown || first.Held(o.now) != 20*time.Minute || first.Cause != election.Unknown || first.Leader != "web-1b" ||
		first.Node != "node-1" || first.Vacancy == nil || *first.Vacancy != history.Seconds(15*time.Second) || first.Election != "web" {
		t.Errorf("%+v", first)
	}
	if second.Over() || !second.StartKnown || second.Number != 2 || second.Node != "node-2" || second.Vacancy != nil {
		t.Errorf("%+v", second)
	}
	// The stored period of observation uses the real time. This period uses the time of the test.
	st, err := open(t, path).Stats(t.Context(), history.Filter{Range: history.Range{Since: start(), Until: start().Add(time.Hour)}})
	if err != nil || len(st.Elections) != 1 {
		t.Fatalf("%v: %+v", err, st)
	}
	s := st.Elections[0]
	hour := history.Seconds(time.Hour)
	if lost := history.Seconds(15 * time.Second); s.Terms != 2 || s.Observed != hour || s.Led != hour-lost || s.AvailabilityMin == nil || *s.AvailabilityMin < 0.99 || *s.AvailabilityMax > 0.996 ||
		s.Vacancies != 1 || s.VacancyP50 != lost || s.VacancyP95 != lost || s.VacancyMax != lost || s.Causes[election.Unknown] != 1 {
		t.Errorf("%+v", s)
	}
	if s.Longest != history.Seconds(39*time.Minute+45*time.Second) || s.Mean != (hour/3+s.Longest)/2 {
		t.Errorf("mean %d, longest %d", s.Mean, s.Longest)
	}
	if st.LongestGap != 0 || st.Total.Terms != 2 || st.Total.VacancyMax != history.Seconds(15*time.Second) {
		t.Errorf("%+v", st)
	}
}

// TestStateAtEachMomentIsThatOfTheLiveBoard compares the stored states with the tracker's snapshots at the same
// times.
func TestStateAtEachMomentIsThatOfTheLiveBoard(t *testing.T) {
	o, path := newObserver(t, start()), newPath(t)
	o.session("s1", "node-1")
	o.session("s2", "node-2")
	free := pair("", 10, 1, 30)
	free.Value = []byte("web-1b")
	changed := pair("s1", 10, 1, 25)
	changed.Value = []byte("web-1b")
	slots := pair("", 5, 0, 7)
	slots.Key, slots.Flags, slots.Value = "service/jobs/leader", election.SemaphoreFlag, []byte(`{"Limit":2,"Holders":{"s1":true,"s2":true}}`)
	fewer := slots
	fewer.ModifyIndex, fewer.Value = 33, []byte(`{"Limit":2,"Holders":{"s2":true}}`)
	var live []*election.Snapshot
	for _, pairs := range [][]election.Pair{
		{slots, pair("s1", 10, 1, 20)}, {slots, changed}, {fewer, free}, {fewer, pair("", 10, 0, 35)}, {fewer, pair("s2", 10, 1, 40)}, {fewer}, {fewer},
		{fewer, pair("s1", 90, 1, 90)},
	} {
		o.read(pairs...)
		live = append(live, o.tracker.Snapshot(o.now))
		o.after(500 * time.Millisecond)
		live = append(live, o.tracker.Snapshot(o.now))
		o.after(700 * time.Millisecond) // after this time, the cause is known
		live = append(live, o.tracker.Snapshot(o.now))
		o.after(5 * time.Minute)
	}
	record(t, path, o)
	f := open(t, path)
	for _, want := range live {
		got, err := f.State(t.Context(), history.StateQuery{At: want.At})
		if err != nil || len(got.Elections) != len(want.Elections) {
			t.Fatalf("%v: %d elections at %s", err, len(got.Elections), want.At)
		}
		for i, w := range want.Elections {
			if g := got.Elections[i]; describe(g, want.At) != describe(w, want.At) {
				t.Errorf("at %s\n got %s\nwant %s", want.At.Format(time.TimeOnly), describe(g, want.At), describe(w, want.At))
			} else if g.Pair.ModifyIndex == 0 || g.Pair.ModifyIndex > w.Pair.ModifyIndex || g.Pair.LockIndex != w.Pair.LockIndex {
				t.Errorf("at %s: ModifyIndex %d, LockIndex %d; on the live board %d and %d", want.At.Format(time.TimeOnly),
					g.Pair.ModifyIndex, g.Pair.LockIndex, w.Pair.ModifyIndex, w.Pair.LockIndex)
			}
		}
	}
}

// describe formats the fields of an election that a history contains.
func describe(e *election.Election, at time.Time) string {
	text := fmt.Sprintf("%s %s exists %t leader %q term %d since %s %t vacant %s %t delay %s changes %d", e.Key(), e.State(at), e.Exists,
		e.Leader, e.Term, election.FormatTime(e.Since), e.SinceKnown, election.FormatTime(e.VacantSince), e.VacantSinceKnown,
		election.FormatTime(e.LockDelayUntil), e.Changes(at, time.Hour))
	for _, t := range e.Terms {
		text += fmt.Sprintf("; %d %s %s %s %s %q", t.Number, t.Leader, t.Node, election.FormatTime(t.Start), election.FormatTime(t.End), t.Cause)
	}
	if slots, ok := e.Pair.Slots(); ok {
		text += fmt.Sprint("; ", slots)
	}
	return text
}
