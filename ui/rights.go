package ui

import (
	"context"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// hold identifies a key and the session that holds the key. Permissions are cached by hold.
type hold struct {
	id      election.ID
	session string
}

func holdOf(t election.Target) hold { return hold{t.ID(), t.Session} }

// rights caches the token's permissions. It sends one request at a time, so that moving through a long table does
// not overload Consul.
type rights struct {
	read  func(ctx context.Context, t election.Target) (election.MissingRules, error) // nil if permissions are unavailable
	known map[hold]rightsEntry
	task  *kit.Task
}

type rightsEntry struct {
	rights election.MissingRules
	at     time.Time
}

const (
	rightsAge  = time.Minute     // the lifetime of a cached permission
	rightsTime = 5 * time.Second // the timeout of a request
	// rightsLimit is the number of targets of a dialog whose permissions are read. Consul checks all of them itself.
	rightsLimit = 200
)

// forgetOld removes expired entries. A dialog does not repeat requests while it is open: they would never end with
// many targets or a slow connection.
func (b *rights) forgetOld(now time.Time) {
	maps.DeleteFunc(b.known, func(_ hold, entry rightsEntry) bool { return now.Sub(entry.at) > rightsAge })
}

// missing returns the ACL rule that the token lacks for an action. It is empty if the token has the rule or if the
// permission is unknown.
func (b *rights) missing(kind election.ActionKind, of election.Target) string {
	return sanitize.Text(b.known[holdOf(of)].rights[kind])
}

// askRights reads the next permission that is not cached: for a target of the open dialog, or else for the
// selected hold. It returns nil if all permissions are cached, no action is possible or a request is in progress.
func (m *Model) askRights() tea.Cmd {
	b := &m.rights
	if b.read == nil || b.task.Running() || m.scene.Refusal(election.ActionRelease) != "" {
		return nil
	}
	var targets []scene.Target
	if m.overlay != nil && m.overlay.Targets != nil {
		targets = m.overlay.Targets[:min(len(m.overlay.Targets), rightsLimit)]
	} else if t := m.selectedTarget(); t != nil {
		b.forgetOld(m.now)
		targets = []scene.Target{{Target: *t}}
	}
	for _, one := range targets {
		t := one.Target
		if _, known := b.known[holdOf(t)]; known {
			continue
		}
		b.task = kit.Read(m.ctx, rightsTime, func(ctx context.Context) kit.Apply {
			r, err := b.read(ctx, t)
			if err != nil {
				r = nil // unknown permissions disable no action
			}
			return func() tea.Cmd {
				b.known[holdOf(t)] = rightsEntry{r, m.now}
				return m.changed()
			}
		})
		break
	}
	return b.task.Start()
}

// selectedTarget returns the target of r and x if nothing is marked, or nil if there is no target.
func (m *Model) selectedTarget() *election.Target {
	if s := m.selectedSession(); s != nil {
		return new(s.Target())
	}
	e := m.scene.Selected
	if m.view != viewElections || e == nil || m.scene.StateOf(e) != scene.StateLed {
		return nil
	}
	return new(e.Target())
}

// denied lists the actions that the token does not permit for the selected target. Their keys are grey.
func (m *Model) denied() (names []string) {
	t := m.selectedTarget()
	if m.scene.Live.Store.Leases {
		names = append(names, "drain")
	}
	for _, kind := range []election.ActionKind{election.ActionRelease, election.ActionDestroy} {
		if t != nil && m.scene.Missing(kind, *t) != "" {
			names = append(names, string(kind))
			if kind == election.ActionRelease && t.Key != "" {
				names = append(names, "drain")
			}
		}
	}
	return names
}
