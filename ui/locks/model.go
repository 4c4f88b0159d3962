// Package locks searches the store for locks and shows them in a panel.
package locks

import (
	"context"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election/discovery"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Found is the result of a search.
type Found struct {
	discovery.Result
	// Scanned is the number of keys that were read.
	Scanned int
	// Problem is the reason why locks may be missing, in one line. It is empty if the result is complete.
	Problem string
}

// Search searches the whole store of a datacenter. It must not run on the event loop. During the search, any
// goroutine may call progress.
type Search func(ctx context.Context, datacenter string, progress func(done, total int)) (Found, error)

// Open starts a search in a datacenter and opens the panel.
type Open struct{ Datacenter string }

// Model is the panel of discovered locks.
type Model struct {
	keys   keys.Map
	ctx    context.Context //nolint:containedctx // ends the searches with the program
	search Search
	run    *run // nil while the panel is closed
	text   kit.Reader
	// where is the end of the title: " in dc2". It is empty if the board shows only one datacenter.
	where string
}

// run is one search. The command that runs the search writes the counters. Only the event loop may use the other
// fields.
type run struct {
	done, total atomic.Int64
	cancel      context.CancelFunc
	over        bool
	found       Found
	err         error
}

// ended is the message with the result of a search.
type ended struct {
	of    *run
	found Found
	err   error
}

// tick is the message that requests a redraw of the progress of a search.
type tick struct{ of *run }

// tickEvery is the interval between redraws of the progress.
const tickEvery = 200 * time.Millisecond

// New returns a closed panel. search may be nil.
func New(ctx context.Context, search Search, k keys.Map) Model {
	return Model{keys: k, ctx: ctx, search: search}
}

// Keys returns the key bindings for the footer while the panel is shown.
func (m Model) Keys(k keys.Map) []key.Binding {
	return k.LockList(m.run != nil && m.run.over && m.run.found.Unwatched > 0)
}

// Update handles a message and returns an action for the program.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	switch msg := msg.(type) {
	case Open:
		m.where = ""
		if s.Several() {
			m.where = " in " + scene.OneLine(msg.Datacenter, 40)
		}
		return m.open(msg.Datacenter)
	case ended:
		if msg.of == m.run {
			m.run.over, m.run.found, m.run.err = true, msg.found, msg.err
		}
	case tick:
		if msg.of == m.run && !m.run.over {
			return m, scene.Run{Cmd: ticked(m.run)}
		}
	case scene.Resized:
		m.fit(s, msg.W, msg.H)
	case scene.Wheeled:
		m.text.Scroll(msg.Step)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m, nil
}

func (m Model) open(datacenter string) (Model, scene.Action) {
	if m.search == nil {
		return m, scene.Say{Role: kit.Delay, Text: "Unavailable: this dashboard cannot search the store."}
	}
	ctx, cancel := context.WithCancel(m.ctx)
	r := &run{cancel: cancel}
	m.run, m.text = r, kit.Reader{}
	look := func() tea.Msg {
		defer cancel()
		found, err := m.search(ctx, datacenter, func(done, total int) {
			r.total.Store(int64(total))
			r.done.Store(int64(done))
		})
		return ended{of: r, found: found, err: err}
	}
	return m, scene.All{scene.Run{Cmd: tea.Batch(look, ticked(r))}, scene.ShowLocks{}}
}

func ticked(r *run) tea.Cmd {
	return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tick{r} })
}

func (m Model) pressed(msg tea.KeyPressMsg) (Model, scene.Action) {
	step, moves := m.keys.Step(msg, max(1, m.text.Rows), len(m.text.Lines))
	switch name := msg.String(); {
	case moves:
		m.text.Scroll(step)
	case name == "ctrl+c":
		return m, scene.Quit{}
	case key.Matches(msg, m.keys.Fixed.WatchAll):
		return m.watchAll()
	case name == "esc", name == "enter", name == "q":
		return m.close(scene.Close{})
	}
	return m, nil
}

// close cancels the search and closes the panel.
func (m Model) close(a scene.Action) (Model, scene.Action) {
	if m.run != nil {
		m.run.cancel()
	}
	m.run, m.text = nil, kit.Reader{}
	return m, a
}

// watchAll closes the panel and adds the patterns of all groups with unwatched elections. If there are no patterns to
// add, the panel stays open.
func (m Model) watchAll() (Model, scene.Action) {
	if m.run == nil || !m.run.over {
		return m, nil
	}
	var texts []string
	for i := range m.run.found.Groups {
		g := &m.run.found.Groups[i]
		if flags := g.Flags(); flags != nil && g.Watched < len(g.Keys) {
			texts = append(append(texts, g.Pattern), g.Excluded...)
		}
	}
	if len(texts) == 0 {
		return m, nil
	}
	return m.close(scene.All{scene.Close{}, scene.Watch{Patterns: texts}})
}
