package ui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election/insight"
	"electop/election/query"
	"electop/ui/chrome"
	"electop/ui/events"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/prompt"
	"electop/ui/scene"
)

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if !m.window.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	title := "electop " + m.scene.Sym.Dot + " " + m.opts.Address
	if m.opts.Title != "" {
		title = m.opts.Title
	}
	v.WindowTitle = m.scene.Sym.Plain(scene.OneLine(title, 120))
	if m.window.w <= 0 || m.window.h <= 0 {
		return v
	}
	v.SetContent(strings.Join(m.frame(), "\n"))
	if m.focus.mode == modePrompt && !m.window.tooSmall {
		v.Cursor = tea.NewCursor(m.focus.prompt.CursorX(m.window.w), 1)
	}
	return v
}

func (m *Model) frame() []string {
	p, w, h := m.look.painter, m.window.w, m.window.h
	if m.window.tooSmall {
		text := "electop needs " + strconv.Itoa(minWidth) + "x" + strconv.Itoa(minHeight) +
			"; this window is " + strconv.Itoa(w) + "x" + strconv.Itoa(h) + "; q quits"
		if m.scene.Now.Before(m.note.quitUntil) {
			text = m.note.text
		}
		return chrome.TooSmall(p, text, w, h)
	}
	lines := append(make([]string, 0, h), chrome.Header(p, m.scene, m.look.place, m.board.Counts(), w))
	for i, b := range m.banners() {
		if i == 0 && m.focus.mode == modePrompt {
			lines = append(lines, drawPrompt(m, w))
			continue
		}
		lines = append(lines, p.Draw(w, b...))
	}
	lines = append(append(lines, m.body()...), "")
	foot := m.footer()
	copy(lines[len(lines)-len(foot):], foot)
	if m.overlay != nil {
		m.overlay.View(p, lines, w)
	}
	return lines
}

func (m *Model) banners() [][]kit.Span {
	open := m.list()
	_, hidden := open.Marks(m.scene)
	f := chrome.Filtering{Filter: open.Filter(), Result: open.Result(m.scene), Hidden: hidden, Typing: m.focus.mode == modePrompt}
	return chrome.Banners(m.scene, &m.keys, f, m.opts.Demo, m.window.w, m.window.h)
}

// list is the interface that all views implement for the filter banner and the footer.
type list interface {
	Filter() query.Filter
	// Result describes how many items match the filter. Marks counts the marked items that match the filter
	// and those that do not.
	Result(s *scene.Scene) string
	Marks(s *scene.Scene) (visible, hidden int)
	// Cursor returns the ID of the selected item.
	Cursor() string
}

func (m *Model) list() list {
	switch m.focus.view {
	case viewEvents:
		return m.events
	case viewSessions:
		return m.sessions
	default:
		return m.board
	}
}

func (m *Model) body() []string {
	p, s, sc := *m.look.painter, m.scene, m.window.screen
	p.Areas = p.Areas && m.focus.mode == modeBoard && m.overlay == nil // otherwise an overlay or a prompt has the focus
	if s.Stale || s.Past.Unobserved() {
		p.Tone = kit.Stale
	}
	switch {
	case m.focus.view == viewEvents:
		return m.events.View(s, &p)
	case m.focus.view == viewSessions:
		return m.sessions.View(s, &p)
	case len(s.Shown.Elections) == 0:
		return chrome.Empty(m.look.painter, s, &m.keys, m.look.place, sc.body.W, sc.body.H)
	case m.focus.zoom:
		return m.detail.View(s, &p)
	}
	lines, strip := m.board.View(s, &p), events.Strip(s, &p, sc.events)
	var pane []string
	if sc.pane.H > 0 {
		pane = m.detail.View(s, &p)
	}
	if !sc.side {
		return append(append(lines, pane...), strip...)
	}
	return joinSides(append(lines, strip...), m.look.painter.Draw(1, kit.Span{kit.Separator, s.Sym.Bar}), pane)
}

func joinSides(left []string, bar string, right []string) []string {
	for i := range right {
		left[i] += bar + right[i]
	}
	return left
}

// footer draws the note and the keys of the focused part.
func (m *Model) footer() []string {
	p, s := m.look.painter, m.scene
	if m.focus.mode == modeCopy {
		return chrome.Menu(p, kit.Span{kit.Accent, "Copy:"}, copyKeys(copyItems(m)), m.window.w)
	}
	var said []kit.Span
	if f := m.list().Filter(); f.Err != nil && !f.Unfinished && m.focus.mode == modePrompt && m.focus.prompt.Kind == prompt.Filter {
		said = []kit.Span{{kit.Bad, f.Err.Error()}}
	} else if s.Now.Before(m.note.until) {
		said = []kit.Span{{m.note.role, m.note.text}}
	} else if m.out.travel.Busy() {
		said = []kit.Span{{kit.Accent, "Reading the history"}}
	} else if text := m.log.Pending(s); text != "" {
		said = []kit.Span{{kit.Accent, text}}
	}
	noun := "election"
	if m.focus.view == viewSessions {
		noun = "session"
	}
	visible, hidden := m.list().Marks(s)
	return chrome.Footer(p, said, chrome.Marks(s.Sym, visible, hidden, noun), m.footerKeys(), m.window.w)
}

func (m *Model) footerKeys() []key.Binding {
	switch {
	case m.focus.mode == modePrompt:
		return m.keys.Prompt(m.focus.prompt.Kind == prompt.Filter)
	case m.overlay != nil:
		return m.overlay.Footer()
	}
	at, hidden := m.place()
	return m.keys.Footer(at, hidden, m.denied()...)
}

// place returns the part of the screen whose keys the footer shows, and the action that is not possible there.
func (m *Model) place() (at keys.Place, hidden string) {
	if !offersFix(m) {
		hidden = "fix"
	}
	switch {
	case m.scene.Past != nil:
		return keys.Past, hidden
	case m.focus.view == viewEvents:
		return keys.Events, hidden
	case m.focus.view == viewSessions:
		return m.sessions.Place(), hidden
	case len(m.scene.Shown.Elections) == 0:
		return keys.Empty, hidden
	case m.focus.zoom:
		return keys.Zoom, hidden
	}
	return keys.Elections, hidden
}

// offersFix reports whether the footer shows the key of a fix: the selected election has no leader, or its leader has
// failed. With marks, the footer shows the keys for marked elections instead.
func offersFix(m *Model) bool {
	e := m.scene.Selected
	visible, hidden := m.board.Marks(m.scene)
	return e != nil && visible+hidden == 0 &&
		(insight.FixNeeds(e, m.scene.AsOf) == insight.NeedsSurroundings || m.scene.Insight(e).Fix != nil)
}
