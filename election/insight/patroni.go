package insight

import (
	"strings"
	"time"

	"electop/election"
)

// patroniLockDelay is the lock-delay of every session of Patroni (lock_delay in patroni/dcs/consul.py of 3.0.2; not
// configurable).
const patroniLockDelay = time.Millisecond

// isPatroniLeader recognises <namespace>/<scope>/leader by its session or by sibling keys that only Patroni writes.
// The key is not sufficient, because Consul's leader election tutorial uses service/<name>/leader.
func isPatroniLeader(e *election.Election, s *election.Surroundings) bool {
	if base(e.Key()) != "leader" {
		return false
	}
	if _, _, ok := patroniScope(e); ok {
		return true
	}
	return s != nil && s.Key == e.Key() && hasPatroniKeys(e.Key(), s.Siblings)
}

// isPatroniMember recognises <namespace>/<scope>/members/<member> by its session or its value.
func isPatroniMember(e *election.Election) bool {
	folder, ok := strings.CutSuffix(election.Parent(e.Key()), "/members/")
	if !ok {
		return false
	}
	session := holderSession(e)
	if patroniSettings(session) {
		if _, _, ok := scopeOf(folder, session.Name, base(e.Key())); ok {
			return true
		}
	}
	return isPatroniMemberValue(e.Pair.Value)
}

// patroniScope returns the cluster's scope, and the group of a Citus cluster. The session is named <scope>-<member>,
// and the key's value is the member unless a client wrote the key without the lock.
func patroniScope(e *election.Election) (scope, group string, ok bool) {
	session := holderSession(e)
	if !patroniSettings(session) {
		return "", "", false
	}
	folder := strings.TrimSuffix(election.Parent(e.Key()), "/")
	if scope, group, ok = scopeOf(folder, session.Name, string(e.Pair.Value)); ok || !e.Overwritten() {
		return scope, group, ok
	}
	for i, c := range session.Name {
		if scope, group, ok = scopeOf(folder, session.Name, session.Name[i+1:]); c == '-' && ok {
			return scope, group, true
		}
	}
	return "", "", false
}

func patroniSettings(s *election.Session) bool {
	return s != nil && s.Behavior == election.BehaviorDelete && s.LockDelay == patroniLockDelay && s.TTL > 0
}

// scopeOf derives the scope from the session's name, which ends with the member. The folder must end with the scope;
// in a Citus cluster, the group number follows. A scope may contain slashes.
func scopeOf(folder, session, member string) (scope, group string, ok bool) {
	scope, ok = strings.CutSuffix(session, "-"+member)
	if !ok || member == "" || scope == "" {
		return "", "", false
	}
	if strings.HasSuffix("/"+folder, "/"+scope) {
		return scope, "", true
	}
	above := strings.TrimSuffix(election.Parent(folder), "/")
	if isNumber(base(folder)) && strings.HasSuffix("/"+above, "/"+scope) {
		return scope, base(folder), true
	}
	return "", "", false
}

// hasPatroniKeys reports whether a sibling key has content that only Patroni writes.
func hasPatroniKeys(key string, siblings []election.Pair) bool {
	for _, p := range siblings {
		rest, ok := strings.CutPrefix(p.Key, election.Parent(key))
		if ok && IsPatroniContent(rest, p.Value) {
			return true
		}
	}
	return false
}

// systemIdentifier is the minimum number of digits of a PostgreSQL system identifier, a 64-bit number whose high bits
// are the creation time.
const systemIdentifier = 16

// IsPatroniContent reports whether the key with this name below a cluster's folder has content that only Patroni writes.
func IsPatroniContent(name string, value []byte) bool {
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

// patroniSwitchover returns a command that the user can copy. It omits the scope if the scope is uncertain or a shell
// would interpret it.
func patroniSwitchover(e *election.Election) string {
	scope, group, ok := patroniScope(e)
	if !ok {
		folder := strings.TrimSuffix(election.Parent(e.Key()), "/")
		if scope = base(folder); isNumber(scope) {
			return switchover // the folder is the group of a Citus cluster or a part of the scope
		}
	}
	if scope == "." || strings.HasPrefix(scope, "-") || strings.Trim(scope, shellWord) != "" {
		return switchover
	}
	command := switchover + " " + scope
	if group != "" {
		command += " --group " + group
	}
	return command
}

const switchover = "patronictl switchover"

// shellWord contains the characters that a shell does not interpret.
const shellWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
