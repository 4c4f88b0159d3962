package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/act"
	"electop/ui/board"
	"electop/ui/chrome"
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
	ctx    context.Context //nolint:containedctx // ends the reads with the program
	opts   Options
	keys   keys.Map
	table  []action
	look   look
	window window
	feed   feed
	focus  focus
	// scene is the input of all drawing. It is rebuilt at the end of each update.
	scene    *scene.Scene
	board    *board.Model
	detail   *detail.Model
	events   *events.Model
	sessions *sessions.Model
	log      *act.Log
	note     note
	overlay  *scene.Overlay // nil if none is open
	out      *links
}

// view selects the body of the screen.
type view uint8

const (
	viewElections view = iota
	viewEvents
	viewSessions
)

// mode selects the part of the screen that receives keys.
type mode uint8

const (
	modeBoard mode = iota
	modePrompt
	modeCopy
)

// focus is the current view and the part of the screen that receives keys.
type focus struct {
	view view
	mode mode
	// zoom shows only the details of the selected election.
	zoom   bool
	prompt prompt.Model
	// copied is the ID of the item for which the copy menu is open.
	copied string
	// typed holds the lines that the user has entered, by kind of prompt.
	typed [2][]string
}

// look holds the painter, the colours that it uses, and the configuration that the header shows.
type look struct {
	theme kit.Theme
	dark  bool
	// profile is the name of the terminal's colour profile.
	profile string
	painter *kit.Painter
	place   chrome.Place
}

func (l look) on(dark bool, profile string) look {
	l.dark, l.profile = dark, profile
	l.painter = &kit.Painter{Styles: kit.NewStyles(l.theme, dark, profile), Sym: l.painter.Sym}
	return l
}

// links holds the functions of the caller and the latest arguments passed to them.
type links struct {
	wait func() tea.Msg
	// warning waits for the next warning. It is nil if the caller sends no warnings.
	warning tea.Cmd
	// tools returns the tools of a dialog for one datacenter.
	tools    func(datacenter string) act.Tools
	rights   *rightsBook
	report   *past.Reporter
	travel   *past.Traveler
	insights scene.InsightCache
	// watched, studied and listing are the latest arguments of WatchChecks, Study and WatchSessions. watched has an
	// entry for each datacenter.
	watched map[string]string
	studied election.ID
	listing bool
	// hint searches for locks outside the patterns. It is nil after the search has started.
	hint tea.Cmd
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
	bindings, table := newKeys(opts.ASCII, opts.Keys)
	now, k := opts.Now(), *bindings
	empty := &election.Snapshot{At: now, Connection: election.Connection{State: election.Connecting, Since: now}}
	out := &links{
		wait: waitFor(ctx, opts.Snapshots), warning: nextWarning(ctx, opts.Warnings),
		watched: map[string]string{},
		rights:  &rightsBook{read: opts.Backend.Rights, known: map[hold]rightsEntry{}},
	}
	out.hint = func() tea.Msg {
		locks, complete := opts.Backend.Nearby(ctx)
		return hintMsg{locks, complete}
	}
	r := past.NewReader(ctx, opts.History)
	l := look{
		painter: &kit.Painter{Sym: sym},
		place:   chrome.Place{Context: opts.Context, Contexts: opts.Contexts, Address: opts.Address, Patterns: opts.Patterns, Demo: opts.Demo},
		theme:   kit.Theme(opts.Theme),
	}
	m := &Model{
		ctx: ctx, opts: opts, keys: k, table: table, look: l.on(true, "TrueColor"), feed: feed{live: empty, shown: empty, now: now}, out: out,
		board: board.New(k, opts.Columns...), detail: detail.New(k, r), events: events.New(k, r), sessions: sessions.New(k, scene.NewSearcher(ctx, opts.Backend.Holdings, "")),
	}
	m.log = act.NewLog(ctx, opts.Backend, k, act.Program{Scene: func() *scene.Scene { return m.scene }, Do: m.do, Changed: m.changed, Cluster: m.cluster})
	out.tools = m.tools
	out.report, out.travel = past.NewReporter(ctx, opts.History != nil, opts.Backend.Report, m.do), past.NewTraveler(ctx, opts.History, m.do)
	m.renew()
	for _, msg := range []tea.Msg{scene.SortBy{Text: opts.Sort.String()}, scene.Filtered{Text: opts.Filter}} {
		m.board, _ = m.board.Update(msg, m.scene)
	}
	return m
}

// cluster returns the settings for commands about a datacenter.
func (m *Model) cluster(datacenter string) Cluster {
	c := m.opts.Cluster
	if len(m.opts.Datacenters) > 1 {
		c.Datacenter = datacenter
	}
	return c
}

// tools returns the tools of a dialog for one datacenter.
func (m *Model) tools(datacenter string) act.Tools {
	return act.Tools{
		Ctx: m.ctx, Keys: m.keys, Cluster: m.cluster(datacenter),
		Survey: func(ctx context.Context, keys []string) []election.Surroundings {
			return m.opts.Backend.Survey(ctx, datacenter, keys)
		},
		Holdings: func(ctx context.Context, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
			return m.opts.Backend.Holdings(ctx, datacenter, sessions, progress)
		},
	}
}

// Init starts the clock, requests the terminal's background colour, and waits for the first snapshot and warning.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.out.wait, tick(m.opts.Now()), tea.RequestBackgroundColor, m.out.warning)
}

func (m *Model) renew() {
	f := &m.feed
	s := &scene.Scene{
		Shown: f.shown, Live: f.live, AsOf: f.asOf(), Now: f.now, Latency: f.latency, Sym: m.look.painter.Sym,
		Stale: f.stale(), Paused: f.paused, Past: f.past, Lanes: f.shownLanes(), Warning: f.warning,
		ReadOnly: m.opts.ReadOnly, Datacenters: m.opts.Datacenters, Patterns: m.look.place.Patterns,
		Selected: m.board.Selected(), NameWidth: m.board.NameWidth(),
		Missing: m.out.rights.missing, Followed: m.log.Followed(f.now),
	}
	switch m.focus.view {
	case viewElections:
		s.Look(&m.out.insights)
	case viewEvents:
		s.Actions = m.log.Events(s)
	default:
	}
	m.scene = s
}
