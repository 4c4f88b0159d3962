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

// pages reads all pages from a cursor.
func pages(t *testing.T, f *sqlite.File, q history.EventQuery, from history.Cursor) (all []election.Event) {
	t.Helper()
	for q.Page = from; ; {
		page, err := f.Events(t.Context(), q)
		must(t, err)
		if all, q.Page = append(all, page.Items...), page.Next; !page.More {
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
		if got := pages(t, f, tt.query, ""); !slices.Equal(got, want) {
			t.Errorf("%s, newest first: %d events, want %d", name, len(got), len(want))
		}
		slices.Reverse(want)
		if got := pages(t, f, tt.query, history.Oldest); !slices.Equal(got, want) {
			t.Errorf("%s, oldest first: %d events, want %d", name, len(got), len(want))
		}
	}
}

func TestACursorAndARangeBothLimitAPage(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	f := open(t, path)
	at := func(second int) time.Time { return start().Add(time.Duration(second) * time.Second) }
	cursor := func(order string, at time.Time) history.Cursor {
		return history.Cursor(fmt.Sprintf("%s%d.0", order, at.UnixNano()))
	}
	after := func(second int) history.Cursor { return cursor("n", at(second)) }
	before := func(second int) history.Cursor { return cursor("o", at(second)) }
	for name, tt := range map[string]struct {
		q           history.EventQuery
		first, last time.Time
	}{
		"newer":          {history.EventQuery{Page: after(50)}, at(50), at(1000)},
		"newer, since":   {history.EventQuery{Page: after(50), Filter: history.Filter{Range: history.Range{Since: at(70)}}}, at(70), at(1000)},
		"newer, until":   {history.EventQuery{Page: after(50), Filter: history.Filter{Range: history.Range{Until: at(70)}}}, at(50), at(70)},
		"older, until":   {history.EventQuery{Page: before(70), Filter: history.Filter{Range: history.Range{Until: at(50)}}}, at(0), at(50)},
		"older, a range": {history.EventQuery{Page: before(70), Filter: history.Filter{Range: history.Range{Since: at(50), Until: at(90)}}}, at(50), at(69)},
	} {
		tt.q.Limit = 1 << 20
		page, err := f.Events(t.Context(), tt.q)
		must(t, err)
		want := slices.DeleteFunc(slices.Clone(o.events), func(e election.Event) bool { return e.Time.Before(tt.first) || e.Time.After(tt.last) })
		if len(page.Items) != len(want) || len(want) == 0 {
			t.Errorf("%s: %d events, want %d", name, len(page.Items), len(want))
		}
	}
}

// A client that follows the events receives those that are stored late.
func TestFollowingEvents(t *testing.T) {
	o, path := decade(t), newPath(t)
	record(t, path, o)
	var page history.EventPage
	follow := func(from history.Cursor) (got []election.Event) {
		page.Next, page.More = from, true
		for page.More {
			var err error
			if page, err = open(t, path).Events(t.Context(), history.EventQuery{Page: page.Next, Limit: 7}); err != nil {
				t.Fatal(err)
			}
			got = append(got, page.Items...)
		}
		return got
	}
	all := len(stored(t, path))
	if got := follow("s0.0"); len(got) != all {
		t.Errorf("%d events, want %d", len(got), all)
	}
	end := page.Next
	if got := follow(history.Oldest); len(got) != all || page.Next != end {
		t.Errorf("%d events, want %d; %s, want %s", len(got), all, page.Next, end)
	}
	if got := follow(end); len(got) > 0 || page.Next != end {
		t.Fatalf("%+v", got)
	}
	earlier := resume(t, path, o.now.Add(-30*time.Second)) // after the clock was set back
	earlier.read()
	record(t, path, earlier)
	if got := follow(end); len(got) != len(earlier.events) || len(got) < 10 {
		t.Errorf("%d events, want %d", len(got), len(earlier.events))
	}
}

// A key that was deleted before a period is not an election without a leader in it.
func TestStatisticsOmitKeysDeletedBeforeThePeriod(t *testing.T) {
	path, o := newPath(t), newObserver(t, start())
	o.read(pair("a", 5, 1, 10))
	o.now = o.now.Add(time.Minute)
	o.read()
	o.now = o.now.Add(time.Hour)
	o.observe(election.KeysRead{At: o.now, Range: election.PrefixRange("service/")})
	record(t, path, o)
	for since, want := range map[time.Duration]int{0: 1, time.Minute: 1, 2 * time.Minute: 0} {
		st := stats(t, path, start().Add(since), o.now)
		if len(st.Elections) != want || st.Total.Terms != want {
			t.Errorf("from %s: %+v, want %d elections", since, st, want)
		}
	}
}

// The sums over many elections exceed 292 years, the maximum of time.Duration.
func TestStatisticsOfManyElectionsDoNotOverflow(t *testing.T) {
	path, o := newPath(t), newObserver(t, daysAgo(90))
	o.read(pair("a", 5, 1, 10))
	record(t, path, o)
	inSQL(t, path, `WITH RECURSIVE n (value) AS (SELECT 100 UNION ALL SELECT value + 1 FROM n WHERE value < 4000)
		INSERT INTO elections (id, datacenter, key, name, found, term) SELECT value, 'dc1', 'service/web-' || value || '/leader', value, found, term FROM elections, n;
		INSERT INTO terms (election, create_index, number, session, leader, node, started, start_known)
			SELECT e.id, 1, 1, 's', '', '', started, 1 FROM elections e, terms`)
	st := stats(t, path, time.Time{}, time.Time{})
	if float64(st.Total.Observed) < 3900*90*24*3600e9 || st.Total.AvailabilityMin == nil || *st.Total.AvailabilityMin != 1 || st.Total.Mean <= 0 {
		t.Errorf("%+v", st.Total)
	}
}
