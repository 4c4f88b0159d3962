package insight

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"electop/election"
)

// LockCollector collects the locks of a store, key by key.
type LockCollector struct {
	locks []election.Pair
	// patroni contains the folders with keys that only Patroni writes.
	patroni map[string]bool
}

// keptLockValue is the size in bytes above which [LockCollector.Add] drops a value. Larger values do not identify
// software.
const keptLockValue = 1 << 10

// Add examines one key. It stores the key if it is a lock, but omits a value larger than keptLockValue.
func (d *LockCollector) Add(p election.Pair) {
	if IsPatroniContent(path.Base(p.Key), p.Value) {
		if d.patroni == nil {
			d.patroni = map[string]bool{}
		}
		d.patroni[election.Parent(p.Key)] = true
	}
	if !lockShaped(&p) {
		return
	}
	if len(p.Value) > keptLockValue {
		p.Value = nil
	}
	p.Value, p.Key = slices.Clone(p.Value), strings.Clone(p.Key) // copies, so that the garbage collector can free the response
	d.locks = append(d.locks, p)
}

// lockShaped reports whether a client has locked the key. LockIndex is not sufficient, because a write without the
// lock resets it to 0. The flags of lock libraries remain.
func lockShaped(p *election.Pair) bool {
	return p.Held() || p.LockIndex > 0 || p.Flags == election.LockFlag || p.Flags == election.SemaphoreFlag
}

// FoundLocks contains the locks of a store, grouped by pattern.
type FoundLocks struct {
	Groups []LockGroup `json:"groups"`
	// Locks is the number of discovered elections. Unwatched is the number of elections that no watched pattern
	// selects. The keys of Patroni's members are not elections.
	Locks     int `json:"locks"`
	Unwatched int `json:"unwatched"`
}

// LockGroup contains the locks that one pattern selects.
type LockGroup struct {
	// Pattern selects the keys of the group. Excluded contains one "!" pattern for each other key that Pattern
	// matches.
	Pattern  string   `json:"pattern"`
	Excluded []string `json:"excluded,omitempty"`
	// Members is set for a group of Patroni member keys, which are locked but are not elections.
	Members bool `json:"-"`
	// Locked, Unlocked and Semaphores count the keys by state. Watched counts the keys that the watched patterns
	// select.
	Locked     int `json:"locked"`
	Unlocked   int `json:"unlocked"`
	Semaphores int `json:"semaphores"`
	Watched    int `json:"watched"`
	// Software counts the keys by the software that locks them.
	Software map[string]int `json:"software"`
	Presets  []string       `json:"presets,omitempty"`
	Keys     []string       `json:"keys"`
}

// MarshalJSON adds the fields election and flags.
func (g LockGroup) MarshalJSON() ([]byte, error) {
	type fields LockGroup
	return json.Marshal(struct {
		fields
		Election bool     `json:"election"`
		Flags    []string `json:"flags"`
	}{fields(g), !g.Members, append([]string{}, g.Flags()...)})
}

// Flags returns the command-line flags that watch exactly the keys of the group. It returns nil for Patroni member
// keys, and if no pattern selects exactly these keys.
func (g *LockGroup) Flags() []string {
	if g.Members || g.Pattern == "" {
		return nil
	}
	flags := []string{"-k", g.Pattern}
	for _, text := range g.Excluded {
		flags = append(flags, "-k", text)
	}
	return flags
}

// SoftwareNames returns the names of the software, most frequent first.
func (g *LockGroup) SoftwareNames() []string {
	return slices.SortedFunc(maps.Keys(g.Software), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.Software[b], g.Software[a]), cmp.Compare(a, b))
	})
}

type lock struct {
	key      string
	software string
	held     bool
	slots    bool // set if the key belongs to a semaphore
}

// Groups returns the discovered locks, grouped by pattern. names contains all keys of the store in byte order.
// sessions may be incomplete. watched contains the patterns in use.
func (d *LockCollector) Groups(names []string, sessions []*election.Session, watched election.Patterns) FoundLocks {
	byID := make(map[string]*election.Session, len(sessions))
	for _, s := range sessions {
		byID[s.ID] = s
	}
	var elections, members []lock
	for _, l := range d.named(names, byID) {
		if l.software == patroniMembers {
			members = append(members, l)
		} else {
			elections = append(elections, l)
		}
	}
	found := FoundLocks{Locks: len(elections)}
	found.Groups = groupsOf(elections, names, watched)
	for _, g := range found.Groups {
		found.Unwatched += len(g.Keys) - g.Watched
	}
	for _, g := range groupsOf(members, names, watched) {
		g.Members = true
		found.Groups = append(found.Groups, g)
	}
	slices.SortStableFunc(found.Groups, func(a, b LockGroup) int { return cmp.Compare(a.Keys[0], b.Keys[0]) })
	return found
}

// named returns the locks with their software, sorted by key. It replaces the contender keys of a semaphore with the
// semaphore's .lock key.
func (d *LockCollector) named(names []string, byID map[string]*election.Session) []lock {
	found := make(map[string]lock, len(d.locks))
	for i := range d.locks {
		p := &d.locks[i]
		if p.Flags == election.SemaphoreFlag {
			l := found[semaphoreKey(p.Key)]
			l.key, l.slots = semaphoreKey(p.Key), true
			l.software = cmp.Or(contenderSoftware(byID[p.Session]), l.software)
			found[l.key] = l
			continue
		}
		found[p.Key] = lock{key: p.Key, held: p.Held(), software: d.software(p, byID[p.Session], names)}
	}
	locks := slices.SortedFunc(maps.Values(found), func(a, b lock) int { return cmp.Compare(a.key, b.key) })
	for i := range locks {
		locks[i].software = cmp.Or(locks[i].software, semaphoreSoftware)
	}
	return locks
}

func semaphoreKey(key string) string { return election.Parent(key) + ".lock" }

func groupsOf(locks []lock, names []string, watched election.Patterns) []LockGroup {
	byKey, keys := make(map[string]lock, len(locks)), make([]string, 0, len(locks))
	for _, l := range locks {
		byKey[l.key], keys = l, append(keys, l.key)
		if i, found := slices.BinarySearch(names, l.key); !found { // the .lock key of a semaphore may not exist yet
			names = slices.Insert(slices.Clone(names), i, l.key)
		}
	}
	var common []string
	for _, preset := range Presets() {
		for _, text := range preset.Patterns {
			if strings.Contains(text, "*") && !strings.Contains(text, "**") {
				common = append(common, text)
			}
		}
	}
	var groups []LockGroup
	for _, part := range generalize(keys, names, common) {
		groups = append(groups, groupOf(part, byKey, watched))
	}
	return groups
}

func groupOf(part selection, byKey map[string]lock, watched election.Patterns) LockGroup {
	g := LockGroup{Pattern: part.Text, Excluded: part.Excluded, Software: map[string]int{}, Keys: part.Keys}
	for _, key := range g.Keys {
		l := byKey[key]
		switch {
		case l.slots:
			g.Semaphores++
		case l.held:
			g.Locked++
		default:
			g.Unlocked++
		}
		if _, ok := watched.Match(key); ok {
			g.Watched++
		}
		g.Software[l.software]++
	}
	for _, p := range Presets() {
		if p.selects(&g) {
			g.Presets = append(g.Presets, p.Name)
		}
	}
	return g
}
