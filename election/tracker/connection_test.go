package tracker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// linkScene returns a board of three elections that match two patterns and are read by three shards.
func linkScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, "service/*/leader", "vault/lock")
	s.observe(election.LinkUp{At: t0, Source: "probe", Latency: time.Millisecond})
	for _, r := range []election.Range{election.PrefixRange("service/"), election.KeyRange("vault/lock")} {
		var pairs []election.Pair
		for _, key := range []string{"service/a/leader", "service/b/leader", "vault/lock"} {
			if r.Contains(key) {
				pairs = append(pairs, election.Pair{Key: key, Session: "s", LockIndex: 1, CreateIndex: 5, ModifyIndex: 5})
			}
		}
		s.observe(election.KeysRead{At: t0, Range: r, Pairs: pairs})
	}
	s.events = nil
	return s
}

// lostShard returns the failure of the query for one prefix, 20 s after the start of the scene.
func lostShard(prefix string) election.LinkLost {
	at := t0.Add(20 * time.Second)
	return election.LinkLost{
		At: at, Source: prefix, Part: election.Part{Kind: election.PartKeys, Range: election.PrefixRange(prefix)}, Error: "request timed out",
		Since: t0.Add(5 * time.Second), RetryAt: at.Add(time.Second),
	}
}

func retrying(o election.LinkLost) election.LinkLost {
	o.RetryAt = time.Time{}
	return o
}

func TestFailingSourcesMakeTheirPartsStale(t *testing.T) {
	at := t0.Add(20 * time.Second)
	names := election.LinkLost{At: at, Source: "names", Part: election.Part{Kind: election.PartNames, Range: election.PrefixRange("service/")}, RetryAt: at}
	checks := election.LinkLost{At: at, Source: "checks", Part: election.Part{Kind: election.PartChecks, Node: "node-1"}, RetryAt: at}
	sessions := election.LinkLost{At: at, Source: "sessions", Part: election.Part{Kind: election.PartSessions}, RetryAt: at}
	probe := election.LinkLost{At: at, Source: "probe", Error: "refused", RetryAt: at}
	up := func(source string) election.LinkUp { return election.LinkUp{At: at.Add(time.Second), Source: source} }
	a, b, vault := lostShard("service/a"), lostShard("service/b"), lostShard("vault/")
	all := []election.Observation{a, b, vault, names}
	for what, c := range map[string]struct {
		Observed []election.Observation
		want     string // state, kinds of stale parts, stale elections, events
	}{
		"nothing":                      {nil, "live [] 0 of 3 []"},
		"a shard":                      {[]election.Observation{a}, "live [keys] 1 of 3 []"},
		"a shard, twice":               {[]election.Observation{a, a}, "live [keys] 1 of 3 []"},
		"a shard that recovered":       {[]election.Observation{a, up(a.Source)}, "live [] 0 of 3 []"},
		"a shard, the probe works":     {[]election.Observation{a, up("probe")}, "live [keys] 1 of 3 []"},
		"all shards of one pattern":    {[]election.Observation{a, b}, "live [keys keys] 2 of 3 []"},
		"all shards, the list works":   {all[:3], "live [keys keys keys] 3 of 3 []"},
		"all shards and the list":      {all, "lost [] 0 of 3 [connection_lost]"},
		"all except one shard":         {all[1:], "live [names keys keys] 2 of 3 []"},
		"all, while one retries":       {append(all[:2:2], names, retrying(vault)), "live [names keys keys keys] 3 of 3 []"},
		"all, then one recovers":       {append(all[:4:4], up("vault/")), "live [names keys keys] 2 of 3 [connection_lost connection_restored]"},
		"one query for everything":     {[]election.Observation{lostShard("")}, "lost [] 0 of 3 [connection_lost]"},
		"one query, while it retries":  {[]election.Observation{retrying(lostShard(""))}, "live [keys] 3 of 3 []"},
		"the probe":                    {[]election.Observation{probe}, "lost [] 0 of 3 [connection_lost]"},
		"the probe, then a shard":      {[]election.Observation{probe, a, up("probe")}, "live [keys] 1 of 3 [connection_lost connection_restored]"},
		"list, checks and sessions":    {[]election.Observation{names, checks, sessions}, "live [checks sessions names] 0 of 3 []"},
		"everything but the shards":    {[]election.Observation{names, checks, sessions, probe}, "lost [] 0 of 3 [connection_lost]"},
		"a range without any election": {[]election.Observation{lostShard("service/x")}, "live [keys] 0 of 3 []"},
	} {
		t.Run(what, func(t *testing.T) {
			s := linkScene(t)
			for _, o := range c.Observed {
				s.observe(o)
			}
			snapshot := s.tracker.Snapshot(at)
			var kinds []string
			for _, p := range snapshot.Connection.Stale {
				kinds = append(kinds, string(p.Kind))
			}
			var events []string
			for _, e := range s.events {
				events = append(events, string(e.Type))
			}
			got := fmt.Sprintf("%s [%s] %d of %d [%s]", snapshot.Connection.State, strings.Join(kinds, " "),
				snapshot.CountStale(), len(snapshot.Elections), strings.Join(events, " "))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestStaleElectionsHaveTheirAge(t *testing.T) {
	s := linkScene(t)
	s.observe(lostShard("service/a"))
	s.observe(election.LinkUp{At: t0.Add(21 * time.Second), Source: "probe", Latency: time.Millisecond})
	snapshot := s.tracker.Snapshot(t0.Add(21 * time.Second))
	since, stale := snapshot.StaleSince("service/a/leader")
	if !stale || !since.Equal(t0.Add(5*time.Second)) {
		t.Errorf("stale %v since %s, want true since %s", stale, since, t0.Add(5*time.Second))
	}
	if _, stale := snapshot.StaleSince("service/b/leader"); stale {
		t.Error("the election of another shard is stale, want only one stale election")
	}
	if c := snapshot.Connection; !c.LastContact.Equal(t0.Add(21*time.Second)) || c.Error != "" {
		t.Errorf("%+v", c)
	}

	// A later failure of the same source must not change StalePart.Since.
	again := lostShard("service/a")
	again.Since = t0.Add(19 * time.Second)
	s.observe(again)
	if since, _ := snapshot.StaleSince("service/a/leader"); !since.Equal(t0.Add(5 * time.Second)) {
		t.Error("an earlier snapshot changed")
	}
	s.observe(election.LinkLost{At: t0.Add(22 * time.Second), Source: "other", RetryAt: t0.Add(2 * time.Hour)})
	s.observe(election.LinkLost{At: t0.Add(22 * time.Second), Source: "probe", RetryAt: t0.Add(time.Hour)})
	if c := s.tracker.Snapshot(t0).Connection; !c.RetryAt.Equal(t0.Add(time.Hour)) {
		t.Errorf("the next attempt is at %s, want the earliest", c.RetryAt)
	}
	if since, stale := s.tracker.Snapshot(t0).StaleSince("service/b/leader"); !stale || !since.Equal(t0.Add(21*time.Second)) {
		t.Errorf("after the connection was lost: stale %v since %s, want true since %s", stale, since, t0.Add(21*time.Second))
	}
}
