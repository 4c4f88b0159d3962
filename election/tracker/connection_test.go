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
		s.observe(election.KeysRead{At: t0, Range: r, Pairs: election.Pairs(pairs...)})
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

func TestFailingSourcesMakeTheirPartsStale(t *testing.T) {
	at := t0.Add(20 * time.Second)
	parts := map[string]election.Part{
		"names": {Kind: election.PartNames, Range: election.PrefixRange("service/")}, "checks": {Kind: election.PartChecks},
		"sessions": {Kind: election.PartSessions}, "probe": {},
	}
	for what, c := range map[string]struct {
		steps string // the sources that fail, "~" while they retry, "+" when they recover
		want  string // state, kinds of stale parts, stale elections, events
	}{
		"nothing":                      {"", "live [] 0 of 3 []"},
		"a shard":                      {"service/a", "live [keys] 1 of 3 []"},
		"a shard, twice":               {"service/a service/a", "live [keys] 1 of 3 []"},
		"a shard that recovered":       {"service/a +service/a", "live [] 0 of 3 []"},
		"a shard, the probe works":     {"service/a +probe", "live [keys] 1 of 3 []"},
		"all shards of one pattern":    {"service/a service/b", "live [keys keys] 2 of 3 []"},
		"all shards, the list works":   {"service/a service/b vault/", "live [keys keys keys] 3 of 3 []"},
		"all shards and the list":      {"service/a service/b vault/ names", "lost [] 0 of 3 [connection_lost]"},
		"all except one shard":         {"service/b vault/ names", "live [names keys keys] 2 of 3 []"},
		"all, while one retries":       {"service/a service/b names ~vault/", "live [names keys keys keys] 3 of 3 []"},
		"all, then one recovers":       {"service/a service/b vault/ names +vault/", "live [names keys keys] 2 of 3 [connection_lost connection_restored]"},
		"one query for everything":     {"/", "lost [] 0 of 3 [connection_lost]"},
		"one query, while it retries":  {"~/", "live [keys] 3 of 3 []"},
		"the probe":                    {"probe", "lost [] 0 of 3 [connection_lost]"},
		"the probe, then a shard":      {"probe service/a +probe", "live [keys] 1 of 3 [connection_lost connection_restored]"},
		"list, checks and sessions":    {"names checks sessions", "live [checks sessions names] 0 of 3 []"},
		"everything but the shards":    {"names checks sessions probe", "lost [] 0 of 3 [connection_lost]"},
		"a range without any election": {"service/x", "live [keys] 0 of 3 []"},
	} {
		t.Run(what, func(t *testing.T) {
			s := linkScene(t)
			for _, step := range strings.Fields(c.steps) {
				source := strings.TrimPrefix(strings.TrimLeft(step, "+~"), "/")
				lost := lostShard(source)
				if part, known := parts[source]; known {
					lost.Part, lost.Since = part, time.Time{}
				}
				switch step[0] {
				case '+':
					s.observe(election.LinkUp{At: at.Add(time.Second), Source: source})
					continue
				case '~':
					lost.RetryAt = time.Time{}
				}
				s.observe(lost)
			}
			snapshot := s.tracker.Snapshot(at)
			var kinds, events []string
			for _, p := range snapshot.Connection.Stale {
				kinds = append(kinds, string(p.Kind))
			}
			for _, e := range s.events {
				events = append(events, string(e.Type))
			}
			got := fmt.Sprint(snapshot.Connection.State, " ", kinds, " ", snapshot.CountStale(), " of ", len(snapshot.Elections), " ", events)
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

	// A later failure of the same source must not change the stale Since.
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
