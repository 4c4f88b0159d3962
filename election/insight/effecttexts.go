package insight

// holderTexts describe what an action does to one kind of software. A test checks that docs/actions.md contains every
// sentence.
type holderTexts struct {
	// locks names the software in a [LockGroup]. It is api.Lock for compatible clients, because their data in Consul is the
	// same, and empty if it is unknown.
	locks, software  string
	release, destroy actionTexts
}

// actionTexts are the sentences about one action; see [Effect]. If key or delay is empty, the general sentence
// applies. docs/actions.md has the measurements.
type actionTexts struct{ refusal, key, holder, delay, warning string }

const (
	// untilItStops is the last sentence about a holder that detects the loss.
	untilItStops = "Until the holder stops its work, two processes may act as leader."
	notices      = "The holder must detect the loss of the lock itself. Until then, two processes may act as leader. "
	notified     = "The client is notified immediately. In Go, the channel that Lock returned is closed; npm's client emits \"end\" and destroys its session. " +
		"The application must react to it. " + untilItStops
	lockStops  = "consul lock sends SIGTERM to its child process (SIGKILL after 5s), "
	lockExits  = "and exits with code 0: a supervisor that restarts it only on failure does not restart it."
	lockSignal = "consul lock signals its child process only: with a shell command such as 'a; b', a process of that shell may continue to run while another candidate leads."
	slotHolder = "api.Semaphore closes the channel that Acquire returned, and the application must react to it; " +
		"consul lock -n terminates its child process and exits with code 0. Until the holder stops its work, there may be more active holders than slots."
	campaignStops = "electop campaign stops its program immediately (SIGTERM, then SIGKILL) and exits with code 1. Without a program it competes again, "
	vaultNotices  = "According to Vault's source code, the active node detects the loss and becomes a standby; according to its documentation, requests fail until another node is active."
)

// keep returns the sentences about a release, which electop refuses. instead is what moves the leader.
func keep(instead string) actionTexts {
	return actionTexts{
		refusal: "No client of etcd's v3 API notices that its key was deleted: two processes would lead without end. Instead, " + instead,
		key:     "The key would be deleted; its lease would remain.", delay: nextLeads,
	}
}

const nextLeads = "No lock-delay follows: the next candidate leads immediately."

// revoke returns the sentences about the revocation of a lease.
func revoke(refusal, holder, warning string) actionTexts {
	return actionTexts{
		refusal: refusal, key: "The lease is revoked, and every key that is bound to it is deleted with its value.", holder: holder + " " + untilItStops,
		delay: nextLeads, warning: warning,
	}
}

// textsOf contains the texts of each kind of holder.
//
//nolint:gochecknoglobals // constant
var textsOf = map[HolderKind]holderTexts{
	HolderUnknown: {
		"", "unknown software",
		actionTexts{holder: notices + "A holder that only renews its session never detects the loss; a holder that refreshes the key with ?acquire= may lead again after its next write."},
		actionTexts{holder: notices + "Consul rejects the next renewal of the session; a holder that neither renews the session nor reads the key never detects the loss."},
	},
	HolderRefreshing: {
		"", "software that refreshes the key with ?acquire=",
		actionTexts{holder: "The holder refreshes the key with ?acquire=: it leads again after its next write, unless another candidate acquires the key first. " + untilItStops},
		actionTexts{holder: "The holder refreshes the key with ?acquire=: Consul rejects its next write, because the session no longer exists. " + untilItStops},
	},
	HolderAPILock: {"api.Lock", "api.Lock or a compatible client", actionTexts{holder: notified}, actionTexts{holder: notified}},
	HolderConsulLock: {
		consulLockSoftware, "consul lock",
		actionTexts{holder: lockStops + "deletes the key if no other candidate is waiting, " + lockExits, warning: lockSignal},
		actionTexts{holder: lockStops + "deletes the key, even if another candidate is waiting for the end of the lock-delay, " + lockExits, warning: lockSignal},
	},
	HolderSemaphore: {
		"", "a semaphore (api.Semaphore or consul lock -n)",
		actionTexts{
			key:    "The contender key is unlocked and its slot becomes free; the session is not ended.",
			holder: slotHolder, delay: "No lock-delay follows: a waiting contender takes the slot immediately.",
		},
		actionTexts{
			key:    "The session is destroyed with every lock that it holds; its contender key is deleted (behavior delete) and its slot becomes free.",
			holder: slotHolder, delay: "A slot has no lock-delay, regardless of the session's lock-delay: a waiting contender takes the slot immediately.",
		},
	},
	HolderCampaign: {"electop campaign", "electop campaign", actionTexts{holder: campaignStops + "with the same session."}, actionTexts{holder: campaignStops + "with a new session."}},
	HolderVault:    {"Vault", "Vault", actionTexts{holder: vaultNotices}, actionTexts{holder: vaultNotices}},
	HolderPatroni: {
		"Patroni", "Patroni",
		actionTexts{
			refusal: "Patroni stores the leader's name in the key's value, and a release keeps the value: with a healthy primary the leader does not change; " +
				"with a dead primary a release disables automatic failover.",
			holder: "A healthy primary deletes the key and acquires it again within seconds. With a dead primary there is no failover until the key is deleted.",
		},
		actionTexts{
			holder:  "A healthy primary acquires the key again within seconds, so the leader does not change. With a dead primary a replica takes over.",
			warning: "If the member's API does not respond but its PostgreSQL still runs, a destroy causes two writable primaries until that PostgreSQL stops: make sure that it has stopped.",
		},
	},
	HolderPatroniMember: {
		"", "Patroni (the key of a member)",
		actionTexts{
			refusal: "This is a Patroni member key, not an election. Patroni rewrites it while the member runs; if released, the key remains after the member stops.",
			holder:  "According to Patroni's source code, a running member deletes the key and writes it again.",
		},
		actionTexts{holder: "According to Patroni's source code, a running member writes its key again with a new session. If it is the primary, its leader key is deleted as well."},
	},
	HolderPatroniLease: {
		"Patroni", "Patroni with etcd",
		keep("patronictl switchover moves a healthy primary."),
		revoke("Patroni renews the lease of this primary, so it may be healthy: use patronictl switchover. After half of the TTL without a renewal, electop destroys it if you type the name.",
			"A healthy primary stops its PostgreSQL immediately, and no member leads for about 10s. With a dead primary another member takes over immediately.",
			"If the primary's Patroni does not respond but its PostgreSQL still runs, two primaries are writable until that PostgreSQL stops: make sure that it has stopped."),
	},
	HolderElection: {
		"", "a candidate of an election (concurrency.Election, etcdctl elect, npm's etcd3)",
		keep("a signal to the holder's process ends its term."),
		revoke("", "The holder notices the end of its lease at its next renewal, within a third of the TTL; etcdctl elect then exits after another 14s. If the holder does not act as leader, "+
			"for example because its campaign failed after a compaction (etcd issue 21128), only the end of its lease moves the queue on.", ""),
	},
	HolderMutex: {
		"queue", "a lock (concurrency.Mutex, etcdctl lock)",
		keep("a signal to the holder's process ends its term."),
		revoke("", "A process with a session of its own notices the end of its lease at its next renewal, within a third of the TTL.",
			"etcdctl lock with a command never notices: its command continues beside that of the next holder. Stop it first."),
	},
	HolderLease: {
		"key with a lease", "software that binds one key to a lease",
		keep("use a method of the holder's software."),
		revoke("", "The holder must detect the end of its lease itself: npm's lock at its next renewal, python3-etcd3 only when it calls is_acquired().", ""),
	},
	HolderFolder: {
		"", "etcd-leader",
		actionTexts{key: "The first key of the queue is deleted.", holder: "The holder notices this at once, and joins the queue again as the last.", delay: nextLeads},
		actionTexts{refusal: "The v2 API has no leases: release the key.", key: "The key would be deleted.", delay: nextLeads},
	},
}
