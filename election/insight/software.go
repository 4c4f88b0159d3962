package insight

import (
	"path"
	"strings"
	"time"

	"electop/election"
)

// HolderKind is the kind of software that holds a key, as far as its traces in
// Consul tell.
type HolderKind string

// The kinds of holders. npm's client cannot be told from api.Lock: it uses the
// same flags, session name and TTL.
const (
	HolderUnknown       HolderKind = "unknown"        // no known traces, such as the Consul guide's recipe
	HolderRefreshing    HolderKind = "refreshing"     // writes its value again with ?acquire=
	HolderAPILock       HolderKind = "api_lock"       // api.Lock or a compatible client
	HolderConsulLock    HolderKind = "consul_lock"    // consul lock
	HolderSemaphore     HolderKind = "semaphore"      // a contender of api.Semaphore or consul lock -n
	HolderCampaign      HolderKind = "campaign"       // electop campaign
	HolderVault         HolderKind = "vault"          // Vault's active node
	HolderPatroni       HolderKind = "patroni"        // Patroni's leader key
	HolderPatroniMember HolderKind = "patroni_member" // the key of a Patroni member
)

// Software is a program with its own method to move its leader.
type Software struct {
	Kind HolderKind `json:"kind"`
	Name string     `json:"name"`
	// StepDown is the program's own method, as a command to copy.
	StepDown string `json:"step_down"`
	// Otherwise says what electop's actions do instead.
	Otherwise string `json:"otherwise"`
}

// DetectSoftware recognises software that has its own method to move its leader
// (Patroni, Vault), nil for any other. e needs Pair, Exists and, where it was
// read, Session. s may be nil, but without siblings Patroni is recognised by its
// session only.
func DetectSoftware(e *election.Election, s *election.Surroundings) *Software {
	switch kind := softwareKind(e, s); kind {
	case HolderVault:
		return &Software{
			Kind: kind, Name: "Vault", StepDown: "vault operator step-down",
			Otherwise: "by Vault's documentation, the active node becomes a standby and requests fail until another node is active",
		}
	case HolderPatroni:
		return &Software{
			Kind: kind, Name: "Patroni", StepDown: patroniSwitchover(e),
			Otherwise: "electop refuses to release the key, which would disable automatic failover; a destroy moves nothing while the primary is healthy",
		}
	case HolderPatroniMember:
		return &Software{
			Kind: kind, Name: "Patroni", StepDown: "patronictl list",
			Otherwise: "electop refuses to release the key of a member; after a destroy the member writes it again",
		}
	default:
		return nil
	}
}

// holderSession is the session of the holder, nil when it was not read; while
// the key is not held, it is that of the last holder.
func holderSession(e *election.Election) *election.Session {
	if e.Session != nil || e.Pair.Held() {
		return e.Session
	}
	return e.LastSession
}

// softwareKind recognises the software that [DetectSoftware] describes.
func softwareKind(e *election.Election, s *election.Surroundings) HolderKind {
	session := holderSession(e)
	switch {
	case session != nil && session.Name == vaultSession, isVaultKey(e.Key()):
		return HolderVault
	case isPatroniLeader(e, s):
		return HolderPatroni
	case isPatroniMember(e):
		return HolderPatroniMember
	}
	return HolderUnknown
}

// kindOf recognises the holder. guess is set when other software may leave the
// same traces.
func kindOf(e *election.Election, s *election.Surroundings) (kind HolderKind, guess bool) {
	if e.Pair.Flags == election.SemaphoreFlag {
		return HolderSemaphore, false
	}
	if kind = softwareKind(e, s); kind != HolderUnknown {
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

// Session names that software gives to its sessions unless told otherwise.
const (
	apiLockSession      = "Consul API Lock"
	apiSemaphoreSession = "Consul API Semaphore"
	vaultSession        = "Vault Lock"
	campaignSession     = "electop campaign"
)

// isVaultKey and vaultSession are unproven: from Vault's source code, which uses
// api.Lock with this name; Vault was not run.
func isVaultKey(key string) bool { return strings.HasSuffix("/"+key, "/vault/core/lock") }

// isAPILock reports sessions whose software refuses keys without [election.LockFlag].
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

// consulLockTTL and consulLockDelay are what consul lock asks for; no flag of
// it changes them.
const consulLockTTL, consulLockDelay = 15 * time.Second, 15 * time.Second

// looksLikeConsulLock reports the traces of consul lock -name, which replaces
// the session name: its key, its flags, no value and its session's settings.
func looksLikeConsulLock(p election.Pair, s *election.Session) bool {
	if base(p.Key) != ".lock" || p.Flags != election.LockFlag || len(p.Value) > 0 {
		return false
	}
	return s == nil || s.Name != "" && s.Name != apiLockSession &&
		s.TTL == consulLockTTL && s.LockDelay == consulLockDelay && s.Behavior == election.BehaviorRelease
}

// refreshes reports that the holder was observed writing the key with
// ?acquire=: any other write would have set LockIndex to 0.
func refreshes(e *election.Election) bool {
	if e.Pair.LockIndex == 0 {
		return false
	}
	for _, event := range e.Events {
		if event.Type == election.Updated && event.Session == e.Pair.Session && event.Term == e.Term && event.CreateIndex == e.Pair.CreateIndex {
			return true
		}
	}
	return false
}

// base is the last segment of a key.
func base(key string) string { return path.Base(key) }
