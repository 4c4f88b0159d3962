package insight

// holderTexts describe what an action does to one kind of software. A test checks that docs/actions.md contains every
// sentence.
type holderTexts struct {
	// software is the name of the kind.
	software         string
	release, destroy actionTexts
}

// actionTexts are the sentences about one action; see [Effect]. If key or delay is empty, the general sentence
// applies.
type actionTexts struct {
	refusal, key, holder, delay string
	warnings                    []string
	// source is the section of docs/actions.md with the measurement, or "unproven: " and the reason why there is no
	// measurement.
	source string
}

// textsOf returns the texts of one kind of holder.
func textsOf(kind HolderKind) holderTexts {
	switch kind {
	case HolderRefreshing:
		return refreshingTexts()
	case HolderAPILock:
		return apiLockTexts()
	case HolderConsulLock:
		return consulLockTexts()
	case HolderSemaphore:
		return semaphoreTexts()
	case HolderCampaign:
		return campaignTexts()
	case HolderVault:
		return vaultTexts()
	case HolderPatroni:
		return patroniTexts()
	case HolderPatroniMember:
		return patroniMemberTexts()
	default:
		return unknownTexts()
	}
}

// untilItStops is the last sentence about a holder that detects the loss.
const untilItStops = "Until the holder stops its work, two processes may act as leader."

func unknownTexts() holderTexts {
	const (
		notices = "The holder must detect the loss of the lock itself. Until then, two processes may act as leader. "
		source  = "Refreshing and renewing holders"
	)
	return holderTexts{
		software: "unknown software",
		release: actionTexts{
			holder: notices + "A holder that only renews its session never detects the loss; a holder that refreshes the key with ?acquire= may lead again after its next write.",
			source: source,
		},
		destroy: actionTexts{
			holder: notices + "Consul rejects the next renewal of the session; a holder that neither renews the session nor reads the key never detects the loss.",
			source: source,
		},
	}
}

func refreshingTexts() holderTexts {
	const source = "Refreshing and renewing holders"
	return holderTexts{
		software: "software that refreshes the key with ?acquire=",
		release: actionTexts{
			holder: "The holder refreshes the key with ?acquire=: it leads again after its next write, unless another candidate acquires the key first. " + untilItStops,
			source: source,
		},
		destroy: actionTexts{
			holder: "The holder refreshes the key with ?acquire=: Consul rejects its next write, because the session no longer exists. " + untilItStops,
			source: source,
		},
	}
}

func apiLockTexts() holderTexts {
	const (
		notified = "The client is notified immediately: in Go, the channel that Lock returned is closed; npm's client emits \"end\" and destroys its session. " +
			"The application must react to it. " + untilItStops
		source = "api.Lock and npm's client"
	)
	return holderTexts{
		software: "api.Lock or a compatible client",
		release:  actionTexts{holder: notified, source: source},
		destroy:  actionTexts{holder: notified, source: source},
	}
}

func consulLockTexts() holderTexts {
	const (
		stops  = "consul lock sends SIGTERM to its child process (SIGKILL after 5s), "
		exits  = "and exits with code 0: a supervisor that restarts it only on failure does not restart it."
		source = "consul lock"
	)
	warnings := []string{
		"consul lock signals its child process only: with a shell command such as 'a; b', a process of that shell may continue to run while another candidate leads.",
	}
	return holderTexts{
		software: "consul lock",
		release: actionTexts{
			holder:   stops + "deletes the key if no other candidate is waiting, " + exits,
			warnings: warnings, source: source,
		},
		destroy: actionTexts{
			holder:   stops + "deletes the key, even if another candidate is waiting for the end of the lock-delay, " + exits,
			warnings: warnings, source: source,
		},
	}
}

func semaphoreTexts() holderTexts {
	const (
		holder = "api.Semaphore closes the channel that Acquire returned, and the application must react to it; " +
			"consul lock -n terminates its child process and exits with code 0. Until the holder stops its work, there may be more active holders than slots."
		source = "Semaphores"
	)
	return holderTexts{
		software: "a semaphore (api.Semaphore or consul lock -n)",
		release: actionTexts{
			key:    "The contender key is unlocked and its slot becomes free; the session is not ended.",
			holder: holder,
			delay:  "No lock-delay follows: a waiting contender takes the slot immediately.",
			source: source,
		},
		destroy: actionTexts{
			key:    "The session is destroyed with every lock that it holds; its contender key is deleted (behavior delete) and its slot becomes free.",
			holder: holder,
			delay:  "A slot has no lock-delay, regardless of the session's lock-delay: a waiting contender takes the slot immediately.",
			source: source,
		},
	}
}

func campaignTexts() holderTexts {
	const (
		stops  = "electop campaign stops its program immediately (SIGTERM, then SIGKILL) and exits with code 1. Without a program it competes again, "
		source = "electop campaign"
	)
	return holderTexts{
		software: "electop campaign",
		release:  actionTexts{holder: stops + "with the same session.", source: source},
		destroy:  actionTexts{holder: stops + "with a new session.", source: source},
	}
}

func vaultTexts() holderTexts {
	const (
		holder = "According to Vault's source code, the active node detects the loss and becomes a standby; according to its documentation, requests fail until another node is active."
		source = "unproven: according to Vault's source code and documentation; Vault was not run"
	)
	return holderTexts{
		software: "Vault",
		release:  actionTexts{holder: holder, source: source},
		destroy:  actionTexts{holder: holder, source: source},
	}
}

func patroniTexts() holderTexts {
	const source = "Patroni"
	return holderTexts{
		software: "Patroni",
		release: actionTexts{
			refusal: "Patroni stores the leader's name in the key's value, and a release keeps the value: with a healthy primary the leader does not change; " +
				"with a dead primary a release disables automatic failover.",
			holder: "A healthy primary deletes the key and acquires it again within seconds. With a dead primary there is no failover until the key is deleted.",
			source: source,
		},
		destroy: actionTexts{
			holder: "A healthy primary acquires the key again within seconds, so the leader does not change. With a dead primary a replica takes over.",
			warnings: []string{
				"If the member's API does not respond but its PostgreSQL still runs, a destroy causes two writable primaries until that PostgreSQL stops: make sure that it has stopped.",
			},
			source: source,
		},
	}
}

func patroniMemberTexts() holderTexts {
	const source = "unproven: according to Patroni's source code"
	return holderTexts{
		software: "Patroni (the key of a member)",
		release: actionTexts{
			refusal: "This is a Patroni member key, not an election. Patroni rewrites it while the member runs; if released, the key remains after the member stops.",
			holder:  "According to Patroni's source code, a running member deletes the key and writes it again.",
			source:  source,
		},
		destroy: actionTexts{
			holder: "According to Patroni's source code, a running member writes its key again with a new session. If it is the primary, its leader key is deleted as well.",
			source: source,
		},
	}
}
