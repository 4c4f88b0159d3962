package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// patroniLockDelay is the lock-delay of every session of Patroni (lock_delay in patroni/dcs/consul.py of 3.0.2; not
// configurable).
const patroniLockDelay = time.Millisecond

// isPatroniLeader recognises <namespace>/<scope>/leader by its session or by sibling keys that only Patroni writes.
// In Consul the key is not sufficient, because its leader election tutorial uses service/<name>/leader.
func isPatroniLeader(e *election.Election, s *election.Surroundings) bool {
	if base(e.Key()) != "leader" {
		return false
	}
	folder := election.Parent(e.Key())
	_, ok := patroniScope(e, folder, string(e.Pair.Value))
	return ok || e.Store.Leases && e.Pair.Queue == nil && strings.HasPrefix(e.Key(), "/service/") ||
		s != nil && s.Key == e.Key() && slices.ContainsFunc(s.Siblings, func(p election.Pair) bool {
			name, ok := strings.CutPrefix(p.Key, folder)
			return ok && isPatroniContent(name, p.Value)
		})
}

// isPatroniMember recognises <namespace>/<scope>/members/<member> by its session or its value.
func isPatroniMember(e *election.Election) bool {
	folder, ok := strings.CutSuffix(election.Parent(e.Key()), "members/")
	_, scoped := patroniScope(e, folder, base(e.Key()))
	return ok && (scoped || isPatroniMemberValue(e.Pair.Value))
}

// patroniScope returns the arguments of patronictl for the cluster in a folder: its scope, and the group of a Citus
// cluster. The session is named <scope>-<member>; an overwritten leader key does not contain the member.
func patroniScope(e *election.Election, folder, member string) (arguments string, ok bool) {
	session := holderSession(e)
	if session == nil || session.Behavior != election.BehaviorDelete || session.LockDelay != patroniLockDelay || session.TTL <= 0 {
		return "", false
	}
	for _, scope := range []string{base(folder), base(election.Parent(strings.TrimSuffix(folder, "/")))} {
		if got, named := strings.CutPrefix(base(session.Name), scope+"-"); named && (got == member || e.Overwritten()) {
			if base(folder) != scope {
				scope += " --group " + base(folder)
			}
			return scope, !strings.Contains(scope, " ") || isNumber(base(folder))
		}
	}
	return "", false
}

// systemIdentifier is the minimum number of digits of a PostgreSQL system identifier, a 64-bit number whose high bits
// are the creation time.
const systemIdentifier = 16

// isPatroniContent reports whether the key with this name below a cluster's folder has content that only Patroni writes.
func isPatroniContent(name string, value []byte) bool {
	switch name {
	case "config":
		return election.JSONMember(value, "loop_wait") != ""
	case "status":
		return election.JSONMember(value, "optime") != ""
	case "initialize":
		return len(value) >= systemIdentifier && isNumber(string(value))
	}
	return strings.HasPrefix(name, "members/") && isPatroniMemberValue(value)
}

// isPatroniMemberValue reports whether a value contains an address of PostgreSQL or of Patroni's REST API.
func isPatroniMemberValue(value []byte) bool {
	return strings.HasPrefix(election.JSONMember(value, "conn_url"), "postgres") ||
		strings.HasSuffix(election.JSONMember(value, "api_url"), "/patroni")
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// patroniSwitchover returns a command that the user can copy. It omits the scope if it is uncertain, or if a shell would
// interpret it.
func patroniSwitchover(e *election.Election) string {
	folder := election.Parent(e.Key())
	scope, ok := patroniScope(e, folder, string(e.Pair.Value))
	if !ok && !isNumber(base(folder)) { // a number is the group of a Citus cluster or a part of the scope
		scope = base(folder)
	}
	s := holderSession(e)
	if scope == "" || scope == "." || scope[0] == '-' || strings.Trim(scope, shellWord+" ") != "" || ok && strings.Contains(s.Name, "/") {
		return switchover
	}
	return switchover + " " + scope
}

const switchover = "patronictl -c FILE switchover"

func patroniReleased(d *diagnosis) Finding {
	if !d.Exists || !isPatroniLeader(d.Election, d.Around) {
		return Finding{}
	}
	p := d.Pair
	with := fmt.Sprintf("with: consul kv delete -cas -modify-index=%d %s", p.ModifyIndex, p.Key)
	if !plainKey(p.Key) {
		with = fmt.Sprintf("with a check-and-set of index %d.", p.ModifyIndex)
	}
	return Finding{
		Why: "Patroni stores the leader's name in the key's value: a key with a value and without a session disables automatic failover while the primary is down.",
		Fix: "Wait if the primary is healthy: it acquires the key again within seconds. If it is down, make sure that its PostgreSQL has stopped, " +
			"otherwise two primaries may be writable. Then delete the key " + with,
	}
}
