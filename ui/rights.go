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

// wants reports that nothing fresh is known of a hold.
func (b *rightsBook) wants(of hold, now time.Time) bool {
	entry, ok := b.known[of]
	return !ok || now.Sub(entry.at) > rightsAge
}

// missing is the rule that the token lacks for an action, empty when nothing is
// known to be missing.
func (b *rightsBook) missing(kind election.ActionKind, of hold) string {
	r := b.known[of].rights
	allowed, rule := r.Release, r.ReleaseRule
	if kind == election.ActionDestroy {
		allowed, rule = r.Destroy, r.DestroyRule
	}
	switch {
	case !r.Known || allowed:
		return ""
	case rule == "":
		return "a rule that allows to " + string(kind) + " it"
	}
	return sanitize.Text(rule)
}

// askRights asks for the rights that matter next: those of the open dialog's
// targets, then those of the selected hold. It is nil when there is nothing to ask.
func (m *Model) askRights() tea.Cmd {
	b := m.rights
	if b.ask == nil || b.asking || m.opts.ReadOnly || m.opts.Operator == nil || m.live.Connection.State != election.Live {
		return nil
	}
	if m.dialog != nil {
		for _, target := range m.dialog.Targets() {
			if t := target.Target; b.wants(holdOf(t), m.now) {
				b.asking = true
				return b.ask(t)
			}
		}
	}
	if t, ok := m.selectedTarget(); ok && b.wants(holdOf(t), m.now) {
		b.asking = true
		return b.ask(t)
	}
	return nil
}

// selectedTarget is what r or x would act on if nothing is marked.
func (m *Model) selectedTarget() (election.Target, bool) {
	if m.view == viewSessions {
		s := m.sessions.Selected()
		if s == nil {
			return election.Target{}, false
		}
		return scene.BindSession(s, false).Target, true
	}
	e := m.table.selected()
	if m.view != viewElections || e == nil || scene.StandingOf(e, m.asOf()) != scene.StandsLed {
		return election.Target{}, false
	}
	return e.Target(), true
}

// greyed marks the keys of actions that the token may not carry out.
func (m *Model) greyed(k keys.Map) keys.Map {
	if t, ok := m.selectedTarget(); ok {
		k.Release.SetEnabled(m.rights.missing(election.ActionRelease, holdOf(t)) == "")
		k.Destroy.SetEnabled(m.rights.missing(election.ActionDestroy, holdOf(t)) == "")
	}
	return k
}
