package fix

import (
	"strings"
	"time"

	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// boxWidth is the maximum width of the dialog, in cells.
const boxWidth = 84

func (m *Model) write(page *term.Page, s *scene.Scene) {
	m.writeState(page, s)
	page.Blank()
	switch {
	case m.offline:
		page.Para(term.Bad, scene.StaleText(s.Live.Connection))
	case m.changed != "":
		page.Para(term.Delay, m.changed)
	case m.reading != nil && m.election.Pair.Held():
		page.Para(term.Accent, "Reading the checks of the leader's node and, if it has failed, every key that its session holds.")
	case m.reading != nil:
		page.Para(term.Accent, "Reading sibling keys and all sessions, and testing for a lock-delay.")
	case m.found.Fix == nil && m.election.Pair.Held():
		page.Para(term.Led, "No failure found: Consul does not report that the leader's node has failed.")
		page.Para(term.Text, "electop cannot determine whether the leader's process is running. If it has ended, press esc; then "+
			m.keys.Release.Help().Key+" releases the lock, or "+m.keys.Destroy.Help().Key+" destroys the leader's session.")
	case m.found.Fix == nil:
		page.Para(term.Led, "Nothing to fix: a session has acquired the key.")
	default:
		m.writeFix(page, s)
	}
}

// writeState describes the election as it was diagnosed.
func (m *Model) writeState(page *term.Page, s *scene.Scene) {
	e := m.election
	if s.Several() {
		page.Field("Datacenter", term.Span{term.Strong, scene.OneLine(e.Datacenter, 60)})
	}
	page.Field("Key", term.Span{term.Strong, sanitize.Text(e.Key())})
	if e.Exists && e.Pair.Held() {
		session := []term.Span{{term.Text, scene.Clean(e.Pair.Session)}}
		if node := e.Node(); node != "" {
			session = append(session, term.Span{term.Text, "  on " + scene.Clean(node)})
		}
		page.Field("Leader", term.Span{term.Strong, e.Leader})
		page.Field("Session", session...)
		return
	}
	since := term.Clock(e.VacantSince, s.Now) // an age would change the text again and again, and each change disables the action
	if !e.VacantSinceKnown {
		since += " or earlier"
	}
	page.Field("No leader", term.Span{term.Vacant, "since " + since})
}

func (m *Model) writeFix(page *term.Page, s *scene.Scene) {
	f := m.found.Fix
	scene.ProblemField(page, f)
	page.Field("Why", term.Span{term.Text, f.Why})
	scene.FixField(page, f, s.Now)
	if m.applies() {
		keys := make([]string, 0, len(m.found.Destroy.Keys))
		for _, key := range m.found.Destroy.Keys {
			keys = append(keys, sanitize.Text(key))
		}
		page.Field("All keys", term.Span{term.Strong, strings.Join(keys, ", ")})
		page.Field("Not before", term.Span{term.Text, term.ClockTime(m.found.Ready)}, term.Span{term.Quiet, "  electop must see that the node check stays critical"})
	}
	if !m.election.Pair.Held() {
		page.Field("Probe", m.probe())
	}
}

// probe describes the result of the test for a lock-delay.
func (m *Model) probe() term.Span {
	switch f := m.found.Facts; {
	case f.DelayErr != "":
		return term.Span{term.Delay, "failed: " + scene.Clean(f.DelayErr)}
	case f.Delay == insight.DelayActive:
		return term.Span{term.Delay, "Consul rejects an acquire: a lock-delay is active"}
	case f.Delay == insight.DelayNone:
		return term.Span{term.Text, "no lock-delay is active"}
	}
	return term.Span{term.Quiet, "the lock-delay was not tested"}
}

// View draws the dialog over lines, which are width cells wide.
func (m Model) View(p *term.Painter, s *scene.Scene, lines []string, width int) {
	edge := term.Accent
	if m.applies() {
		edge = term.Vacant
	}
	var where []term.Span
	if text := m.text.Position(); text != "" {
		where = []term.Span{{term.Key, p.Sym.KeyMove}, {term.Quiet, " " + text}}
		if m.applies() && !m.text.Read() {
			where = append(where, term.Span{term.Delay, "; scroll down to enable Apply"})
		}
	}
	b := term.Box{
		Edge: edge, Title: "Fix " + scene.OneLine(m.election.Name, 40), Body: m.text.Window(),
		Foot: [][]term.Span{where}, Controls: m.buttons(s.Now),
	}
	b.Draw(p, lines, m.text.Width, width)
}

// buttons returns the buttons and keys; brackets mark the button that Enter presses.
func (m *Model) buttons(now time.Time) []term.Control {
	cancel, action := term.PressButton("esc", term.ButtonOn, "[ Cancel ]"), term.PressButton("y", term.Button, "  Apply  ")
	switch {
	case m.reading != nil:
		return []term.Control{cancel, term.Blank(3), term.Hint("esc", "cancel")}
	case !m.applies():
		return []term.Control{term.PressButton("esc", term.ButtonOn, "[ Close ]"), term.Blank(3), term.Hint("r", "diagnose again")}
	case !m.ready(now):
		action = term.PressButton("y", term.Faint, " (Apply) ")
		return []term.Control{cancel, term.Blank(2), action, term.Blank(3), term.Hint("esc", "cancel")}
	case m.onAction:
		cancel, action = term.PressButton("esc", term.Button, "  Cancel  "), term.PressButton("y", term.Alarm, "[ Apply ]")
	}
	return []term.Control{cancel, term.Blank(2), action, term.Blank(3), term.Hint("y", "apply"), term.Blank(2), term.Hint("esc", "cancel")}
}
