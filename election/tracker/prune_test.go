package tracker

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"electop/election"
)

// churn simulates a datacenter in which locks with new names are acquired, handed over, released and deleted. It also
// adds and removes nodes.
type churn struct {
	*scene
	next  int
	index uint64
	most  int // maximum number of concurrent elections
}

// play simulates ten new names per second for d, observed in steps of ten seconds. Each lock exists for one step.
func (c *churn) play(d time.Duration) {
	const step = 10 * time.Second
	var pairs []election.Pair
	for range int(d / step) {
		c.now = c.now.Add(step)
		for i := range pairs { // each lock of the previous step gets another holder once
			p := &pairs[i]
			c.index++
			p.Session, p.LockIndex, p.ModifyIndex = p.Session+"b", 2, c.index
		}
		c.look(pairs)
		pairs = pairs[:0:0]
		for range 100 {
			c.next++
			c.index++
			pairs = append(pairs, election.Pair{
				Key: fmt.Sprintf("service/job-%09d/leader", c.next), Value: bytes.Repeat([]byte("x"), 4<<10), Session: fmt.Sprint("s", c.next),
				LockIndex: 1, CreateIndex: c.index, ModifyIndex: c.index,
			})
		}
		c.look(pairs)
	}
	c.look(nil)
}

// look makes the observations of one step: the sessions of new holders, the keys, the checks of a node, and the
// evidence of every second loss.
func (c *churn) look(pairs []election.Pair) {
	sessions := make([]*election.Session, 0, len(pairs))
	for _, p := range pairs {
		sessions = append(sessions, &election.Session{ID: p.Session, Name: "job", Node: fmt.Sprint("node-", c.next/1000), LockDelay: time.Second})
	}
	t := c.tracker
	t.Observe(election.SessionsRead{At: c.now, Sessions: sessions})
	t.Observe(election.OperatorAction{At: c.now, Kind: election.ActionDestroy, Session: fmt.Sprint("s", c.next), Stage: election.ActionDone})
	t.Observe(election.ChecksRead{At: c.now, Node: fmt.Sprint("node-", c.next/1000), Checks: []election.Check{{ID: "serfHealth", Output: "ok"}}})
	lost := t.Observe(election.KeysRead{At: c.now, Range: election.PrefixRange("service/"), Pairs: pairs})
	for i, e := range lost {
		if e.Type == election.Vacated && i%2 == 0 { // the other losses are explained at their deadline
			t.Observe(election.TermEvidence{At: c.now, Event: e, Outcome: election.Evidence{SessionRead: true}})
		}
	}
	c.most = max(c.most, len(t.elections))
}

// After a month with ten new lock names per second, the tracker must not keep more data than after a day. The test
// simulates 20 seconds of each hour.
func TestAMonthOfNewNamesIsBounded(t *testing.T) {
	hours := 30 * 24
	if testing.Short() {
		hours = 48
	}
	s := newScene(t)
	c := &churn{scene: s}
	before := heapInUse()
	for range hours {
		c.play(20 * time.Second)
		s.now = s.now.Add(time.Hour - 20*time.Second)
		s.tracker.Observe(election.Clock{At: s.now})
	}
	tr := s.tracker
	tr.out = nil     // the caller owns the returned events
	const live = 200 // elections of the current and of the previous step
	for _, bound := range []struct {
		what     string
		n, limit int
	}{
		{"elections at the same time", c.most, maxGone + maxGone/4 + 2*live},
		{"elections", len(tr.elections), maxGone + live},
		{"sessions", len(tr.sessions), 2*len(tr.elections) + 64},
		{"unread sessions", len(tr.unread), live},
		{"keys whose indexes decreased", len(tr.peaks), len(tr.elections)},
		{"nodes with checks", len(tr.checks), maxCheckedNodes},
		{"recent events", len(tr.recent), 2 * defaultRecentEvents},
		{"losses without a cause", len(tr.pending) + len(tr.ends), 0},
		{"actions", len(tr.actions), 8},
		{"links", len(tr.links), 0},
		{"filtered ranges", len(tr.filtered), 0},
		{"covered ranges", len(tr.covered.Ranges), 1},
	} {
		if bound.n > bound.limit {
			t.Errorf("%d %s, want at most %d", bound.n, bound.what, bound.limit)
		}
	}
	for _, e := range tr.elections {
		if !e.Exists && len(e.Pair.Value) > maxGoneValue {
			t.Fatalf("the tracker keeps a value of %d bytes of a deleted key, want at most %d", len(e.Pair.Value), maxGoneValue)
		}
	}
	if grown := int64(heapInUse()) - int64(before); grown > 16<<20 {
		t.Errorf("after %d names, the tracker uses %d bytes, want at most %d", c.next, grown, 16<<20)
	} else {
		t.Logf("after %d names, the tracker uses %d KB", c.next, grown>>10)
	}
}

func TestElectionsDeletedLongestAgoAreDroppedFirst(t *testing.T) {
	s := newScene(t)
	const n = maxGone + 600
	pairs := make([]election.Pair, n)
	for i := range pairs {
		pairs[i] = election.Pair{Key: fmt.Sprintf("service/%05d/leader", i), Session: "a", LockIndex: 1, CreateIndex: uint64(i + 1), ModifyIndex: uint64(i + 1)}
	}
	s.read(pairs...)
	s.read(pairs[:n/2]...) // the upper half expires first
	s.read()
	all := s.tracker.Snapshot(s.now).Elections
	if len(all) != maxGone || s.tracker.gone != maxGone {
		t.Fatalf("the tracker keeps %d elections, %d of them deleted; want %d deleted ones", len(all), s.tracker.gone, maxGone)
	}
	if all[0].Name != "00000" || all[n/2-1].Name != fmt.Sprintf("%05d", n/2-1) {
		t.Errorf("from %s", all[0].Name)
	}
	// An election whose key exists again does not count as deleted.
	s.read(pairs[0])
	if s.tracker.gone != maxGone-1 || s.tracker.Snapshot(s.now).Find(election.KeyID(pairs[0].Key)).State(s.now) != election.Led {
		t.Errorf("%d gone", s.tracker.gone)
	}
}

// With more elections, the tracker keeps fewer events per election.
func TestHistoriesAreBoundedTogether(t *testing.T) {
	for _, tt := range []struct{ elections, keep int }{{1, 64}, {4096, 64}, {4097, 32}, {10_000, 16}, {100_000, 4}, {1 << 20, 4}} {
		if got := historyLimit(tt.elections); got != tt.keep {
			t.Errorf("the limit for %d elections is %d events each, want %d", tt.elections, got, tt.keep)
		}
	}
	s := newScene(t)
	for i := range uint64(100) {
		s.read(web(fmt.Sprint("s", i), i+1, 10, 20+i, "v"))
	}
	if e := s.web(); len(e.Terms) != keptPerElection || len(e.Events) != keptPerElection {
		t.Fatalf("the tracker keeps %d terms and %d events, want %d of each", len(e.Terms), len(e.Events), keptPerElection)
	}
	shown := s.tracker.Snapshot(s.now)
	was := everything(shown)
	pairs := make([]election.Pair, 0, 5001)
	for i := range 5000 {
		pairs = append(pairs, election.Pair{Key: fmt.Sprintf("service/%05d/leader", i)})
	}
	latest := s.web().Terms[keptPerElection-1]
	s.read(append(pairs, web("s99", 100, 10, 119, "v"))...)
	if e := s.web(); len(e.Terms) != 32 || len(e.Events) != 32 || e.Terms[31] != latest {
		t.Errorf("the tracker keeps %d terms and %d events, the latest term is %+v; want 32 of each, and %+v", len(e.Terms), len(e.Events), e.Terms[len(e.Terms)-1], latest)
	}
	if everything(shown) != was {
		t.Error("an earlier snapshot changed")
	}
}

// The tracker drops sessions without keys even if some keys never become readable.
func TestIdleSessionsAreBoundedBeforeEverythingIsRead(t *testing.T) {
	s := newScene(t, "service/*/leader", "denied/*")
	for i := range 3 * maxIdleSessions / 1000 {
		batch := make([]*election.Session, 1000)
		for j := range batch {
			batch[j] = &election.Session{ID: fmt.Sprint(i, "-", j)}
		}
		s.sessions(batch...)
		s.read(web("a", 1, 10, 20, "v"))
	}
	if n := len(s.tracker.sessions); n > maxIdleSessions+1000 {
		t.Errorf("%d sessions", n)
	}
}

func TestFilteredRangesAreBounded(t *testing.T) {
	s := newScene(t)
	for i := range 2 * maxFiltered {
		s.observe(election.KeysRead{At: s.now, Range: election.KeyRange(fmt.Sprint("service/", i, "/leader")), Filtered: true})
	}
	if n := len(s.tracker.filtered); n != maxFiltered {
		t.Errorf("%d ranges", n)
	}
	s.observe(election.KeysRead{At: s.now, Range: election.PrefixRange("service/")})
	if s.tracker.Snapshot(s.now).Filtered {
		t.Error("the snapshot is filtered after an unfiltered read")
	}
}
