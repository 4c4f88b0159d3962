package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/scene"
)

// hold identifies a key and the session that holds the key. Permissions are cached by hold.
type hold struct {
	id      election.ID
	session string
}

func holdOf(t election.Target) hold { return hold{t.ID(), t.Session} }

// rightsMsg contains the token's permissions for one hold. An empty field is an unknown permission.
type rightsMsg struct {
	of     hold
	rights election.Rights
}

// rightsBook caches the token's permissions. It sends one request at a time, so that moving through a long table does
// not overload Consul.
type rightsBook struct {
	ask    func(t election.Target) tea.Cmd // nil if permissions are unavailable
	known  map[hold]rightsEntry
	asking bool
}

type rightsEntry struct {
	rights election.Rights
	at     time.Time
}

// The lifetime of a cached permission, the timeout of a request and the size of the cache.
const (
	rightsAge   = time.Minute
	rightsTime  = 5 * time.Second
	rightsLimit = 1000
)

func newRightsBook(ctx context.Context, ask func(context.Context, election.Target) (election.Rights, error)) *rightsBook {
	b := &rightsBook{known: map[hold]rightsEntry{}}
	if ask == nil {
		return b
	}
	b.ask = func(t election.Target) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, rightsTime)
			defer cancel()
			r, err := ask(ctx, t)
			if err != nil {
				r = election.Rights{} // unknown permissions disable no action
			}
			return rightsMsg{of: holdOf(t), rights: r}
		}
	}
	return b
}

func (b *rightsBook) learned(msg rightsMsg, now time.Time) {
	b.asking = false
	if len(b.known) >= rightsLimit {
		clear(b.known)
	}
	b.known[msg.of] = rightsEntry{msg.rights, now}
}

func (b *rightsBook) forget(targets []scene.Target) {
	for _, t := range targets {
		delete(b.known, holdOf(t.Target))
	}
}

// unknown reports whether no recent permission for a hold is cached.
func (b *rightsBook) unknown(of hold, now time.Time) bool {
	entry, ok := b.known[of]
	return !ok || now.Sub(entry.at) > rightsAge
}

// missing returns the ACL rule that the token lacks for an action. It is empty if the token has the rule or if the
// permission is unknown.
func (b *rightsBook) missing(kind election.ActionKind, of election.Target) string {
	missing, rule := b.known[holdOf(of)].rights.Missing(kind)
	switch {
	case !missing:
		return ""
	case rule == "":
		return "a rule that allows the " + string(kind)
	}
	return sanitize.Text(rule)
}

// askRights reads the next permission that is not cached: for a target of the open dialog, or else for the
// selected hold. It returns nil if all permissions are cached, no action is possible or a request is in progress.
func (m *Model) askRights() tea.Cmd {
	b := m.out.rights
	if b.ask == nil || b.asking || m.scene.Refusal(election.ActionRelease) != "" {
		return nil
	}
	var targets []election.Target
	if m.dialog != nil {
		for _, t := range m.dialog.Targets() {
			targets = append(targets, t.Target)
		}
	}
	if t := m.selectedTarget(); t != nil {
		targets = append(targets, *t)
	}
	for _, t := range targets {
		if b.unknown(holdOf(t), m.feed.now) {
			b.asking = true
			return b.ask(t)
		}
	}
	return nil
}

// selectedTarget returns the target of r and x if nothing is marked, or nil if there is no target.
func (m *Model) selectedTarget() *election.Target {
	var t election.Target
	if m.focus.view == viewSessions {
		s := m.sessions.Selected()
		if s == nil {
			return nil
		}
		t = m.scene.BindSession(s, false).Target
		return &t
	}
	e := m.scene.Selected
	if m.focus.view != viewElections || e == nil || scene.DisplayStateOf(e, m.scene.AsOf) != scene.StateLed {
		return nil
	}
	t = e.Target()
	return &t
}

// greyed disables the keys of actions that the token does not permit.
func greyed(k keys.Map, s *scene.Scene, t *election.Target) keys.Map {
	if t != nil {
		k.Release.SetEnabled(s.Missing(election.ActionRelease, *t) == "")
		k.Destroy.SetEnabled(s.Missing(election.ActionDestroy, *t) == "")
		if t.Key != "" {
			k.Drain.SetEnabled(s.Missing(election.ActionRelease, *t) == "")
		}
	}
	return k
}
