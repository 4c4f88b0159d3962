package election

import (
	"testing"
	"time"
)

func TestDetectSoftware(t *testing.T) {
	plain := newSession("a", "db-pg1", "n1")
	own := newSession("a", "db-pg1", "n1", patroni)
	citus := newSession("a", "db-pg1", "n1", patroni)
	stranger := newSession("a", "app", "n1", patroni)
	members := []Pair{{Key: "service/db/members/pg1", Session: "a", Value: []byte(`{"conn_url":"postgres://10.0.0.1","role":"master"}`)}}
	vacated := led("db", "service/db/leader", own)
	vacated.Session, vacated.LastSession, vacated.Pair.Session = nil, own, ""
	tests := []struct {
		name     string
		e        *Election
		siblings []Pair
		want     string
	}{
		{"Vault by its session", led("v", "secret/core/lock", newSession("a", "Vault Lock", "n1")), nil, "vault operator step-down"},
		{"Vault by its key", led("v", "vault/core/lock", plain), nil, "vault operator step-down"},
		{"Vault below a prefix", led("v", "prod/vault/core/lock", plain), nil, "vault operator step-down"},
		{"somebody else's key that ends alike", led("v", "notvault/core/lock", plain), nil, ""},
		{"Patroni by its session", led("db", "service/db/leader", own), nil, "patronictl switchover db"},
		{"Patroni by the last session", vacated, nil, "patronictl switchover db"},
		{"Patroni by its members", led("db", "service/db/leader", stranger), members, "patronictl switchover db"},
		{"Patroni by a member that leads", led("db", "service/db/leader", stranger), []Pair{sibling("service/db/members/db-1", "a")}, "patronictl switchover db"},
		{"a group of Citus", led("db", "service/db/0/leader", citus), nil, "patronictl switchover db --group 0"},
		{"members of another program", led("db", "service/db/leader", stranger), []Pair{sibling("service/db/members/x", "b")}, ""},
		{"a session that Patroni never makes", led("db", "service/db/leader", plain), members, ""},
		{"not the leader key", led("db", "service/db/failover", own), members, ""},
		{"a scope that a shell would run", led("x", "service/x;reboot/leader", newSession("a", "x;reboot-1", "n1", patroni)), nil, "patronictl switchover"},
		{"the guide's recipe", led("web", "service/web/leader", newSession("a", "web", "n1", ttl(time.Minute))), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if s := DetectSoftware(tt.e, around(tt.e, tt.siblings)); s != nil {
				got = s.StepDown
				if s.Name == "" || s.Otherwise == "" {
					t.Errorf("%+v", s)
				}
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	if DetectSoftware(led("db", "service/db/leader", own), nil) == nil {
		t.Error("surroundings are not needed")
	}
}
