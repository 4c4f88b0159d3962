package insight

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/consultest"
)

// discoveredIn returns the discovered locks of a store. watched contains the patterns in use.
func discoveredIn(t *testing.T, watched []string, sessions []*election.Session, store ...election.Pair) FoundLocks {
	t.Helper()
	var d LockCollector
	var names []string
	for _, p := range store {
		names = append(names, p.Key)
		d.Add(p)
	}
	slices.Sort(names)
	return d.Groups(names, sessions, consultest.Patterns(t, watched...))
}

func lockedBy(key, session string) election.Pair {
	return election.Pair{Key: key, Session: session, LockIndex: 1, Value: []byte("x")}
}

func plain(key string) election.Pair { return election.Pair{Key: key, Value: []byte("x")} }

// patternsOf formats the groups as "pattern exclusions number-of-keys".
func patternsOf(found FoundLocks) []string {
	var lines []string
	for _, g := range found.Groups {
		lines = append(lines, fmt.Sprint(strings.Join(append([]string{g.Pattern}, g.Excluded...), " "), " ", len(g.Keys)))
	}
	return lines
}

func TestLocksAreGroupedIntoPatterns(t *testing.T) {
	for _, tt := range []struct {
		name        string
		locks, rest []string
		want        []string
	}{
		{"Consul's leader election tutorial", []string{"service/web/leader", "service/mail/leader"}, []string{"service/web/config"}, []string{"service/*/leader 2"}},
		{"one key of the default pattern", []string{"service/web/leader"}, nil, []string{"service/*/leader 1"}},
		{"one key", []string{"vault/core/lock"}, []string{"vault/core/seal"}, []string{"vault/core/lock 1"}},
		{"other folders", []string{"jobs/a/.lock", "jobs/b/.lock", "jobs/.lock"}, nil, []string{"jobs/.lock 1", "jobs/*/.lock 2"}},
		{"two segments differ", []string{"eu/de/web/leader", "eu/de/mail/leader", "eu/fr/web/leader", "eu/fr/chat/leader"}, nil, []string{"eu/*/*/leader 4"}},
		{"siblings with other roles", []string{"app/web/leader", "app/web/lock"}, nil, []string{"app/web/leader 1", "app/web/lock 1"}},
		{"few other keys", []string{"jobs/a", "jobs/b", "jobs/c"}, []string{"jobs/README"}, []string{"jobs/* !jobs/README 3"}},
		{"as many other keys", []string{"jobs/a", "jobs/b"}, []string{"jobs/x", "jobs/y"}, []string{"jobs/a 1", "jobs/b 1"}},
		{"without a folder", []string{"a-leader", "b-leader"}, nil, []string{"a-leader 1", "b-leader 1"}},
		{"first segments", []string{"a/leader", "b/leader"}, nil, []string{"a/leader 1", "b/leader 1"}},
		{"wildcards in keys", []string{"a/[x]/leader"}, []string{"a/x/leader"}, []string{" 1"}},
		{"a leading slash", []string{"/a/leader"}, nil, []string{"//a/leader 1"}},
		{"a leading exclamation mark", []string{"!a/leader"}, nil, []string{"/!a/leader 1"}},
		{"control characters", []string{"a/\x1b[2J/leader"}, nil, []string{" 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var store []election.Pair
			for _, key := range tt.locks {
				store = append(store, lockedBy(key, "s"))
			}
			for _, key := range tt.rest {
				store = append(store, plain(key))
			}
			if got := patternsOf(discoveredIn(t, nil, nil, store...)); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestLocksAreRecognisedWithoutAHolder(t *testing.T) {
	found := discoveredIn(t, []string{"service/**"}, nil,
		lockedBy("service/web/leader", "s"),
		election.Pair{Key: "service/mail/leader", LockIndex: 3},
		election.Pair{Key: "service/chat/leader", Value: []byte("a value without a lock")},
		election.Pair{Key: "old/lock", Flags: election.LockFlag},
		election.Pair{Key: "slots/.lock", Flags: election.SemaphoreFlag, Value: []byte(`{"Limit":2,"Holders":{"a":true}}`)},
		election.Pair{Key: "slots/a", Flags: election.SemaphoreFlag, Session: "a", LockIndex: 1},
		election.Pair{Key: "new/a", Flags: election.SemaphoreFlag, Session: "a", LockIndex: 1}, // the .lock key does not exist yet
	)
	var lines []string
	for _, g := range found.Groups {
		lines = append(lines, fmt.Sprintln(g.Pattern, g.Keys, g.Locked, g.Unlocked, g.Semaphores, g.Watched, g.SoftwareNames(), g.Presets))
	}
	want := []string{
		"new/.lock [new/.lock] 0 0 1 0 [semaphore] [semaphore]\n",
		"old/lock [old/lock] 0 1 0 0 [api.Lock] []\n",
		"service/*/leader [service/mail/leader service/web/leader] 1 1 0 2 [Consul guide] []\n",
		"slots/.lock [slots/.lock] 0 0 1 0 [semaphore] [semaphore]\n",
	}
	// service/chat/leader was never locked, so it needs an exclusion.
	if !slices.Contains(found.Groups[2].Excluded, "!service/chat/leader") {
		t.Errorf("%+v", found.Groups[2])
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q\nwant %q", lines, want)
	}
	if found.Locks != 5 || found.Unwatched != 3 {
		t.Errorf("got %d locks, %d of them not watched; want 5 and 3", found.Locks, found.Unwatched)
	}
}

// The flags of all groups together select every lock and no other key.
func TestFlagsSelectExactlyTheLocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		segments := []string{"a", "b", "web", "leader", ".lock", "lock", "x[1]", "*", "é", "\x1b", "!a", ""}
		var store []election.Pair
		seen := map[string]bool{}
		for range r.IntN(60) {
			parts := make([]string, 1+r.IntN(4))
			for i := range parts {
				parts[i] = segments[r.IntN(len(segments))]
			}
			key := strings.Join(parts, "/")
			if seen[key] || key == "" {
				continue
			}
			seen[key] = true
			if r.IntN(3) > 0 {
				store = append(store, plain(key))
			} else {
				store = append(store, lockedBy(key, "s"))
			}
		}
		found := discoveredIn(t, nil, nil, store...)
		var texts []string
		unselectable := map[string]bool{}
		for _, g := range found.Groups {
			flags := g.Flags
			for i := 1; i < len(flags); i += 2 {
				texts = append(texts, flags[i])
			}
			if len(flags) == 0 {
				unselectable[g.Keys[0]] = true
			}
		}
		if len(texts) == 0 {
			continue
		}
		ps := consultest.Patterns(t, texts...)
		for _, p := range store {
			if _, selected := ps.Match(p.Key); selected != p.Held() && !unselectable[p.Key] {
				t.Fatalf("%q: selected %v, locked %v, want the same; patterns %q", p.Key, selected, p.Held(), texts)
			}
		}
	}
}
