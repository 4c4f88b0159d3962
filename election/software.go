package election

import "strings"

// Software is a program that runs an election by rules of its own.
type Software struct {
	Name string
	// StepDown is the program's own way to move its leader.
	StepDown string
	// Otherwise says what happens when it is not used.
	Otherwise string
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
			Otherwise: "the active node loses its lock, seals nothing, and requests fail until a standby takes over",
		}
	case isPatroni(e, session, s):
		scope := base(strings.TrimSuffix(Parent(e.Key()), "/"))
		return &Software{
			Name: "Patroni", StepDown: "patronictl switchover " + Line(scope, 60),
			Otherwise: "the primary is demoted without a checkpoint, a replica that lags may be promoted, and Patroni may simply take the key again",
		}
	}
	return nil
}

func isVault(e *Election, session *Session) bool {
	return session != nil && session.Name == "Vault Lock" || strings.HasSuffix(e.Key(), "vault/core/lock")
}

// isPatroni knows Patroni by its keys, or by a session as only Patroni makes it:
// named <scope>-<member>, Behavior delete, no checks.
func isPatroni(e *Election, session *Session, s *Surroundings) bool {
	if base(e.Key()) != "leader" {
		return false
	}
	parent := Parent(e.Key())
	if s != nil && s.Key == e.Key() {
		for _, p := range s.Siblings {
			if strings.HasPrefix(p.Key, parent+"members/") {
				return true
			}
		}
	}
	scope := base(strings.TrimSuffix(parent, "/"))
	return session != nil && session.Behavior == BehaviorDelete && len(session.Checks()) == 0 && session.TTL > 0 &&
		strings.HasPrefix(session.Name, scope+"-")
}
