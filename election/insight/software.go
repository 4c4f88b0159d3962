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
			Kind: kind, Name: "Patroni", StepDown: "patronictl -c FILE list",
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
	case base(e.Key()) == ".lock" && (e.Overwritten() || e.Pair.Flags == election.LockFlag && len(e.Pair.Value) == 0) && (session == nil || likeConsulLock(session)):
		return HolderConsulLock, true
	case refreshes(e):
		return HolderRefreshing, false
	case e.Pair.Flags == election.LockFlag || isAPILock(session) || replacedLockFlags(e) > 0:
		return HolderAPILock, false
	}
	return HolderUnknown, false
}

// kindOfHolds returns the kind of software that holds all keys of a session, or [HolderUnknown] if the kinds differ.
// If one key is a leader key of Patroni, the kind is Patroni. better is the value of [Effect.Better].
func kindOfHolds(session *election.Session, held []election.Pair) (kind HolderKind, guess bool, better string) {
	var store election.Store
	if session != nil {
		store = session.Store
	}
	kind, guess = kindOf(&election.Election{Exists: true, Session: session}, nil)
	for i, p := range held {
		e, siblings := &election.Election{Store: store, Exists: true, Session: session, Pair: p}, &election.Surroundings{Key: p.Key, Siblings: held}
		k, g := kindOf(e, siblings)
		switch {
		case i == 0 || k == kind || k == HolderPatroni || k == HolderPatroniLease || k == HolderMutex:
		case e.Store.Leases: // it may also have keys that hold nothing
			continue
		default:
			kind, guess, better = HolderUnknown, false, ""
			continue
		}
		kind, guess = k, g
		if software := DetectSoftware(e, siblings); software != nil {
			better = software.StepDown
		}
		if k == HolderPatroni || k == HolderPatroniLease {
			break
		}
	}
	return kind, guess, better
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

// likeConsulLock reports whether a session has the settings of consul lock -name, which replaces the session's name. They are
// not configurable.
func likeConsulLock(s *election.Session) bool {
	return s != nil && s.Name != "" && s.Name != apiLockSession && s.TTL == 15*time.Second && s.LockDelay == 15*time.Second && s.Behavior == election.BehaviorRelease
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
