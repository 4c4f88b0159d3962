package insight

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

func nodeCheckOf(id, service, status string) election.Check {
	return election.Check{ID: id, Node: "node-1", Service: service, Status: status}
}

// failedHolder returns an election whose leader's session has these checks.
func failedHolder(ttl time.Duration, nodeChecks ...string) *election.Election {
	s := &election.Session{ID: "s1", Name: "web", Node: "node-1", TTL: ttl, NodeChecks: nodeChecks}
	return &election.Election{Name: "web", Exists: true, Leader: "web-1", Session: s, Pair: election.Pair{Key: "web", Session: "s1"}}
}

func TestOf(t *testing.T) {
	failed := []election.Check{nodeCheckOf("serfHealth", "", "critical")}
	unread, free, hidden := failedHolder(0), failedHolder(0), failedHolder(0)
	unread.Session, free.Pair.Session, hidden.Unreadable = nil, "", true
	other := failedHolder(0)
	other.Session.Node = "NODE-1"
	until := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		e       *election.Election
		known   election.NodeChecks
		brief   string // empty if there is no failure
		why     string
		current bool
	}{
		{
			"a failed node", failedHolder(0), election.NodeChecks{Checks: failed}, "node failed",
			"The leader's node node-1 has failed (serfHealth is critical), but its session is not bound to serfHealth and has no TTL.", true,
		},
		{
			"a failed node, a session with a TTL", failedHolder(15 * time.Second), election.NodeChecks{Checks: failed}, "node failed",
			"The leader's node node-1 has failed (serfHealth is critical), but its session is not bound to serfHealth: it remains until its TTL expires, about 30s after the last renewal.", true,
		},
		{"a failed node in another spelling", failedHolder(0), election.NodeChecks{Checks: []election.Check{{ID: "serfHealth", Node: "Node-1", Status: "critical"}}}, "node failed", "", true},
		{"a failed node, outdated checks", failedHolder(0), election.NodeChecks{Checks: failed, Until: until}, "node failed", "", false},
		{"a failed node, unread checks", failedHolder(0), election.NodeChecks{Checks: failed, Err: "denied"}, "", "", false},
		{"a session that is bound to serfHealth in another spelling", failedHolder(0, "SERFHEALTH"), election.NodeChecks{Checks: failed}, "", "", false},
		{"a session that is bound to another check", failedHolder(0, "disk"), election.NodeChecks{Checks: failed}, "node failed", "", true},
		{"an unread session", unread, election.NodeChecks{Checks: failed}, "", "", false},
		{"an unreadable key", hidden, election.NodeChecks{Checks: failed}, "", "", false},
		{"a service check with the same ID", failedHolder(0), election.NodeChecks{Checks: []election.Check{nodeCheckOf("serfHealth", "web", "critical")}}, "", "", false},
		{"a node name in another case", other, election.NodeChecks{Checks: failed}, "node failed", "The leader's node NODE-1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := FailureOf(tt.e, map[string]election.NodeChecks{"node-1": tt.known, "NODE-1": tt.known, "": {Checks: failed}})
			brief, why := "", ""
			if f != nil {
				brief, why = FailureBrief, f.Why()
			}
			if brief != tt.brief || !strings.HasPrefix(why, tt.why) || f.Current() != tt.current {
				t.Errorf("%q, current %v: %s", brief, f.Current(), why)
			}
		})
	}
}
