package insight

import (
	"testing"

	"electop/election"
)

// A wrong refusal prevents the release of an ordinary election. A missing refusal allows a release that disables
// Patroni's automatic failover. This test covers both errors.
func TestDetectPatroni(t *testing.T) {
	for _, tt := range []struct{ name, e, siblings, want string }{
		{"its session and value", "service/db/leader pg1 | a, db-pg1, n1, patroni", "", "patronictl -c FILE switchover db"},
		{"a scope with a slash", "service/eu/db/leader pg1 | a, eu/db-pg1, n1, patroni", "", "patronictl -c FILE switchover"},
		{"a scope that a shell would execute", "service/x&reboot/leader 1 | a, x&reboot-1, n1, patroni", "", "patronictl -c FILE switchover"},
		{"a scope that is a number", "service/12/leader pg1 | a, 12-pg1, n1, patroni", "", "patronictl -c FILE switchover 12"},
		{"a group of a Citus cluster", "service/db/0/leader pg1 | a, db-pg1, n1, patroni", "", "patronictl -c FILE switchover db --group 0"},
		{"overwritten with another value", "service/db/leader pg2 overwritten | a, db-pg1, n1, patroni", "", "patronictl -c FILE switchover db"},
		{"overwritten, in a Citus cluster", "service/db/3/leader x overwritten | a, db-pg1, n1, patroni", "", "patronictl -c FILE switchover db --group 3"},
		{"vacant, recognised by the last session", "service/db/leader pg1 ended | a, db-pg1, n1, patroni", "", "patronictl -c FILE switchover db"},

		{"session not read, recognised by a member", "service/db/leader pg1", "service/db/members/pg1 a MEMBER", "patronictl -c FILE switchover db"},
		{"neither session nor member exists, recognised by the configuration", "service/db/leader pg1", "service/db/config - CONFIG", "patronictl -c FILE switchover db"},
		{"recognised by the system identifier", "service/db/leader pg1", "service/db/initialize - 7312345678901234567", "patronictl -c FILE switchover db"},
		{"vacant after a release, no session known", "service/db/leader pg1 ended", "service/db/config - CONFIG", "patronictl -c FILE switchover db"},
		{"another program's session on Patroni's key", "service/db/leader pg1 | a, rescue, n1", "service/db/members/pg1 b MEMBER", "patronictl -c FILE switchover db"},
		{"session not read, a group of Citus or a scope", "service/db/0/leader pg1", "service/db/0/members/pg1 a MEMBER", "patronictl -c FILE switchover"},

		{"a member's key", "service/db/members/pg1 MEMBER | a, db-pg1, n1, patroni", "", "patronictl -c FILE list"},
		{"a member's key, session not read", "service/db/members/pg1 MEMBER", "", "patronictl -c FILE list"},
		{"a member's key in a Citus cluster", "service/db/1/members/pg1 {} | a, db-pg1, n1, patroni", "", "patronictl -c FILE list"},

		{"another session that was not read holds the key now", "service/db/leader pg1 taken | a, db-pg1, n1, patroni", "", ""},
		{"no data except the key", "service/db/leader pg1", "", ""},
		{"only the key and keys of other names", "service/db/leader pg1", "service/db/state - {}", ""},
		{"Consul's leader election tutorial", `service/db/leader {"Node":"n1"} | a, db-pg1, n1, 1m`, "", ""},
		{"behavior delete and 1 ms, but the session has the name of the value", "service/web/leader web-1 | a, web-1, n1, patroni", "", ""},
		{"behavior delete and 1 ms, but the session has the name of the election", "service/web/leader web-1 | a, web, n1, patroni", "", ""},
		{"behavior delete and 1 ms, but the session has no name (libkv)", "traefik/leader 10.0.0.1:80 | a, , n1, patroni", "", ""},
		{"behavior delete, Patroni's names, but a lock-delay", "service/db/leader pg1 | a, db-pg1, n1, patroni, delay=15s", "", ""},
		{"Patroni's names, but behavior release", "service/db/leader pg1 | a, db-pg1, n1, patroni, release", "", ""},
		{"Patroni's names, but no TTL", "service/db/leader pg1 | a, db-pg1, n1, patroni, 0s", "", ""},
		{"members of another program", "service/db/leader pg1 | a, app, n1, patroni", `service/db/members/pg1 a {"role":"master"}; service/db/config - {}`, ""},
		{"Patroni's folder, but not its leader key", "service/db/backup-leader pg1 | a, db-pg1, n1, patroni", "service/db/config - CONFIG", ""},
		{"Patroni below another folder", "service/web/leader web-1", "service/web/db/config - CONFIG", ""},
		{"a system identifier that is too short", "service/web/leader web-1", "service/web/initialize - 1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, got := heldOf(tt.e), ""
			s := around(e, pairsOf(tt.siblings))
			software := DetectSoftware(e, s)
			if software != nil {
				got = software.StepDown
			}
			if got != tt.want || software != nil && software.Name != "Patroni" {
				t.Errorf("%+v, want %q", software, tt.want)
			}
			for _, action := range []election.ActionKind{election.ActionRelease, election.ActionDestroy} {
				f := EffectOf(action, e, s, 2)
				if refused := tt.want != "" && action == election.ActionRelease; (f.Refusal != "") != refused || f.Better != tt.want {
					t.Errorf("%s: %+v", action, f)
				}
			}
		})
	}
}
