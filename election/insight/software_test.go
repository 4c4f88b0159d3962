package insight

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

// held returns a held election with this value. s is nil if the session was not read.
func held(key, value string, s *election.Session) *election.Election {
	e := &election.Election{Exists: true, Session: s, Pair: election.Pair{Key: key, Value: []byte(value), Session: "a", LockIndex: 1, CreateIndex: 1, ModifyIndex: 2}}
	return e
}

func valued(key, session, value string) election.Pair {
	return election.Pair{Key: key, Session: session, Value: []byte(value), LockIndex: 1}
}

const (
	memberJSON = `{"conn_url":"postgres://10.0.0.1:5432/postgres","api_url":"http://10.0.0.1:8008/patroni","state":"running","role":"master"}`
	configJSON = `{"ttl":30,"loop_wait":10,"retry_timeout":10}`
)

// A wrong refusal prevents the release of an ordinary election. A missing refusal allows a release that disables
// Patroni's automatic failover. This test covers both errors.
func TestDetectPatroni(t *testing.T) {
	const key = "service/db/leader"
	session := func(name string, change ...func(*election.Session)) *election.Session {
		return newSession("a", name, "n1", append([]func(*election.Session){patroni}, change...)...)
	}
	pg1 := session("db-pg1")
	change := func(e *election.Election, change func(*election.Election)) *election.Election { change(e); return e }
	vacant := change(held(key, "pg1", nil), func(e *election.Election) { e.LastSession, e.Pair.Session = pg1, "" })
	tests := []struct {
		name     string
		e        *election.Election
		siblings []election.Pair
		want     string
	}{
		{"its session and value", held(key, "pg1", pg1), nil, "patronictl switchover db"},
		{"a scope with a slash", held("service/eu/db/leader", "pg1", session("eu/db-pg1")), nil, "patronictl switchover"},
		{"a scope that a shell would execute", held("service/x;reboot/leader", "1", session("x;reboot-1")), nil, "patronictl switchover"},
		{"a scope that is a number", held("service/12/leader", "pg1", session("12-pg1")), nil, "patronictl switchover 12"},
		{"a group of a Citus cluster", held("service/db/0/leader", "pg1", pg1), nil, "patronictl switchover db --group 0"},
		{"overwritten with another value", change(held(key, "pg2", pg1), func(e *election.Election) { e.Pair.LockIndex = 0 }), nil, "patronictl switchover db"},
		{"overwritten, in a Citus cluster", change(held("service/db/3/leader", "x", pg1), func(e *election.Election) { e.Pair.LockIndex = 0 }), nil, "patronictl switchover db --group 3"},
		{"vacant, recognised by the last session", vacant, nil, "patronictl switchover db"},

		{"session not read, recognised by a member", held(key, "pg1", nil), []election.Pair{valued("service/db/members/pg1", "a", memberJSON)}, "patronictl switchover db"},
		{"neither session nor member exists, recognised by the configuration", held(key, "pg1", nil), []election.Pair{valued("service/db/config", "", configJSON)}, "patronictl switchover db"},
		{"recognised by the system identifier", held(key, "pg1", nil), []election.Pair{valued("service/db/initialize", "", "7312345678901234567")}, "patronictl switchover db"},
		{"vacant after a release, no session known", change(held(key, "pg1", nil), func(e *election.Election) { e.Pair.Session = "" }), []election.Pair{valued("service/db/config", "", configJSON)}, "patronictl switchover db"},
		{"another program's session on Patroni's key", held(key, "pg1", newSession("a", "rescue", "n1")), []election.Pair{valued("service/db/members/pg1", "b", memberJSON)}, "patronictl switchover db"},
		{"session not read, a group of Citus or a scope", held("service/db/0/leader", "pg1", nil), []election.Pair{valued("service/db/0/members/pg1", "a", memberJSON)}, "patronictl switchover"},

		{"a member's key", held("service/db/members/pg1", memberJSON, pg1), nil, "patronictl list"},
		{"a member's key, session not read", held("service/db/members/pg1", memberJSON, nil), nil, "patronictl list"},
		{"a member's key in a Citus cluster", held("service/db/1/members/pg1", "{}", pg1), nil, "patronictl list"},

		{"another session that was not read holds the key now", change(held(key, "pg1", nil), func(e *election.Election) { e.LastSession, e.Pair.Session = pg1, "b" }), nil, ""},
		{"no data except the key", held(key, "pg1", nil), nil, ""},
		{"only the key and keys of other names", held(key, "pg1", nil), []election.Pair{valued("service/db/state", "", "{}")}, ""},
		{"Consul's leader election tutorial", held(key, `{"Node":"n1"}`, newSession("a", "db-pg1", "n1", ttl(time.Minute))), nil, ""},
		{"behavior delete and 1 ms, but the session has the name of the value", held("service/web/leader", "web-1", session("web-1")), nil, ""},
		{"behavior delete and 1 ms, but the session has the name of the election", held("service/web/leader", "web-1", session("web")), nil, ""},
		{"behavior delete and 1 ms, but the session has no name (libkv)", held("traefik/leader", "10.0.0.1:80", session("")), nil, ""},
		{"behavior delete, Patroni's names, but a lock-delay", held(key, "pg1", session("db-pg1", func(s *election.Session) { s.LockDelay = 15 * time.Second })), nil, ""},
		{"Patroni's names, but behavior release", held(key, "pg1", session("db-pg1", func(s *election.Session) { s.Behavior = election.BehaviorRelease })), nil, ""},
		{"Patroni's names, but no TTL", held(key, "pg1", session("db-pg1", ttl(0))), nil, ""},
		{"members of another program", held(key, "pg1", session("app")), []election.Pair{valued("service/db/members/pg1", "a", `{"role":"master"}`), valued("service/db/config", "", "{}")}, ""},
		{"Patroni's folder, but not its leader key", held("service/db/backup-leader", "pg1", pg1), []election.Pair{valued("service/db/config", "", configJSON)}, ""},
		{"Patroni below another folder", held("service/web/leader", "web-1", nil), []election.Pair{valued("service/web/db/config", "", configJSON)}, ""},
		{"a system identifier that is too short", held("service/web/leader", "web-1", nil), []election.Pair{valued("service/web/initialize", "", "1")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			software := DetectSoftware(tt.e, around(tt.e, tt.siblings))
			if software != nil {
				got = software.StepDown
			}
			if got != tt.want || software != nil && software.Name != "Patroni" {
				t.Errorf("%+v, want %q", software, tt.want)
			}
			for _, action := range []election.ActionKind{election.ActionRelease, election.ActionDestroy} {
				f := EffectOf(action, tt.e, around(tt.e, tt.siblings), 2)
				if refused := tt.want != "" && action == election.ActionRelease; (f.Refusal != "") != refused || f.Better != tt.want {
					t.Errorf("%s: %+v", action, f)
				}
			}
		})
	}
}

// flagged sets the key's flags.
func flagged(e *election.Election, flags uint64) *election.Election { e.Pair.Flags = flags; return e }

func TestKindsOfHolders(t *testing.T) {
	lock := func(name string, change ...func(*election.Session)) *election.Session {
		return newSession("a", name, "n1", append([]func(*election.Session){ttl(15 * time.Second)}, change...)...)
	}
	refreshed := held("service/web/leader", "2", lock("web"))
	refreshed.Events = []election.Event{{Type: election.Updated, Session: "a", CreateIndex: 1}}
	before := held("service/web/leader", "2", lock("web"))
	before.Events = []election.Event{{Type: election.Updated, Session: "b", CreateIndex: 1}}
	tests := []struct {
		name string
		e    *election.Election
		kind HolderKind
		want string
	}{
		{"consul lock", flagged(held("p/.lock", "", lock("Consul lock for 'sleep 1' at 'p'")), election.LockFlag), HolderConsulLock, "consul lock"},
		{"consul lock, a command with quotes", flagged(held("p/.lock", "", lock("Consul lock for 'echo 'a' at 'b'' at 'p'")), election.LockFlag), HolderConsulLock, "consul lock"},
		{"consul lock -name", flagged(held("p/.lock", "", lock("my backup")), election.LockFlag), HolderConsulLock, "probably consul lock"},
		{"consul lock, session not read", flagged(held("p/.lock", "", nil), election.LockFlag), HolderConsulLock, "probably consul lock"},
		{"api.Lock with the key .lock (Terraform)", flagged(held("p/.lock", "", lock("Consul API Lock")), election.LockFlag), HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock with another TTL on .lock", flagged(held("p/.lock", "", lock("app", ttl(time.Minute))), election.LockFlag), HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock", flagged(held("k", "v", lock("Consul API Lock")), election.LockFlag), HolderAPILock, "api.Lock or a compatible client"},
		{"npm's client, which writes the same data", flagged(held("k", "v", lock("Consul API Lock", func(s *election.Session) { s.LockDelay = 3 * time.Second })), election.LockFlag), HolderAPILock, "api.Lock or a compatible client"},
		{"api.Lock, session not read", flagged(held("k", "v", nil), election.LockFlag), HolderAPILock, "api.Lock or a compatible client"},
		{"electop campaign", flagged(held("k", "host", lock("electop campaign")), election.LockFlag), HolderCampaign, "electop campaign"},
		{"a contender of a semaphore", flagged(held("p/a", "", lock("Consul lock for 'x' at 'p'")), election.SemaphoreFlag), HolderSemaphore, "a semaphore (api.Semaphore or consul lock -n)"},
		{"Vault", flagged(held("vault/core/lock", "uuid", lock("Vault Lock")), election.LockFlag), HolderVault, "Vault"},
		{"a holder that was observed to refresh", refreshed, HolderRefreshing, "software that refreshes the key with ?acquire="},
		{"the previous holder refreshed", before, HolderUnknown, "unknown software"},
		{"a write without ?acquire=", func() *election.Election {
			e := *refreshed
			e.Pair.LockIndex = 0
			return &e
		}(), HolderUnknown, "unknown software"},
		{"Consul's leader election tutorial", held("service/web/leader", `{"Node":"n1"}`, newSession("a", "web", "n1")), HolderUnknown, "unknown software"},
		{"a session name with only the beginning of consul lock's names", held("p/.lock", "", lock("Consul lock for you")), HolderUnknown, "unknown software"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := EffectOf(election.ActionRelease, tt.e, nil, -1)
			if f.Kind != tt.kind || f.Software != tt.want {
				t.Errorf("%s, %q; want %s, %q", f.Kind, f.Software, tt.kind, tt.want)
			}
			if strings.HasPrefix(tt.want, "probably") != strings.Contains(f.Holder, "a guess") {
				t.Errorf("%q", f.Holder)
			}
		})
	}
}
