package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election/insight"
	"electop/election/sanitize"
	"electop/ui/chrome"
	"electop/ui/events"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// View implements [tea.Model].
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if !m.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = m.Sym.Plain(sanitize.Line("electop "+m.Sym.Dot+" "+m.Address, 120))
	if m.w <= 0 || m.h <= 0 {
		return v
	}
	v.SetContent(strings.Join(m.frame(), "\n"))
	if m.prompt != nil && !m.tooSmall {
		v.Cursor = tea.NewCursor(m.prompt.CursorX(m.w), 1)
	}
	return v
}

func (m *Model) frame() []string {
	p := m.painter
	if m.tooSmall {
		text := fmt.Sprintf("electop needs %dx%d; this window is %dx%d; q quits", minWidth, minHeight, m.w, m.h)
		if m.now.Before(m.note.quitUntil) {
			text = m.note.text
		}
		return chrome.TooSmall(p, text, m.w, m.h)
	}
	lines := []string{chrome.Header(p, m.scene, m.board.Counts, m.w)}
	for i, b := range m.banners() {
		if i == 0 && m.prompt != nil {
			result := ""
			if m.filtering() {
				result = m.list().Result(m.scene)
			}
			lines = append(lines, m.prompt.Draw(p, m.w, result))
			continue
		}
		lines = append(lines, p.Draw(m.w, b...))
	}
	lines = append(append(lines, m.body()...), "")
	if m.overlay != nil {
		m.overlay.View(p, lines, m.w)
	}
	foot := m.footer() // over the overlay, so that a note is always visible
	copy(lines[len(lines)-len(foot):], foot)
	return lines
}

func (m *Model) banners() [][]kit.Span {
	open := m.list().State()
	_, hidden := open.Marks()
	f := chrome.Filtering{Filter: open.Filter, Result: m.list().Result(m.scene), Hidden: hidden, Typing: m.prompt != nil}
	return chrome.Banners(m.scene, &m.keys, f, m.w, m.h)
}

// list is the interface that all views implement for the filter banner and the footer.
type list interface {
	component
	State() *scene.ListState
	// Result describes how many items match the filter. Unmark removes marks.
	Result(s *scene.Scene) string
	Unmark(gone func(id string) bool)
	View(s *scene.Scene, p *kit.Painter) []string
}

// list returns the open view.
func (m *Model) list() list { return m.views[m.view] }

func (m *Model) body() []string {
	p, s := *m.painter, m.scene
	p.Areas = p.Areas && m.prompt == nil && m.overlay == nil // otherwise an overlay or a prompt has the focus
	if s.Stale || s.Past.Unobserved() {
		p.Tone = kit.Stale
	}
	switch {
	case m.view != viewElections:
		return m.list().View(s, &p)
	case len(s.Shown.Elections) == 0:
		return chrome.Empty(m.painter, s, &m.keys, m.screen.body.W, m.screen.body.H)
	case m.zoom:
		return m.detail.View(s, &p)
	}
	lines, pane, strip := m.board.View(s, &p), m.detail.View(s, &p), events.Strip(s, &p, m.screen.events)
	if !m.screen.side {
		return slices.Concat(lines, pane, strip)
	}
	lines = append(lines, strip...)
	bar := m.painter.Draw(1, kit.Separator.Span(m.Sym.Bar))
	for i := range pane {
		lines[i] += bar + pane[i]
	}
	return lines
}

// footer draws a text and the keys of the focused part. The text is an error of the filter, the note, that the history is
// read, or which actions are pending.
func (m *Model) footer() []string {
	var text, marks []kit.Span
	open := m.list().State()
	switch f, pending := open.Filter, m.log.Pending(); {
	case f.Err != nil && !f.Unfinished && m.filtering():
		text = kit.Bad.Spans(f.Err.Error())
	case m.now.Before(m.note.until):
		text = m.note.role.Spans(m.note.text)
	case m.travel.Busy():
		text = kit.Accent.Spans("Reading the history")
	case pending != "":
		text = kit.Accent.Spans(pending)
	}
	if m.overlay == nil { // an overlay names its targets
		visible, hidden := open.Marks()
		marks = chrome.Marks(m.Sym, visible, hidden, strings.TrimSuffix(string(m.view), "s"))
	}
	return chrome.Footer(m.painter, text, marks, m.footerKeys(), m.w)
}

func (m *Model) footerKeys() []key.Binding {
	switch {
	case m.prompt != nil:
		return m.keys.Prompt(m.filtering())
	case m.overlay != nil:
		return m.overlay.Footer()
	}
	hidden, e := []string{"fix"}, m.scene.Selected
	if visible, marked := m.board.Marks(); e != nil && visible+marked == 0 &&
		(insight.FixNeeds(e, m.scene.AsOf) == insight.NeedsSurroundings || m.scene.Insight().Fix != nil) {
		hidden = nil
		if m.view == viewElections && !e.Held() {
			hidden = []string{"release", "destroy"}
		}
	}
	return m.keys.Footer(m.place(), m.view, hidden, m.denied()...)
}

// place returns the part of the screen whose keys the footer shows.
func (m *Model) place() keys.Place {
	switch {
	case m.past != nil:
		return keys.Past
	case m.view != viewElections:
		return m.view
	case len(m.scene.Shown.Elections) == 0:
		return keys.Empty
	case m.zoom:
		return keys.Zoom
	}
	return viewElections
}
