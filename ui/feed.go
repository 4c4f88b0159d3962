package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// feed is what comes in: snapshots and the time.
type feed struct {
	// live is the newest snapshot, shown the one that is drawn: an older one while
	// the board is paused.
	live, shown *election.Snapshot
	paused      bool
	pausedAt    time.Time
	now         time.Time
	// latency follows the clock: that the link is a little faster or slower is no
	// reason to draw once more.
	latency time.Duration
}

// take takes a snapshot, which is shown at once unless the board is paused.
func (f *feed) take(snap *election.Snapshot) {
	f.live = snap
	if f.latency == 0 {
		f.latency = snap.Connection.Latency
	}
	if !f.paused {
		f.shown = snap
	}
}

// pause freezes the board or lets it go on with the newest snapshot.
func (f *feed) pause(on bool) {
	if on == f.paused {
		return
	}
	f.pausedAt = f.asOf()
	f.paused = on
	if !on {
		f.shown = f.live
	}
}

// asOf is the moment at which the shown snapshot is looked at. Of what happened
// after the board was paused or the link was lost nothing is known, so no clock
// on the board runs on.
func (f *feed) asOf() time.Time {
	c := f.live.Connection
	switch {
	case f.paused:
		return f.pausedAt
	case c.State == election.Lost && !c.LastContact.IsZero() && c.LastContact.Before(f.now):
		return c.LastContact
	}
	return f.now
}

// snapshotMsg is the newest snapshot.
type snapshotMsg struct{ snap *election.Snapshot }

// tickMsg is the clock's, once a second.
type tickMsg time.Time

// snapshotGap is the least time between two snapshots. Each has the board derived
// anew, 1.3 ms of CPU at 10,000 elections, and a single change waits for nothing.
const snapshotGap = 100 * time.Millisecond

// waitFor makes the command that waits for the next snapshot. Of several that
// are ready it takes the last. It ends with the context.
func waitFor(ctx context.Context, snapshots <-chan *election.Snapshot) func() tea.Msg {
	var last time.Time
	return func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(snapshotGap - time.Since(last)):
		}
		var snap *election.Snapshot
		open := true
		select {
		case <-ctx.Done():
			return nil
		case snap, open = <-snapshots:
		}
		for open {
			select {
			case newer, more := <-snapshots:
				if open = more; more {
					snap = newer
				}
				continue
			default:
			}
			break
		}
		if snap == nil {
			return nil
		}
		if snap.Loaded { // the first whole board does not wait
			last = time.Now()
		}
		return snapshotMsg{snap}
	}
}

// tick waits for the next full second, so that the clock never skips one.
func tick(now time.Time) tea.Cmd {
	return tea.Tick(time.Second-time.Duration(now.Nanosecond()), func(t time.Time) tea.Msg { return tickMsg(t) })
}
