package ui

import (
	"context"
	"slices"
	"strings"
	"testing"

	"electop/election"
	"electop/election/insight"
)

// discovers sets a search that finds several groups of locks.
func discovers(o *Options) {
	fake(o).onDiscover = func(_ context.Context, _ string, progress func(done, total int)) (DiscoveredLocks, error) {
		progress(10_040, 10_040)
		return DiscoveredLocks{Scanned: 10_040, FoundLocks: insight.FoundLocks{
			Locks: 11, Unwatched: 4, Groups: []insight.LockGroup{
				{Pattern: "jobs/*/.lock", Locked: 2, Unlocked: 1, Software: map[string]int{"consul lock": 3}, Keys: []string{"jobs/a/.lock", "jobs/b/.lock", "jobs/c/.lock"}, Excluded: []string{"!jobs/x/.lock"}},
				{Pattern: "service/*/leader", Locked: 6, Unlocked: 1, Watched: 7, Software: map[string]int{"Consul guide": 4, "Patroni": 3}, Keys: make([]string, 7)},
				{Pattern: "service/*/members/*", Members: true, Locked: 6, Software: map[string]int{"Patroni member": 6}, Keys: make([]string, 6)},
				{Pattern: "slots/.lock", Semaphores: 1, Software: map[string]int{"semaphore": 1}, Keys: []string{"slots/.lock"}},
			},
		}}, nil
	}
}

func TestPatternsChangeByCommands(t *testing.T) {
	var set []election.Patterns
	d := drive(t, mixedSnapshot(), 120, 36, discovers, func(o *Options) {
		fake(o).onSetPatterns = func(ps election.Patterns) { set = append(set, ps) }
	})
	last := func() []string {
		if len(set) == 0 {
			return nil
		}
		return set[len(set)-1].Strings()
	}
	for _, step := range []struct {
		command, says string
		want          []string
	}{
		{"watch", "Already watched: service/*/leader", nil},
		{"watch service/*/leader", "Already watched", nil},
		{"watch a**b", "** must be a whole segment", nil},
		{"unwatch service/*/leader", "only pattern", nil},
		{"unwatch jobs/*", "Not a watched pattern", nil},
		{"watch /jobs/*", "Watching service/*/leader, jobs/*", []string{"service/*/leader", "jobs/*"}},
		{"watch !service/web/*", "Watching", []string{"service/*/leader", "jobs/*", "!service/web/*"}},
		{"unwatch service/*/leader", "Watching jobs/*, !service/web/*", []string{"jobs/*", "!service/web/*"}},
		{"unwatch jobs/*", "only pattern", []string{"jobs/*", "!service/web/*"}},
		{"unwatch !service/web/*", "Watching jobs/*", []string{"jobs/*"}},
	} {
		d.keys(":", "'"+step.command, "enter")
		if got := last(); !slices.Equal(got, step.want) {
			t.Errorf(":%s: %q, want %q", step.command, got, step.want)
		}
		if text := d.text(); !strings.Contains(text, step.says) {
			t.Errorf(":%s does not show %q:\n%s", step.command, step.says, text)
		}
	}
	if text := d.text(); !strings.Contains(text, "127.0.0.1:8500 · jobs/*") {
		t.Errorf("the header does not show the patterns:\n%s", text)
	}
}

func TestTheDiscoveredLocksCanBeWatched(t *testing.T) {
	var set election.Patterns
	d := drive(t, mixedSnapshot(), 80, 24, discovers, func(o *Options) {
		fake(o).onSetPatterns = func(ps election.Patterns) { set = ps }
	})
	d.send(firstOf(t, d.keys(":", "'discover", "enter")))
	if text := d.text(); !strings.Contains(text, "4 locks not watched") || !strings.Contains(text, "jobs/*/.lock") {
		t.Errorf("%s", text)
	}
	d.keys("w")
	if got, want := set.Strings(), []string{"service/*/leader", "jobs/*/.lock", "slots/.lock", "!jobs/x/.lock"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if d.m.overlay != nil {
		t.Error("the panel is still open")
	}
}
