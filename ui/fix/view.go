package fix

import (
	"strings"
	"time"

	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// boxWidth is the maximum width of the dialog, in cells.
const boxWidth = 84

func (m *Model) write(page *kit.Page, s *scene.Scene) {
	m.writeState(page, s)
	page.Blank()
	switch {
	case m.offline:
		page.Para(kit.Bad, scene.StaleText(s.Live.Connection))
	case m.changed != "":
		page.Para(kit.Delay, m.changed)
	case m.reading != nil && m.election.Pair.Held():
		page.Para(kit.Accent, "Reading the checks of the leader's node and, if it has failed, every key that its session holds.")
	case m.reading != nil:
		page.Para(kit.Accent, "Reading sibling keys and all sessions, and testing for a lock-delay.")
	case m.found.Fix == nil && m.election.Pair.Held():
		page.Para(kit.Led, "No failure found: Consul does not report that the leader's node has failed.")
		page.Para(kit.Text, "electop cannot determine whether the leader's process is running. If it has ended, press esc; then "+
			m.keys.Release.Help().Key+" releases the lock, or "+m.keys.Destroy.Help().Key+" destroys the leader's session.")
	case m.found.Fix == nil:
		page.Para(kit.Led, "Nothing to fix: a session has acquired the key.")
	default:
		m.writeFix(page, s)
	}
}

// writeState describes the election as it was diagnosed.
func (m *Model) writeState(page *kit.Page, s *scene.Scene) {
	e := m.election
	if s.Several() {
		page.Field("Datacenter", kit.Span{kit.Strong, scene.OneLine(e.Datacenter, 60)})
	}
	page.Field("Key", kit.Span{kit.Strong, sanitize.Text(e.Key())})
	if e.Exists && e.Pair.Held() {
		session := []kit.Span{{kit.Text, scene.Clean(e.Pair.Session)}}
		if node := e.Node(); node != "" {
			session = append(session, kit.Span{kit.Text, "  on " + scene.Clean(node)})
		}
		page.Field("Leader", kit.Span{kit.Strong, e.Leader})
		page.Field("Session", session...)
		return
	}
	since := kit.Clock(e.VacantSince, s.Now) // an age would change the text again and again, and each change disables the action
	if !e.VacantSinceKnown {
		since += " or earlier"
	}
	page.Field("No leader", kit.Span{kit.Vacant, "since " + since})
}

func (m *Model) writeFix(page *kit.Page, s *scene.Scene) {
	f := m.found.Fix
	scene.ProblemField(page, f)
	page.Field("Why", kit.Span{kit.Text, f.Why})
	scene.FixField(page, f, s.Now)
	if m.applies() {
		keys := make([]string, 0, len(m.found.Destroy.Keys))
		for _, key := range m.found.Destroy.Keys {
			keys = append(keys, sanitize.Text(key))
		}
		page.Field("All keys", kit.Span{kit.Strong, strings.Join(keys, ", ")})
		page.Field("Not before", kit.Span{kit.Text, kit.ClockTime(m.found.Ready)}, kit.Span{kit.Quiet, "  electop must see that the node check stays critical"})
	}
	if !m.election.Pair.Held() {
		page.Field("Probe", m.probe())
	}
}

// probe describes the result of the test for a lock-delay.
func (m *Model) probe() kit.Span {
	switch f := m.found.Facts; {
	case f.DelayErr != "":
		return kit.Span{kit.Delay, "failed: " + scene.Clean(f.DelayErr)}
	case f.Delay == insight.DelayActive:
		return kit.Span{kit.Delay, "Consul rejects an acquire: a lock-delay is active"}
	case f.Delay == insight.DelayNone:
		return kit.Span{kit.Text, "no lock-delay is active"}
	}
	return kit.Span{kit.Quiet, "the lock-delay was not tested"}
}

// View draws the dialog over lines, which are width cells wide.
func (m Model) View(p *kit.Painter, s *scene.Scene, lines []string, width int) {
	edge := kit.Accent
	if m.applies() {
		edge = kit.Vacant
	}
	var where []kit.Span
	if text := m.text.Position(); text != "" {
		where = []kit.Span{{kit.Key, p.Sym.KeyMove}, {kit.Quiet, " " + text}}
		if m.applies() && !m.text.Read() {
			where = append(where, kit.Span{kit.Delay, "; scroll down to enable Apply"})
		}
	}
	b := kit.Box{
		Edge: edge, Title: "Fix " + scene.OneLine(m.election.Name, 40), Body: m.text.Window(),
		Foot: [][]kit.Span{where}, Controls: m.buttons(s.Now),
	}
	b.Draw(p, lines, m.text.Width, width)
}

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (m *Model) buttons(now time.Time) []kit.Control {
	cancel, action := kit.PressButton("esc", kit.ButtonOn, "[ Cancel ]"), kit.PressButton("y", kit.ButtonIdle, "  Apply  ")
	switch {
	case m.reading != nil:
		return []kit.Control{cancel, kit.Blank(3), kit.Hint("esc", "cancel")}
	case !m.applies():
		return []kit.Control{kit.PressButton("esc", kit.ButtonOn, "[ Close ]"), kit.Blank(3), kit.Hint("r", "diagnose again")}
	case !m.ready(now):
		action = kit.PressButton("y", kit.Faint, " (Apply) ")
		return []kit.Control{cancel, kit.Blank(2), action, kit.Blank(3), kit.Hint("esc", "cancel")}
	case m.onAction:
		cancel, action = kit.PressButton("esc", kit.ButtonIdle, "  Cancel  "), kit.PressButton("y", kit.Alarm, "[ Apply ]")
	}
	return []kit.Control{cancel, kit.Blank(2), action, kit.Blank(3), kit.Hint("y", "apply"), kit.Blank(2), kit.Hint("esc", "cancel")}
}
