package election

import "strings"

// Software is a program that runs an election by rules of its own.
type Software struct {
	Name string `json:"name"`
	// StepDown is the program's own way to move its leader.
	StepDown string `json:"step_down"`
	// Otherwise says what happens when it is not used.
	Otherwise string `json:"otherwise"`
}

// DetectSoftware recognises whose election this is from what such software
// leaves in Consul; nil when it is none that is known. s may be nil.
func DetectSoftware(e *Election, s *Surroundings) *Software {
	session := e.Session
	if session == nil {
		session = e.LastSession
	}
	switch {
	case isVault(e, session):
		return &Software{
			Name: "Vault", StepDown: "vault operator step-down",
			Otherwise: "the active node learns only from Consul that it lost the lock; requests fail until a standby has taken over",
		}
	case isPatroni(e, session, s):
		return &Software{
			Name: "Patroni", StepDown: patroniSwitchover(e, session),
			Otherwise: "the primary is demoted without a checkpoint, a replica that lags may be promoted, or the old primary simply takes the key again",
		}
	}
	return nil
}

func isVault(e *Election, session *Session) bool {
	return session != nil && session.Name == "Vault Lock" || "/"+e.Key() == "/vault/core/lock" ||
		strings.HasSuffix(e.Key(), "/vault/core/lock")
}

// isPatroni knows Patroni by its keys, or by a session as only Patroni makes it:
// named <scope>-<member>, Behavior delete, no lock-delay to speak of.
func isPatroni(e *Election, session *Session, s *Surroundings) bool {
	if base(e.Key()) != "leader" || session != nil && session.Behavior != BehaviorDelete {
		return false
	}
	if s != nil && s.Key == e.Key() && patroniKeys(e, s.Siblings) {
		return true
	}
	scope, _ := patroniScope(e.Key(), session)
	return session != nil && session.TTL > 0 && session.LockDelay < shortLockDelay && strings.HasPrefix(session.Name, scope+"-")
}

// patroniKeys looks for members and, because others have members too, for what
// only Patroni keeps beside them: JSON about a PostgreSQL, or its own keys.
func patroniKeys(e *Election, siblings []Pair) bool {
	members, own := false, false
	parent := Parent(e.Key())
	for _, p := range siblings {
		rest, _ := strings.CutPrefix(p.Key, parent)
		member := strings.HasPrefix(rest, "members/")
		members = members || member
		switch rest {
		case "config", "initialize", "status", "optime/leader":
			own = true
		}
		own = own || member && (JSONMember(p.Value, "conn_url") != "" || JSONMember(p.Value, "api_url") != "" ||
			p.Session != "" && p.Session == e.Pair.Session && base(rest) == string(e.Pair.Value))
	}
	return members && own
}

// patroniScope is the cluster's name, and the group of a Citus cluster, whose
// keys lie one level deeper.
func patroniScope(key string, session *Session) (scope, group string) {
	folder := strings.TrimSuffix(Parent(key), "/")
	scope, above := base(folder), base(strings.TrimSuffix(Parent(folder), "/"))
	if session != nil && strings.Trim(scope, "0123456789") == "" && strings.HasPrefix(session.Name, above+"-") {
		return above, scope
	}
	return scope, ""
}

// patroniSwitchover is a command for people to copy: a scope that a shell could
// take for anything but a word stays out of it.
func patroniSwitchover(e *Election, session *Session) string {
	scope, group := patroniScope(e.Key(), session)
	if scope == "." || strings.HasPrefix(scope, "-") || strings.Trim(scope, shellWord) != "" {
		return "patronictl switchover"
	}
	if group != "" {
		scope += " --group " + group
	}
	return "patronictl switchover " + scope
}

// shellWord are characters without a meaning to a shell.
const shellWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
