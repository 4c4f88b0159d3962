// Package ui is electop's dashboard: a Bubble Tea program that draws [election.Snapshot]s. Operators use it to
// release keys and destroy sessions.
//
// It imports package election, but no Consul client. It receives snapshots from [Options.Snapshots] and passes
// actions to a [Backend]. Only a later snapshot changes the board. The package starts no goroutine.
//
// [Model] is the only tea.Model. It routes messages to the components (ui/board,
// detail, events, sessions) or to the open overlay (ui/act, ui/pages), carries out the actions that they return,
// builds their common scene and divides the window. A component keeps only user state
// (cursor, offset, sort, filter) and imports no other component. Drawing changes no state.
package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/act"
	"electop/ui/board"
	"electop/ui/detail"
	"electop/ui/events"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/prompt"
	"electop/ui/scene"
	"electop/ui/sessions"
)

// Model is the dashboard. It is a [tea.Model].
type Model struct {
	ctx  context.Context //nolint:containedctx // ends the reads with the program
	opts Options
	keys keys.Map
	scene.Config
	colours
	window
	feed
	// view is the body of the screen. zoom shows only the details of the selected election.
	view view
	zoom bool
	// prompt is the line that the user types, or nil.
	prompt *prompt.Model
	// scene is the input of all drawing. It is rebuilt at the end of each update.
	scene    *scene.Scene
	board    *board.Model
	detail   *detail.Model
	events   *events.Model
	sessions *sessions.Model
	views    map[view]list // board, events and sessions
	log      *act.Log
	note     note
	overlay  *scene.Overlay // nil if none is open
	rights   rights
	report   *kit.Task // the report that is being written
	travel   *past.Traveler
	insights scene.InsightCache
	// wait and nextWarning wait for the next snapshot and warning.
	wait, nextWarning tea.Cmd
	// watched, studied and listing are the latest arguments of WatchChecks, Study and WatchSessions. watched has an
	// entry for each datacenter.
	watched map[string]string
	studied [2]string
	listing bool
}

// view is the body of the screen.
type view = keys.Place

const (
	viewElections = keys.Elections
	viewEvents    = keys.Events
	viewSessions  = keys.Sessions
)

// colours holds the painter and the colours that it uses.
type colours struct {
	theme   string
	dark    bool
	profile string // name of the terminal's colour profile
	painter *kit.Painter
}

// restyle replaces the painter after a change of the colours.
func (m *Model) restyle() {
	m.painter = &kit.Painter{Styles: kit.NewStyles(m.theme, m.dark, m.profile), Sym: m.Sym}
}

// New returns the dashboard. Cancelling ctx ends the commands of the dashboard.
func New(ctx context.Context, opts Options) *Model {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	sym := kit.Unicode()
	if opts.ASCII || kit.Width(sym.Led) > 1 { // RUNEWIDTH_EASTASIAN
		opts.ASCII, sym = true, kit.ASCII()
	}
	now, r := opts.Now(), past.Reader{Ctx: ctx, Source: opts.History}
	empty := &election.Snapshot{At: now, Connection: election.Connection{State: election.Connecting, Since: now}}
	m := &Model{
		ctx: ctx, opts: opts, view: viewElections, feed: feed{live: empty, shown: empty, now: now}, watched: map[string]string{},
		colours: colours{theme: opts.Theme, dark: true, profile: "TrueColor"},
		wait:    waitFor(ctx, opts.Snapshots), nextWarning: receiveWarning(ctx, opts.Warnings),
		rights: rights{read: opts.Backend.Rights, known: map[hold]rightsEntry{}},
	}
	m.keys = *newKeys(m, opts.ASCII, opts.Keys)
	m.board, m.detail, m.events = board.New(m.keys, opts.Columns...), detail.New(m.keys, r), events.New(m.keys, r)
	m.sessions = sessions.New(m.keys)
	m.views = map[view]list{viewElections: m.board, viewEvents: m.events, viewSessions: m.sessions}
	m.log = &act.Log{Ctx: ctx, Backend: opts.Backend, Keys: m.keys, Survey: opts.Backend.Survey, Scene: func() *scene.Scene { return m.scene }, Do: m.do, Changed: m.changed}
	m.travel = &past.Traveler{Reader: r, Do: m.do}
	m.Config, m.Sym, m.Missing = opts.Config, sym, m.rights.missing
	m.restyle()
	m.renew()
	m.board.Update(scene.SortBy{Text: opts.Sort.String()}, m.scene)
	m.board.Update(scene.Filtered{Text: opts.Filter}, m.scene)
	return m
}

// Init starts the clock, requests the terminal's background colour, and waits for the first snapshot and warning.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.wait, tick(m.opts.Now()), tea.RequestBackgroundColor, m.nextWarning)
}

func (m *Model) renew() {
	s := &scene.Scene{
		Config: m.Config, Shown: m.shown, Live: m.live, AsOf: m.asOf(), Now: m.now, Latency: m.latency,
		Stale: m.past == nil && (m.live.Connection.State == election.Lost || m.recorded()), Paused: m.paused, Past: m.past, Warning: m.warning,
		Selected: m.board.Selected(), NameWidth: m.board.NameWidth(),
	}
	if m.lanes != nil && m.lanes.Moment.Equal(m.past.Moment()) {
		s.Lanes = m.lanes
	}
	switch m.view {
	case viewElections:
		if !m.first {
			s.Look(&m.insights)
		}
	case viewEvents:
		s.Actions = m.log.Events(s)
	default:
	}
	m.scene = s
}
