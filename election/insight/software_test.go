package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// heldOf parses a held key: "key value words | session" (see sessionOf). Without a session, it was not read. The value
// is "-" if it is empty. The words are the flags (lock, semaphore), "overwritten", "ended" (the session was the last
// one), "taken" (the same, and another session holds the key), "refreshed:SESSION",
// and numbers of earlier terms.
func heldOf(text string) *election.Election {
	head, holder, read := strings.Cut(text, " | ")
	words := strings.Fields(head)
	e := &election.Election{Exists: true, Pair: election.Pair{Key: words[0], Value: valueOf(words[1]), Session: "a", LockIndex: 1, CreateIndex: 1, ModifyIndex: 2}}
	if read {
		e.Session = sessionOf(holder)
		e.Pair.Session = e.Session.ID
	}
	for _, word := range words[2:] {
		switch word, by, _ := strings.Cut(word, ":"); word {
		case "lock":
			e.Pair.Flags = election.LockFlag
		case "semaphore":
			e.Pair.Flags = election.SemaphoreFlag
		case "overwritten":
			e.Pair.LockIndex = 0
			e.Events = []election.Event{{Type: election.Overwritten, CreateIndex: 1, ModifyIndex: 9, Evidence: strings.ReplaceAll(by, "_", " ")}, {Type: election.Overwritten, CreateIndex: 1}}
		case "ended", "taken":
			e.LastSession, e.Session, e.Pair.Session = e.Session, nil, map[string]string{"taken": "b"}[word]
		case "gone":
			e.Exists = false
		case "terms", "released":
			n, _ := strconv.Atoi(by)
			e.Terms = terms(n, true, map[string]election.Cause{"terms": election.CheckCritical, "released": election.OperatorRelease}[word])
		case "early": // so many terms began an hour earlier
			n, _ := strconv.Atoi(by)
			for i := range n {
				e.Terms[i].Start = e.Terms[i].Start.Add(-time.Hour)
			}
		case "leased", "queue", "folder":
			e.Store, e.Pair.Flags = election.Store{Leases: true, StepsDown: word == "folder"}, 0
			e.Session = &election.Session{ID: "a", TTL: 10 * time.Second, Behavior: election.BehaviorDelete, Expires: t0}
			if word == "queue" {
				e.Pair.Queue = []election.Waiter{{Session: "b", Name: "web-2", Revision: 7}}
			}
		case "refreshed":
			e.Events = []election.Event{{Type: election.Updated, Session: by, CreateIndex: 1}}
		}
	}
	return e
}

func valueOf(word string) []byte {
	return []byte(strings.NewReplacer("MEMBER", memberJSON, "CONFIG", configJSON).Replace(strings.TrimPrefix(word, "-")))
}

const (
	memberJSON = `{"conn_url":"postgres://10.0.0.1:5432/postgres","api_url":"http://10.0.0.1:8008/patroni","state":"running","role":"master"}`
	configJSON = `{"ttl":30,"loop_wait":10,"retry_timeout":10}`
)

func TestKindsOfHolders(t *testing.T) {
	for _, tt := range []struct {
		name, e string
		kind    HolderKind
		want    string
	}{
		{"consul lock", "p/.lock - lock | a, Consul lock for 'sleep 1' at 'p', n1, 15s", HolderConsulLock, "consul lock"},
		{"consul lock, a command with quotes", "p/.lock - lock | a, Consul lock for 'echo 'a' at 'b'' at 'p', n1, 15s", HolderConsulLock, "consul lock"},
		{"consul lock -name", "p/.lock - lock | a, my backup, n1, 15s", HolderConsulLock, "probably consul lock"},
		{"consul lock, session not read", "p/.lock - lock", HolderConsulLock, "probably consul lock"},
		{"api.Lock with the key .lock (Terraform)", "p/.lock - lock | a, Consul API Lock, n1, 15s", HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock with another TTL on .lock", "p/.lock - lock | a, app, n1, 1m", HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock, and npm's client, which writes the same data", "k v lock | a, Consul API Lock, n1, 15s", HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock, session not read", "k v lock", HolderAPILock, "api.Lock or a compatible client"},
		{"electop campaign", "k host lock | a, electop campaign, n1, 15s", HolderCampaign, "electop campaign"},
		{"a contender of a semaphore", "p/a - semaphore | a, Consul lock for 'x' at 'p', n1, 15s", HolderSemaphore, "a semaphore (api.Semaphore or consul lock -n)"},
		{"Vault", "vault/core/lock uuid lock | a, Vault Lock, n1, 15s", HolderVault, "Vault"},
		{"a holder that was observed to refresh", "service/web/leader 2 refreshed:a | a, web, n1, 15s", HolderRefreshing, "software that refreshes the key with ?acquire="},
		{"the previous holder refreshed", "service/web/leader 2 refreshed:b | a, web, n1, 15s", HolderUnknown, "unknown software"},
		{"a write without ?acquire=", "service/web/leader 2 refreshed:a overwritten | a, web, n1, 15s", HolderUnknown, "unknown software"},
		{"Consul's leader election tutorial", `service/web/leader {"Node":"n1"} | a, web, n1`, HolderUnknown, "unknown software"},
		{"a session name with only the beginning of consul lock's names", "p/.lock - | a, Consul lock for you, n1, 15s", HolderUnknown, "unknown software"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := EffectOf(election.ActionRelease, heldOf(tt.e), nil, -1)
			if f.Kind != tt.kind || f.Software != tt.want {
				t.Errorf("%s, %q; want %s, %q", f.Kind, f.Software, tt.kind, tt.want)
			}
			if strings.HasPrefix(tt.want, "probably") != strings.Contains(f.Holder, "a guess") {
				t.Errorf("%q", f.Holder)
			}
		})
	}
}
