package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/dialog"
	"electop/ui/internal/keys"
	"electop/ui/internal/results"
	"electop/ui/internal/scene"
	"electop/ui/internal/sessions"
	"electop/ui/internal/term"
)

// view is what the body of the screen shows.
type view uint8

const (
	viewElections view = iota
	viewEvents
	viewSessions
)

// mode says who gets the keys.
type mode uint8

const (
	modeBoard mode = iota
	modePrompt
	modeDialog
	modeCopy
	modeHelp
	modeResults
)

// Model is the dashboard. It is a [tea.Model].
type Model struct {
	opts   Options
	keys   keys.Map
	sym    *term.Symbols
	styles *term.Styles
	dark   bool
	// profile is the name of the terminal's colour profile.
	profile string

	width, height int
	now           time.Time
	// latency is what the header shows. It follows the clock: that the link is a
	// little faster or slower is no reason to draw once more.
	latency time.Duration

	// live is the newest snapshot, shown the one that is drawn: an older one
	// while the board is paused.
	live, shown *election.Snapshot
	paused      bool
	pausedAt    time.Time
	census      census

	view     view
	mode     mode
	table    *table
	events   *eventsView
	pane     *pane
	sessions sessions.Model
	dialog   *dialog.Model // nil while none is open
	prompt   prompt
	help     *helpPage

	insights *scene.InsightCache
	note     note
	log      results.Log
	// quitUntil is until when a second request to quit is accepted.
	quitUntil time.Time
	// watched are the nodes that WatchChecks was told last, studied the key that
	// Study was, listing what WatchSessions was.
	watched, studied string
	listing          bool
	rights           *rightsBook

	wait func() tea.Msg
	// interlude waits for the next interlude; nil when there are none.
	interlude tea.Cmd
	tools     dialog.Tools
}

// New makes the dashboard. Its commands end when ctx does.
func New(ctx context.Context, opts Options) Model {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	sym := term.Unicode()
	if opts.ASCII || term.Width(sym.Led) > 1 { // RUNEWIDTH_EASTASIAN
		opts.ASCII, sym = true, term.ASCII()
	}
	now := opts.Now()
	empty := &election.Snapshot{At: now, Connection: election.Connection{State: election.Connecting, Since: now}}
	k := keys.Default(opts.ASCII)
	tools := dialog.Tools{Keys: k, Search: scene.NewSearcher(ctx, opts.Holdings), Survey: dialog.NewSurveyor(ctx, opts.Survey)}
	return Model{
		opts: opts, keys: k, sym: sym, styles: term.NewStyles(true, "TrueColor"), dark: true,
		profile: "TrueColor", now: now, live: empty, shown: empty,
		table: newTable(), events: &eventsView{follow: true}, pane: &pane{}, help: &helpPage{},
		insights: &scene.InsightCache{}, sessions: sessions.New(k, tools.Search), log: results.New(ctx, opts.Operator, k), tools: tools,
		rights:    newRightsBook(ctx, opts.Rights),
		wait:      waitFor(ctx, opts.Snapshots),
		interlude: nextInterlude(ctx, opts.Interludes),
	}
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
func (m *Model) tick() tea.Cmd {
	now := m.opts.Now()
	return tea.Tick(time.Second-time.Duration(now.Nanosecond()), func(t time.Time) tea.Msg { return tickMsg(t) })
}

// Init starts the clock, asks for the terminal's background and waits for the
// first snapshot.
func (m Model) Init() tea.Cmd {
	return tea.Batch(m.wait, m.tick(), tea.RequestBackgroundColor, m.interlude)
}

// asOf is the moment at which the shown snapshot is looked at. Of what happened
// after the board was paused or the link was lost nothing is known, so no clock
// on the board runs on.
func (m *Model) asOf() time.Time {
	c := m.live.Connection
	switch {
	case m.paused:
		return m.pausedAt
	case c.State == election.Lost && !c.LastContact.IsZero() && c.LastContact.Before(m.now):
		return c.LastContact
	}
	return m.now
}

// hasBoard reports that there is something to show.
func (m *Model) hasBoard() bool { return len(m.shown.Elections) > 0 }

func (m *Model) scene() *scene.Scene {
	s := &scene.Scene{
		Shown: m.shown, Live: m.live, AsOf: m.asOf(), Now: m.now, Latency: m.latency, Sym: m.sym,
		Stale: m.live.Connection.State == election.Lost, Paused: m.paused,
		ReadOnly: m.opts.ReadOnly, CanAct: m.opts.Operator != nil, Studies: m.opts.Study != nil, Lists: m.opts.WatchSessions != nil,
		Selected: m.table.selected(), NameWidth: m.table.widths.name,
		Missing: func(kind election.ActionKind, t election.Target) string { return m.rights.missing(kind, holdOf(t)) },
	}
	s.Actions, s.Earlier = m.log.Events(s), m.sessions.Earlier
	s.Look(m.insights)
	return s
}

func (m *Model) currentFilter() scene.Filter {
	switch m.view {
	case viewEvents:
		return m.events.filter
	case viewSessions:
		return m.sessions.Filter()
	default:
		return m.table.filter
	}
}

// screen is where everything stands now.
func (m *Model) screen(banners int) screen {
	return arrange(need{
		w: m.width, h: m.height, banners: banners, rows: len(m.shown.Elections),
		zoom: m.pane.zoom && m.view == viewElections, full: m.view != viewElections || !m.hasBoard(),
		wide: m.table.wide,
	})
}

// View draws the dashboard.
func (m Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = m.title()
	if m.width <= 0 || m.height <= 0 {
		return v
	}
	v.SetContent(strings.Join(m.frame(), "\n"))
	if m.mode == modePrompt && !tooSmall(m.width, m.height) {
		v.Cursor = tea.NewCursor(m.prompt.cursorX(m.width), 1)
	}
	return v
}

func (m *Model) title() string {
	if m.opts.Title != "" {
		return scene.OneLine(m.opts.Title, 120)
	}
	return scene.OneLine("electop "+m.sym.Dot+" "+m.opts.Address, 120)
}

// frame draws every line of the window.
func (m *Model) frame() []string {
	s := m.scene()
	p := &term.Painter{Styles: m.styles, Sym: m.sym}
	banners := m.banners(s)
	sc := m.screen(len(banners))
	if sc.tooSmall {
		return m.drawTooSmall(p)
	}
	lines := make([]string, 0, m.height)
	lines = append(lines, m.header(p, s, m.width))
	for i, b := range banners {
		if i == 0 && m.mode == modePrompt {
			lines = append(lines, m.prompt.draw(p, m.width, m.view, m.filterResult()))
			continue
		}
		lines = append(lines, p.Draw(m.width, b...))
	}
	lines = append(lines, m.body(p, s, sc)...)
	lines = append(lines, m.footer(p, s, m.width))
	switch m.mode {
	case modeHelp:
		m.help.draw(p, m.keys, lines, m.width)
	case modeDialog:
		m.dialog.View(p, lines, m.width)
	case modeResults:
		m.log.View(p, lines, m.width)
	default:
	}
	return lines
}

// body draws what is between the banners and the footer.
func (m *Model) body(p *term.Painter, s *scene.Scene, sc screen) []string {
	data := *p
	if s.Stale {
		data.Tone = term.Stale
	}
	switch {
	case m.view == viewEvents:
		return m.drawEvents(&data, s, sc.body.W, sc.body.H)
	case m.view == viewSessions:
		return m.sessions.View(s, &data)
	case !m.hasBoard():
		return m.drawEmpty(p, s, sc.body.W, sc.body.H)
	case m.pane.zoom:
		return m.pane.draw(&data, s, m.table.selected(), sc.pane.W, sc.pane.H)
	}
	lines := m.drawTable(&data, s, sc.table.W, sc.table.H)
	if !sc.side {
		lines = append(lines, m.drawPane(&data, s, sc.pane)...)
		return append(lines, m.drawStrip(&data, s, sc.events.W, sc.events.H)...)
	}
	lines = append(lines, m.drawStrip(&data, s, sc.events.W, sc.events.H)...)
	return joinSides(lines, p.Draw(1, term.Span{term.Faint, p.Sym.Bar}), m.drawPane(&data, s, sc.pane))
}

// joinSides puts lines beside each other, all in one piece of memory.
func joinSides(left []string, bar string, right []string) []string {
	n := 0
	for i := range right {
		n += len(left[i]) + len(bar) + len(right[i])
	}
	var all strings.Builder
	all.Grow(n)
	ends := make([]int, 0, len(right))
	for i := range right {
		all.WriteString(left[i])
		all.WriteString(bar)
		all.WriteString(right[i])
		ends = append(ends, all.Len())
	}
	text, from := all.String(), 0
	for i, end := range ends {
		left[i], from = text[from:end], end
	}
	return left
}

func (m *Model) drawTable(p *term.Painter, s *scene.Scene, width, height int) []string {
	m.table.scroll(m.table.rows(height))
	lines := m.table.draw(p, s, width, height)
	if len(m.table.order) == 0 && height > 3 {
		lines[2] = p.Draw(width, term.Span{term.Quiet, " No election matches the filter. Esc clears it."})
	}
	return lines
}

func (m *Model) drawPane(p *term.Painter, s *scene.Scene, r term.Rect) []string {
	if r.H <= 0 {
		return nil
	}
	return m.pane.draw(p, s, m.table.selected(), r.W, r.H)
}
