package insight

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"electop/election"
)

// LockCollector collects the locks of a store, key by key.
type LockCollector struct {
	Store election.Store
	// Single contains the watched patterns that also select keys outside of queues, if the store has leases.
	Single election.Patterns

	locks []election.Pair
	// patroni contains the folders with keys that only Patroni writes.
	patroni []string
}

// keptLockValue is the size in bytes above which [LockCollector.Add] drops a value. Larger values do not identify
// software.
const keptLockValue = 1 << 10

// Add examines one key. It stores the key if it is a lock, but omits a value larger than keptLockValue.
func (d *LockCollector) Add(p election.Pair) {
	if isPatroniContent(path.Base(p.Key), p.Value) {
		d.patroni = append(d.patroni, election.Parent(p.Key))
	}
	// LockIndex is not sufficient, because a write without the lock resets it to 0. The flags of lock libraries remain.
	if !p.Held() && p.LockIndex == 0 && p.Flags != election.LockFlag && p.Flags != election.SemaphoreFlag {
		return
	}
	if len(p.Value) > keptLockValue {
		p.Value = nil
	}
	d.locks = append(d.locks, p)
}

// FoundLocks contains the locks of a store, grouped by pattern.
type FoundLocks struct {
	Groups []LockGroup `json:"groups"`
	// Locks is the number of discovered elections. Unwatched is the number of elections that no watched pattern
	// selects. The keys of Patroni's members are locked, but are not elections: they are omitted.
	Locks     int `json:"locks"`
	Unwatched int `json:"unwatched"`
}

// LockGroup contains the locks that one pattern selects.
type LockGroup struct {
	// Pattern selects the keys of the group. It is empty if no pattern selects exactly this key. Excluded contains one
	// "!" pattern for each other key that Pattern matches.
	Pattern  string   `json:"pattern"`
	Excluded []string `json:"excluded,omitempty"`
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
	// Flags are the command-line flags that watch exactly the keys of the group, or empty if no pattern selects exactly
	// these keys.
	Flags []string `json:"flags"`
}

// SoftwareNames returns the names of the software, most frequent first.
func (g *LockGroup) SoftwareNames() []string {
	return slices.SortedFunc(maps.Keys(g.Software), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.Software[b], g.Software[a]), cmp.Compare(a, b))
	})
}

type lock struct {
	software string
	held     bool
	slots    bool // set if the key belongs to a semaphore
	single   bool // set if the key has a lease, but is not a queue
}

// Groups returns the discovered locks, grouped by pattern. names contains all keys of the store in byte order.
// sessions may be incomplete. watched contains the patterns in use.
func (d *LockCollector) Groups(names []string, sessions []*election.Session, watched election.Patterns) (found FoundLocks) {
	locks := d.named(names, sessions)
	keys := slices.Sorted(maps.Keys(locks))
	names = slices.Concat(names, keys) // the .lock key of a semaphore may not exist yet
	slices.Sort(names)
	found.Locks, found.Groups = len(keys), generalize(keys, slices.Compact(names))
	for i := range found.Groups {
		g := &found.Groups[i]
		g.Software = map[string]int{}
		if rest, ok := strings.CutPrefix(g.Pattern, "//"); ok && d.Store.Leases && rest != "" && strings.IndexAny(rest, "/!") != 0 {
			g.Pattern = "/" + rest // is part of the pattern; see [election.Patterns.Rooted]
		}
		g.Flags = []string{}
		if g.Pattern != "" {
			for _, text := range append([]string{g.Pattern}, g.Excluded...) {
				g.Flags = append(g.Flags, "-k", text)
			}
		}
		for _, key := range g.Keys {
			l, ps := locks[key], watched
			if l.single {
				ps = d.Single
			}
			switch g.Software[l.software]++; {
			case l.slots:
				g.Semaphores++
			case l.held:
				g.Locked++
			default:
				g.Unlocked++
			}
			if ps.Selects(key) {
				g.Watched++
			}
		}
		found.Unwatched += len(g.Keys) - g.Watched
		for _, p := range Presets() {
			if p.selects(g) {
				g.Presets = append(g.Presets, p.Name)
			}
		}
	}
	slices.SortFunc(found.Groups, func(a, b LockGroup) int { return cmp.Compare(a.Keys[0], b.Keys[0]) })
	return found
}

// named returns the elections by key. The .lock key of a semaphore stands for its contender keys.
func (d *LockCollector) named(names []string, sessions []*election.Session) map[string]lock {
	byID, found := election.ByID(sessions), make(map[string]lock, len(d.locks))
	for i := range d.locks {
		p := &d.locks[i]
		if p.Flags == election.SemaphoreFlag {
			key := election.Parent(p.Key) + ".lock"
			found[key] = lock{software: cmp.Or(contenderSoftware(byID[p.Session]), found[key].software, semaphoreSoftware), slots: true}
		} else if software := d.software(p, byID[p.Session], names); software != "" {
			found[p.Key] = lock{software: software, held: p.Held(), single: d.Store.Leases && p.Queue == nil}
		}
	}
	return found
}

// Names of software in a [LockGroup].
const (
	semaphoreSoftware  = "semaphore"
	consulLockSlots    = "consul lock -n"
	consulLockSoftware = "consul lock"
)

// software returns the name of the software that locks a key, "other" if it is not recognised, or "" for the key of a
// member of Patroni, which is no election.
func (d *LockCollector) software(p *election.Pair, s *election.Session, names []string) string {
	kind, _ := kindOf(&election.Election{Store: d.Store, Pair: *p, Exists: true, Session: s}, nil)
	if d.Store.Leases || kind == HolderVault || kind == HolderPatroni || kind == HolderPatroniMember {
		return textsOf[kind].locks
	}
	leader := base(p.Key) == "leader"
	if leader && slices.Contains(d.patroni, election.Parent(p.Key)) {
		return textsOf[HolderPatroni].locks
	}
	for _, owner := range [][2]string{ // default keys, as patterns of [path.Match], and their software
		{"nomad-snapshot/lock", "Nomad snapshot agent"}, {"consul-snapshot/lock", "Consul snapshot agent"}, {"traefik/leader", "Traefik"},
		{"docker/swarm/leader", "Docker Swarm"}, {"stolon/cluster/*/sentinel-leader", "stolon"}, {"consul-template/dedup/*/lock", "consul-template"},
		{"camel/*", "Camel"}, {"camel/*/*", "Camel"}, {"leadership/*", "Micronaut"}, {"leadership/*/*", "Micronaut"}, {"*-leader", "ShedLock"},
	} {
		if ok, _ := path.Match(owner[0], p.Key); ok { // the patterns are valid
			return owner[1]
		}
	}
	if state, ok := strings.CutSuffix(p.Key, "/.lock"); ok {
		if _, found := slices.BinarySearch(names, state+"/.lockinfo"); found {
			return "Terraform" // Terraform's Consul backend writes .lockinfo next to the lock
		}
	}
	switch name := textsOf[kind].locks; {
	case name != "":
		return name
	case leader:
		return "Consul guide"
	}
	return "other"
}

// contenderSoftware returns the name of the software of a semaphore's contender, or "" if it is not recognised.
func contenderSoftware(s *election.Session) string {
	switch {
	case isConsulLock(s):
		return consulLockSlots
	case s != nil && s.Name == apiSemaphoreSession:
		return "api.Semaphore"
	}
	return ""
}

const (
	// mostExcluded is the maximum number of exclusions of one pattern.
	mostExcluded = 3
	// rootKeys is the minimum number of top-level keys that are merged into the pattern *, which reads the whole store.
	rootKeys = 10
)

// generalize groups keys by patterns. names contains all keys of the store, sorted; the patterns and their exclusions
// select no other of them. The patterns of presets come first, then those with the most keys.
func generalize(keys, names []string) (all []LockGroup) {
	left, sets := make(map[string]bool, len(keys)), map[string][]string{}
	for _, key := range keys {
		left[key] = true
		for _, text := range templates(key) {
			sets[text] = append(sets[text], key)
		}
	}
	take := func(text string) {
		if g, ok := selects(text, names, left); ok {
			all = append(all, g)
			for _, key := range g.Keys {
				left[key] = false
			}
		}
	}
	for _, preset := range Presets() {
		for _, text := range preset.Patterns {
			if strings.Contains(text, "*") && !strings.Contains(text, "**") {
				take(text)
			}
		}
	}
	for _, text := range slices.SortedFunc(maps.Keys(sets), func(a, b string) int {
		return cmp.Or(len(sets[b])-len(sets[a]), strings.Count(a, "*")-strings.Count(b, "*"), cmp.Compare(a, b))
	}) {
		of := slices.DeleteFunc(sets[text], func(key string) bool { return !left[key] })
		if len(of) >= rootKeys || len(of) > 1 && text != "*" {
			take(text)
		}
	}
	for _, key := range keys {
		if take(election.KeyPattern(key).String()); left[key] {
			all = append(all, LockGroup{Keys: []string{key}})
		}
	}
	return all
}

// templates returns the patterns that replace the last segment of a key, or all of them, with *. The first of several
// segments and a last segment that names the role of the key remain.
func templates(key string) []string {
	rest := strings.TrimPrefix(key, "/")
	root, segments := key[:len(key)-len(rest)], strings.Split(rest, "/")
	last := len(segments) - 1
	if slices.Contains([]string{"leader", "lock", ".lock", "master", "primary", "sentinel-leader"}, segments[last]) {
		last--
	}
	if last < 0 || last == 0 && len(segments) > 1 {
		return nil
	}
	segments[last] = "*"
	one := election.KeyPattern(root + strings.Join(segments, "/")).String()
	for i := 1; i < last; i++ {
		segments[i] = "*"
	}
	return slices.Compact([]string{one, election.KeyPattern(root + strings.Join(segments, "/")).String()})
}

// selects returns the keys that a pattern selects and that are left. ok is false if the pattern needs more exclusions
// than it has keys, or more than mostExcluded. The keys that patterns may select are in the map left.
func selects(text string, names []string, left map[string]bool) (g LockGroup, ok bool) {
	p, err := election.ParsePattern(text)
	if err != nil {
		return g, false
	}
	g.Pattern = text
	within := p.Range()
	from, _ := slices.BinarySearch(names, within.From)
	for _, name := range names[from:] {
		if !within.Contains(name) {
			break
		}
		isLeft, wanted := left[name]
		switch _, selected := p.Match(name); {
		case selected && isLeft:
			g.Keys = append(g.Keys, name)
		case selected && !wanted:
			exclusion := "!" + election.KeyPattern(name).String()
			if x, err := election.ParsePattern(exclusion); err != nil || !x.Exact() || len(g.Excluded) == mostExcluded {
				return g, false
			}
			g.Excluded = append(g.Excluded, exclusion)
		}
	}
	return g, len(g.Excluded) < len(g.Keys)
}
