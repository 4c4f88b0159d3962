package insight

import (
	"strings"
	"testing"

	"electop/election"
)

func TestFailure(t *testing.T) {
	const failed, why = "serfHealth=critical", "The leader's node node-1 has failed (serfHealth is critical), but its session is not bound to serfHealth"
	for _, tt := range []struct {
		name, given string
		why         string // empty if there is no failure
		current     bool
	}{
		{"a failed node", "bare " + failed, why + " and has no TTL.", true},
		{"a failed node, a session with a TTL", "bare ttl=15s " + failed, why + ": it remains until its TTL expires, about 30s after the last renewal.", true},
		{"a failed node in another spelling", "bare node=NODE-1 " + failed, "The leader's node NODE-1", true},
		{"a failed node, outdated checks", "bare " + failed, why, false},
		{"a failed node, unread checks", "bare " + failed, "", false},
		{"a session that is bound to serfHealth in another spelling", "held bound=SERFHEALTH " + failed, "", false},
		{"a session that is bound to another check", "held bound=disk " + failed, why, true},
		{"an unread session", "nosession " + failed, "", false},
		{"an unreadable key", "bare unreadable " + failed, "", false},
		{"a service check with the same ID", "bare " + failed, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _, checks := fixture(tt.given)
			known := election.NodeChecks{Checks: checks}
			switch tt.name {
			case "a failed node, outdated checks":
				known.Until = t0
			case "a failed node, unread checks":
				known.Err = "denied"
			case "a service check with the same ID":
				checks[0].Service = "web"
			}
			f := FailureOf(e, map[string]election.NodeChecks{"node-1": known, "NODE-1": known, "": {Checks: checks}})
			got := ""
			if f != nil {
				got = f.Why()
			}
			if (got == "") != (tt.why == "") || !strings.HasPrefix(got, tt.why) || f.Current() != tt.current {
				t.Errorf("current %v: %s", f.Current(), got)
			}
		})
	}
}
