package ui

import (
	"testing"

	"electop/election"
)

func TestActionsWaitUntilAKeyIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*election.Snapshot)
		want   string
	}{
		"connecting":  {func(*election.Snapshot) {}, "Unavailable until electop is connected to Consul."},
		"unreachable": {func(s *election.Snapshot) { s.Connection = neverConnected() }, "Unavailable while Consul is unreachable: this data is stale."},
		"not read":    {partlyRead, "Unavailable until auth is read: this data is from the history."},
	} {
		for _, key := range []string{"r", "x"} {
			d := recorded(tt.change, "g", key)(t, 120, 36)
			if d.m.dialog != nil {
				t.Errorf("%s: %s opens a dialog", name, key)
			}
			d.wants(tt.want)
		}
	}
}

// While Consul is unreachable, the errors of the surroundings are not shown: the banner already shows the same error.
func TestNextLeadersWhileConsulIsUnreachable(t *testing.T) {
	d := recorded(func(s *election.Snapshot) {
		s.Connection = neverConnected()
		s.Surroundings = &election.Surroundings{Key: "service/auth/leader", SiblingsErr: "sibling keys: refused", SessionsErr: "sessions: refused"}
	}, "g")(t, 120, 36)
	d.wants("Likely next  unknown: Consul is unreachable")
	d.lacks("refused; sessions")
}
