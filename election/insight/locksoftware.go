package insight

import (
	"path"
	"slices"
	"strings"

	"electop/election"
)

// Names of software in a [LockGroup].
const (
	semaphoreSoftware  = "semaphore"
	consulLockSlots    = "consul lock -n"
	consulLockSoftware = "consul lock"
	patroniMembers     = "Patroni member"
)

// holderSoftware returns the name of the software, or "" if unknown. It returns api.Lock for compatible clients, because
// their data in Consul is the same.
func holderSoftware(kind HolderKind) string {
	switch kind {
	case HolderPatroni:
		return "Patroni"
	case HolderPatroniMember:
		return patroniMembers
	case HolderVault:
		return "Vault"
	case HolderConsulLock:
		return consulLockSoftware
	case HolderCampaign:
		return "electop campaign"
	case HolderAPILock:
		return "api.Lock"
	case HolderUnknown, HolderRefreshing, HolderSemaphore:
	}
	return ""
}

// keyShape is a pattern for the keys that software uses by default.
type keyShape struct {
	pattern  election.Pattern
	software string
}

// keyShapes returns the default keys of software that can be identified only by its keys.
func keyShapes() []keyShape {
	var shapes []keyShape
	for _, s := range []struct{ pattern, software string }{
		{"nomad-snapshot/lock", "Nomad snapshot agent"},
		{"consul-snapshot/lock", "Consul snapshot agent"},
		{"traefik/leader", "Traefik"},
		{"docker/swarm/leader", "Docker Swarm"},
		{"stolon/cluster/*/sentinel-leader", "stolon"},
		{"consul-template/dedup/*/lock", "consul-template"},
		{"camel/**", "Camel"},
		{"leadership/**", "Micronaut"},
		{"*-leader", "ShedLock"},
	} {
		if p, err := election.ParsePattern(s.pattern); err == nil {
			shapes = append(shapes, keyShape{p, s.software})
		}
	}
	return shapes
}

// software returns the name of the software that locks a key, or "other" if it is not recognised.
func (d *LockCollector) software(p *election.Pair, s *election.Session, names []string, shapes []keyShape) string {
	kind := KindOf(*p, s)
	if kind == HolderVault || kind == HolderPatroni || kind == HolderPatroniMember {
		return holderSoftware(kind)
	}
	if path.Base(p.Key) == "leader" && d.patroni[election.Parent(p.Key)] {
		return holderSoftware(HolderPatroni)
	}
	for _, shape := range shapes {
		if _, ok := shape.pattern.Match(p.Key); ok {
			return shape.software
		}
	}
	if state, ok := strings.CutSuffix(p.Key, "/.lock"); ok && nameExists(names, state+"/.lockinfo") {
		return "Terraform" // Terraform's Consul backend writes .lockinfo next to the lock
	}
	switch {
	case holderSoftware(kind) != "":
		return holderSoftware(kind)
	case path.Base(p.Key) == "leader":
		return "Consul guide"
	}
	return "other"
}

// contenderSoftware returns the name of the software of a semaphore's contender, or "" if it is not recognised.
func contenderSoftware(s *election.Session) string {
	switch {
	case s == nil:
		return ""
	case s.Name == apiSemaphoreSession:
		return "api.Semaphore"
	}
	if _, ok := election.ConsulLockCommand(s.Name); ok {
		return consulLockSlots
	}
	return ""
}

func nameExists(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}
