package ui

import (
	"testing"

	"electop/election"
	"electop/ui/internal/uitest"
)

func TestActionsWaitUntilAKeyIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*election.Snapshot)
		want   string
	}{
		"connecting":  {func(*election.Snapshot) {}, "Unavailable until electop is connected to Consul."},
		"unreachable": {func(s *election.Snapshot) { s.Connection = neverConnected() }, "Unavailable while Consul is unreachable: this data is stale."},
		"rejecting": {func(s *election.Snapshot) {
			s.Connection = neverConnected()
			s.Connection.Refused = true
		}, "Unavailable while Consul rejects this token: this data is stale."},
		"not read": {partlyRead, "Unavailable until auth is read: this data is from the history."},
	} {
		for _, key := range []string{"r", "x"} {
			d := recorded(tt.change, "g", key)(t, 120, 36)
			if d.m.overlay != nil {
				t.Errorf("%s: %s opens a dialog", name, key)
			}
			d.wants(tt.want)
		}
	}
}

// Reads for the details would compete with the first read of the keys.
func TestDetailsAreReadAfterTheFirstResponse(t *testing.T) {
	for state, want := range map[election.ConnectionState]int{election.Connecting: 0, election.Lost: 1, election.Live: 1} {
		var o outside
		h, closed := &slowHistory{Moments: uitest.Incident()}, make(chan *election.Snapshot)
		close(closed)
		d := drive(t, nil, 120, 36, o.options, func(o *Options) { o.History, o.Snapshots = h, closed })
		snap := uitest.Recorded()
		snap.Connection.State = state
		d.run(d.send(snapshotMsg{snap}))
		if h.lanes != want || len(o.studied) != want {
			t.Errorf("%s: the dashboard reads the lanes %d times and studies %q", state, h.lanes, o.studied)
		}
	}
}

// While Consul is unreachable, the errors of the surroundings are not shown: the banner already shows the same error.
func TestNextLeadersWhileConsulIsUnreachable(t *testing.T) {
	for refused, want := range map[bool]string{false: "Consul is unreachable", true: "Consul rejects this token"} {
		d := recorded(func(s *election.Snapshot) {
			s.Connection = neverConnected()
			s.Connection.Refused = refused
			s.Surroundings = &election.Surroundings{Key: "service/auth/leader", SiblingsErr: "sibling keys: refused", SessionsErr: "sessions: refused"}
		}, "g")(t, 120, 36)
		d.wants("Likely next  unknown: " + want)
		d.lacks("refused; sessions")
	}
}
