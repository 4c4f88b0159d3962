package insight

import (
	"path"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// HolderKind is the kind of software that holds a key, inferred from its data in Consul.
type HolderKind string

// The kinds of holders. npm's consul package counts as api.Lock, because its flags, session name and TTL are the
// same.
const (
	HolderUnknown       HolderKind = "unknown"        // not recognised, for example a candidate that follows Consul's leader election tutorial
	HolderRefreshing    HolderKind = "refreshing"     // the holder repeats its write with ?acquire=
	HolderAPILock       HolderKind = "api_lock"       // api.Lock or a compatible client
	HolderConsulLock    HolderKind = "consul_lock"    // consul lock
	HolderSemaphore     HolderKind = "semaphore"      // a contender of api.Semaphore or consul lock -n
	HolderCampaign      HolderKind = "campaign"       // electop campaign
	HolderVault         HolderKind = "vault"          // Vault's active node
	HolderPatroni       HolderKind = "patroni"        // Patroni's leader key
	HolderPatroniMember HolderKind = "patroni_member" // the key of a Patroni member

	// Clients of etcd.

	HolderElection     HolderKind = "etcd_election" // the first key of a queue
	HolderMutex        HolderKind = "etcd_mutex"    // the first key of a queue, without a value
	HolderLease        HolderKind = "etcd_lease"    // another key with a lease
	HolderPatroniLease HolderKind = "etcd_patroni"  // Patroni's leader key, or the key of a member
	HolderFolder       HolderKind = "etcd_folder"   // the first key of a queue in the v2 API
)

// Software is a program that has its own method to move its leader.
type Software struct {
	Kind HolderKind `json:"kind"`
	Name string     `json:"name"`
	// StepDown is a command that uses this method.
	StepDown string `json:"step_down"`
	// Otherwise describes the effect of electop's actions on this software.
	Otherwise string `json:"otherwise"`
}

// DetectSoftware returns software that has its own method to move its leader (Patroni, Vault), or nil for
// other software. Without the siblings in s, it recognises a leader key of Patroni only by its session.
func DetectSoftware(e *election.Election, s *election.Surroundings) *Software {
	switch kind := softwareKind(e, s); kind {
	case HolderVault:
		return &Software{
			Kind: kind, Name: "Vault", StepDown: "vault operator step-down",
			Otherwise: "according to Vault's documentation, the active node becomes a standby and requests fail until another node is active",
		}
	case HolderPatroni:
		if e.Store.Leases {
			return &Software{Kind: HolderPatroniLease, Name: "Patroni", StepDown: patroniSwitchover(e), Otherwise: "destroying the session of a healthy primary stops its PostgreSQL"}
		}
		return &Software{
			Kind: kind, Name: "Patroni", StepDown: patroniSwitchover(e),
			Otherwise: "electop refuses to release the key, because a release would disable automatic failover; destroying the session does not change the leader while the primary is healthy",
		}
	case HolderPatroniMember:
		return &Software{
			Kind: kind, Name: "Patroni", StepDown: "patronictl list",
			Otherwise: "electop refuses to release the key of a member; after its session is destroyed, the member writes the key again",
		}
	default:
		return nil
	}
}

// holderSession returns the session of the current or last holder, or nil if it was not read.
func holderSession(e *election.Election) *election.Session {
	if e.Session != nil || e.Pair.Held() {
		return e.Session
	}
	return e.LastSession
}

// softwareKind returns the kind of a key for which [DetectSoftware] returns a result, otherwise [HolderUnknown].
func softwareKind(e *election.Election, s *election.Surroundings) HolderKind {
	session := holderSession(e)
	switch {
	case session != nil && session.Name == vaultSession, strings.HasSuffix("/"+e.Key(), "/vault/core/lock"):
		return HolderVault
	case isPatroniLeader(e, s):
		return HolderPatroni
	case isPatroniMember(e):
		return HolderPatroniMember
	}
	return HolderUnknown
}

// kindOf returns the kind of the holder. guess is set if other software may write the same data.
func kindOf(e *election.Election, s *election.Surroundings) (kind HolderKind, guess bool) {
	if e.Pair.Flags == election.SemaphoreFlag {
		return HolderSemaphore, false
	}
	kind = softwareKind(e, s)
	switch {
	case !e.Store.Leases:
	case e.Store.StepsDown:
		return HolderFolder, false
	case kind == HolderPatroni, kind == HolderPatroniMember:
		return HolderPatroniLease, false
	case e.Pair.Queue == nil:
		return HolderLease, false
	case len(e.Pair.Value) == 0:
		return HolderMutex, false
	default:
		return HolderElection, false
	}
	if kind != HolderUnknown {
		return kind, false
	}
	session := holderSession(e)
	switch {
	case session != nil && session.Name == campaignSession:
		return HolderCampaign, false
	case isConsulLock(session):
		return HolderConsulLock, false
	case looksLikeConsulLock(e.Pair, session):
		return HolderConsulLock, true
	case refreshes(e):
		return HolderRefreshing, false
	case e.Pair.Flags == election.LockFlag || isAPILock(session):
		return HolderAPILock, false
	}
	return HolderUnknown, false
}

// Session names that software uses by default. Those of Vault and the path of its lock come from its source code, which
// uses api.Lock. No measurement has confirmed them.
const (
	apiLockSession      = "Consul API Lock"
	apiSemaphoreSession = "Consul API Semaphore"
	vaultSession        = "Vault Lock"
	campaignSession     = "electop campaign"
)

// isAPILock reports whether the session belongs to software that rejects keys without [election.LockFlag].
func isAPILock(s *election.Session) bool {
	return isConsulLock(s) || s != nil && (s.Name == apiLockSession || s.Name == vaultSession)
}

func isConsulLock(s *election.Session) bool {
	if s == nil {
		return false
	}
	_, ok := election.ConsulLockCommand(s.Name)
	return ok
}

// consulLockTTL and consulLockDelay are the settings of every session of consul lock; they are not configurable.
const consulLockTTL, consulLockDelay = 15 * time.Second, 15 * time.Second

// looksLikeConsulLock recognises consul lock -name, which replaces the session name. It requires the key's
// name, the flags, an empty value and, if the session was read, its settings.
func looksLikeConsulLock(p election.Pair, s *election.Session) bool {
	if base(p.Key) != ".lock" || p.Flags != election.LockFlag || len(p.Value) > 0 {
		return false
	}
	return s == nil || s.Name != "" && s.Name != apiLockSession &&
		s.TTL == consulLockTTL && s.LockDelay == consulLockDelay && s.Behavior == election.BehaviorRelease
}

// refreshes reports whether the holder was observed writing the key with ?acquire=. Any other write would have reset
// LockIndex to 0.
func refreshes(e *election.Election) bool {
	return e.Pair.LockIndex > 0 && slices.ContainsFunc(e.Events, func(v election.Event) bool {
		return v.Type == election.Updated && v.Session == e.Pair.Session && v.Term == e.Term && v.CreateIndex == e.Pair.CreateIndex
	})
}

// base returns the last segment of a key.
func base(key string) string { return path.Base(key) }

// patroniLockDelay is the lock-delay of every session of Patroni (lock_delay in patroni/dcs/consul.py of 3.0.2; not
// configurable).
const patroniLockDelay = time.Millisecond

// isPatroniLeader recognises <namespace>/<scope>/leader by its session or by sibling keys that only Patroni writes.
// In Consul the key is not sufficient, because its leader election tutorial uses service/<name>/leader.
func isPatroniLeader(e *election.Election, s *election.Surroundings) bool {
	if base(e.Key()) != "leader" {
		return false
	}
	_, ok := patroniScope(e, election.Parent(e.Key()), string(e.Pair.Value))
	return ok || e.Store.Leases && e.Pair.Queue == nil && strings.HasPrefix(e.Key(), "/service/") || s != nil && s.Key == e.Key() && hasPatroniKeys(e.Key(), s.Siblings)
}

// isPatroniMember recognises <namespace>/<scope>/members/<member> by its session or its value.
func isPatroniMember(e *election.Election) bool {
	folder, ok := strings.CutSuffix(election.Parent(e.Key()), "members/")
	if !ok {
		return false
	}
	_, ok = patroniScope(e, folder, base(e.Key()))
	return ok || isPatroniMemberValue(e.Pair.Value)
}

// patroniScope returns the arguments of patronictl for the cluster in a folder: its scope, and the group of a Citus
// cluster. The session is named <scope>-<member>; an overwritten leader key does not contain the member.
func patroniScope(e *election.Election, folder, member string) (arguments string, ok bool) {
	session := holderSession(e)
	if session == nil || session.Behavior != election.BehaviorDelete || session.LockDelay != patroniLockDelay || session.TTL <= 0 {
		return "", false
	}
	for _, scope := range []string{base(folder), base(election.Parent(strings.TrimSuffix(folder, "/")))} {
		if got, named := strings.CutPrefix(base(session.Name), scope+"-"); named && (got == member || e.Overwritten()) {
			if base(folder) != scope {
				scope += " --group " + base(folder)
			}
			return scope, !strings.Contains(scope, " ") || isNumber(base(folder))
		}
	}
	return "", false
}

// hasPatroniKeys reports whether a sibling key has content that only Patroni writes.
func hasPatroniKeys(key string, siblings []election.Pair) bool {
	return slices.ContainsFunc(siblings, func(p election.Pair) bool {
		rest, ok := strings.CutPrefix(p.Key, election.Parent(key))
		return ok && isPatroniContent(rest, p.Value)
	})
}

// systemIdentifier is the minimum number of digits of a PostgreSQL system identifier, a 64-bit number whose high bits
// are the creation time.
const systemIdentifier = 16

// isPatroniContent reports whether the key with this name below a cluster's folder has content that only Patroni writes.
func isPatroniContent(name string, value []byte) bool {
	switch name {
	case "config":
		return election.JSONMember(value, "loop_wait") != ""
	case "status":
		return election.JSONMember(value, "optime") != ""
	case "initialize":
		return len(value) >= systemIdentifier && isNumber(string(value))
	}
	return strings.HasPrefix(name, "members/") && isPatroniMemberValue(value)
}

// isPatroniMemberValue reports whether a value contains an address of PostgreSQL or of Patroni's REST API.
func isPatroniMemberValue(value []byte) bool {
	return strings.HasPrefix(election.JSONMember(value, "conn_url"), "postgres") ||
		strings.HasSuffix(election.JSONMember(value, "api_url"), "/patroni")
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// patroniSwitchover returns a command that the user can copy. It omits the scope if it is uncertain, or if a shell would
// interpret it.
func patroniSwitchover(e *election.Election) string {
	folder := election.Parent(e.Key())
	scope, ok := patroniScope(e, folder, string(e.Pair.Value))
	if !ok && !isNumber(base(folder)) { // a number is the group of a Citus cluster or a part of the scope
		scope = base(folder)
	}
	s := holderSession(e)
	if scope == "" || scope == "." || scope[0] == '-' || strings.Trim(scope, shellWord+" ") != "" || ok && strings.Contains(s.Name, "/") {
		return switchover
	}
	return switchover + " " + scope
}

const switchover = "patronictl switchover"

// shellWord contains the characters that a shell does not interpret.
const shellWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
