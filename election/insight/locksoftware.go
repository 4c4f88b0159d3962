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
)

// holderSoftware returns the name of the software, or "" if unknown. It returns api.Lock for compatible clients, because
// their data in Consul is the same.
func holderSoftware(kind HolderKind) string {
	return map[HolderKind]string{
		HolderPatroni: "Patroni", HolderVault: "Vault", HolderConsulLock: consulLockSoftware,
		HolderCampaign: "electop campaign", HolderAPILock: "api.Lock",
	}[kind]
}

// keyOwners returns the default keys of software that can be identified only by its keys, as patterns of [path.Match].
func keyOwners() [][2]string {
	return [][2]string{
		{"nomad-snapshot/lock", "Nomad snapshot agent"}, {"consul-snapshot/lock", "Consul snapshot agent"}, {"traefik/leader", "Traefik"},
		{"docker/swarm/leader", "Docker Swarm"}, {"stolon/cluster/*/sentinel-leader", "stolon"}, {"consul-template/dedup/*/lock", "consul-template"},
		{"camel/*", "Camel"}, {"camel/*/*", "Camel"}, {"leadership/*", "Micronaut"}, {"leadership/*/*", "Micronaut"}, {"*-leader", "ShedLock"},
	}
}

// software returns the name of the software that locks a key, "other" if it is not recognised, or "" for the key of a
// member of Patroni, which is no election.
func (d *LockCollector) software(p *election.Pair, s *election.Session, names []string) string {
	kind, _ := kindOf(&election.Election{Pair: *p, Exists: true, Session: s}, nil)
	if kind == HolderVault || kind == HolderPatroni || kind == HolderPatroniMember {
		return holderSoftware(kind)
	}
	leader := base(p.Key) == "leader"
	if leader && d.patroni[election.Parent(p.Key)] {
		return holderSoftware(HolderPatroni)
	}
	for _, owner := range keyOwners() {
		if ok, _ := path.Match(owner[0], p.Key); ok { // the patterns are valid
			return owner[1]
		}
	}
	if state, ok := strings.CutSuffix(p.Key, "/.lock"); ok {
		if _, found := slices.BinarySearch(names, state+"/.lockinfo"); found {
			return "Terraform" // Terraform's Consul backend writes .lockinfo next to the lock
		}
	}
	switch name := holderSoftware(kind); {
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
