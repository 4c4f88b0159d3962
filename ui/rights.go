package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/keys"
	"electop/ui/internal/scene"
)

// hold names what rights are asked for.
type hold struct{ key, session string }

func holdOf(t election.Target) hold { return hold{t.Key, t.Session} }

// rightsMsg is what the token may do to one hold, as far as that was told.
type rightsMsg struct {
	of     hold
	rights election.Rights
}

// rightsBook remembers what the token may do. It asks one question at a time,
// so that a cursor that runs through a long table does not flood Consul.
type rightsBook struct {
	ask    func(t election.Target) tea.Cmd // nil when nobody can be asked
	known  map[hold]rightsEntry
	asking bool
}

type rightsEntry struct {
	rights election.Rights
	at     time.Time
}

// How long an answer holds, how long an answer may take, and how many are kept.
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
				r = election.Rights{} // not told: everything is tried
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

// forget has the rights to targets asked for anew.
func (b *rightsBook) forget(targets []scene.Target) {
	for _, t := range targets {
		delete(b.known, holdOf(t.Target))
	}
}

// unknown reports that nothing fresh is known of a hold.
func (b *rightsBook) unknown(of hold, now time.Time) bool {
	entry, ok := b.known[of]
	return !ok || now.Sub(entry.at) > rightsAge
}

// missing is the rule that the token lacks for an action, empty when nothing is
// known to be missing.
func (b *rightsBook) missing(kind election.ActionKind, of election.Target) string {
	missing, rule := b.known[holdOf(of)].rights.Missing(kind)
	switch {
	case !missing:
		return ""
	case rule == "":
		return "a rule that allows to " + string(kind) + " it"
	}
	return sanitize.Text(rule)
}

// askRights asks for the rights that matter next: those of the open dialog's
// targets, then those of the selected hold. It is nil when there is nothing to ask.
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

// selectedTarget is what r or x would act on if nothing is marked, nil for nothing.
func (m *Model) selectedTarget() *election.Target {
	var t election.Target
	if m.focus.view == viewSessions {
		s := m.sessions.Selected()
		if s == nil {
			return nil
		}
		t = scene.BindSession(s, false).Target
		return &t
	}
	e := m.scene.Selected
	if m.focus.view != viewElections || e == nil || scene.DisplayStateOf(e, m.scene.AsOf) != scene.StateLed {
		return nil
	}
	t = e.Target()
	return &t
}

// greyed are the keys, those of actions disabled that the token may not carry out.
func greyed(k keys.Map, s *scene.Scene, t *election.Target) keys.Map {
	if t != nil {
		k.Release.SetEnabled(s.Missing(election.ActionRelease, *t) == "")
		k.Destroy.SetEnabled(s.Missing(election.ActionDestroy, *t) == "")
	}
	return k
}
