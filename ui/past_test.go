package ui

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
)

// observations is a history that knows when elections were observed.
type observations struct {
	history.Source
	all   []history.Observation
	err   error
	reads *int
}

func (o observations) Observations(context.Context, history.Range) ([]history.Observation, error) {
	if o.reads != nil {
		*o.reads++
	}
	return o.all, o.err
}

// run performs a command and sends its messages.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if cmds, err := commandsOf(msg); msg != nil && err == nil {
		for _, c := range cmds {
			d.run(c)
		}
		return
	}
	if msg != nil {
		d.send(msg)
	}
}

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
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: observations{}}); snap == nil || snap.RecordedUntil.IsZero() {
		t.Errorf("the first snapshot is %+v", snap)
	}
	if snap := awaitFirst(t.Context(), Options{Snapshots: snapshots, History: observations{}}); snap != live { // no other comes
		t.Errorf("%+v", snap)
	}
}

func TestAHistoryThatCannotBeReadIsOneLine(t *testing.T) {
	source := observations{err: errors.New("history \"x.db\":\nthe file is damaged")}
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.History = source })
	d.run(d.m.out.observations)
	d.wants("History \"x.db\": the file is damaged", "billing-3")
}

// The time without a connection was not observed: another observer may have watched.
func TestCoverageIsReadAgainWhenTheConnectionIsRestored(t *testing.T) {
	reads := 0
	source := observations{reads: &reads, all: []history.Observation{{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: ago(time.Hour), To: ago(time.Minute)}}}
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.History = source })
	d.run(d.m.out.observations)
	if gaps := d.m.scene.Unobserved(mixedSnapshot().Elections[0]); reads != 1 || len(gaps) != 1 { // before the history began; live for an hour
		t.Fatalf("%d reads, %v", reads, gaps)
	}
	d.m.out.wait = func() tea.Msg { return nil } // no more snapshots
	d.run(d.send(snapshotMsg{lostSnapshot()}))
	d.run(d.send(snapshotMsg{mixedSnapshot()}))
	restored := mixedSnapshot()
	restored.Connection.Since = testNow()
	d.run(d.send(snapshotMsg{lostSnapshot()}))
	d.run(d.send(snapshotMsg{restored}))
	gaps := d.m.scene.Unobserved(restored.Elections[0])
	if reads != 3 || len(gaps) != 2 || !gaps[1].Since.Equal(ago(time.Minute)) || !gaps[1].Until.Equal(testNow()) {
		t.Errorf("%d reads, %v", reads, gaps)
	}
}
