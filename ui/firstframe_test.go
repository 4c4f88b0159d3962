package ui

import (
	"testing"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
)

func TestActionsWaitUntilAKeyIsRead(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*election.Snapshot)
		want   string
	}{
		"connecting":  {func(*election.Snapshot) {}, "Unavailable until Consul is connected."},
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

func TestTheFirstFrameHasTheHistory(t *testing.T) {
	snapshots := make(chan *election.Snapshot, 3)
	live := emptySnapshot(false) // Consul may answer before the history is read
	live.Loaded = false
	snapshots <- live
	snapshots <- uitest.Recorded()
	snapshots <- live
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots}); snap != nil {
		t.Error("it waited without a history")
	}
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: struct{ history.Source }{}}); snap == nil || snap.RecordedUntil.IsZero() {
		t.Errorf("the first snapshot is %+v", snap)
	}
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: struct{ history.Source }{}}); snap != live { // no other comes
		t.Errorf("%+v", snap)
	}
}
