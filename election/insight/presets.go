package insight

import (
	"slices"

	"electop/election"
)

// Preset is a name for the patterns of one kind of software.
type Preset struct {
	Name     string
	Patterns []string
	// Software contains the names that a [LockGroup] uses for the software.
	Software []string
	// About describes the keys that the patterns select.
	About string
}

// Presets returns all presets.
func Presets() []Preset {
	return []Preset{
		{"patroni", []string{"service/*/leader"}, []string{"Patroni"}, "leaders of Patroni clusters in the default namespace"},
		{"vault", []string{"vault/core/lock"}, []string{"Vault"}, "the active node of Vault at the default path"},
		{"consul-lock", []string{"**/.lock"}, []string{consulLockSoftware}, "consul lock; electop reads all keys"},
		{"semaphore", []string{"**/.lock"}, []string{semaphoreSoftware, consulLockSlots, "api.Semaphore"}, "consul lock -n and api.Semaphore; electop reads all keys"},
		{"nomad", []string{"nomad-snapshot/lock"}, []string{"Nomad snapshot agent"}, "Nomad's snapshot agent"},
		{"traefik", []string{"traefik/leader"}, []string{"Traefik"}, "Traefik, and other libkv clients that use the path traefik"},
		{"stolon", []string{"stolon/cluster/*/sentinel-leader"}, []string{"stolon"}, "sentinels of stolon clusters"},
		{"consul-template", []string{"consul-template/dedup/*/lock"}, []string{"consul-template"}, "consul-template in deduplication mode"},
	}
}

// PresetPatterns returns the patterns of the named presets without duplicates. They begin with "/", which is no part of
// a pattern unless the keys of the store begin with it; see [election.Patterns.Rooted].
func PresetPatterns(names []string) (patterns []string) {
	for _, p := range Presets() {
		if slices.Contains(names, p.Name) {
			for _, text := range p.Patterns {
				patterns = election.Union(patterns, "/"+text)
			}
		}
	}
	return patterns
}

// selects reports whether the preset's patterns select every key of a group and the group contains the preset's
// software.
func (p Preset) selects(g *LockGroup) bool {
	ps, err := election.ParsePatterns(p.Patterns)
	return err == nil && !slices.ContainsFunc(g.Keys, func(key string) bool { return !ps.Selects(key) }) &&
		slices.ContainsFunc(p.Software, func(name string) bool { return g.Software[name] > 0 })
}
