// Package doctor is the page of :doctor. It shows what the token can read and do at the address.
package doctor

import (
	"context"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Status is the degree to which something works: "ok", "limited", "denied" or "unknown".
type Status string

// Row is one line of a report. Its strings are sanitized.
type Row struct {
	Subject string
	Status  Status
	Detail  string
	// Rule is the missing ACL rule. It is empty if there is none.
	Rule string
}

// Check checks, off the event loop, what the token can read and do at the address. After an error, it returns the rows
// before the error.
type Check func(ctx context.Context) ([]Row, error)

// Open opens the page and runs the checks.
type Open struct{}

// Model is the page. It covers the whole window except the first and the last line.
type Model struct {
	keys  keys.Map
	ctx   context.Context //nolint:containedctx // ends the checks with the program
	check Check
	run   *run // nil while the page is closed
	text  kit.Reader
}

// run is one run of the checks. Only the event loop may use it, except for cancel.
type run struct {
	cancel context.CancelFunc
	over   bool
	at     time.Time
	rows   []Row
	err    error
}

// ended is the message with the result of a run.
type ended struct {
	of   *run
	rows []Row
	err  error
}

// checkTime is the timeout of a run. The user waits during a run.
const checkTime = 15 * time.Second

// New returns a closed page. check may be nil.
func New(ctx context.Context, check Check, k keys.Map) Model {
	return Model{keys: k, ctx: ctx, check: check}
}

// Keys returns the key bindings for the footer.
func (m Model) Keys(k keys.Map) []key.Binding { return k.DoctorPage() }

// Update handles a message and returns an action for the program.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	switch msg := msg.(type) {
	case Open:
		return m.start()
	case ended:
		if msg.of == m.run {
			m.run.over, m.run.rows, m.run.err, m.run.at = true, msg.rows, msg.err, s.Now
		}
	case scene.Resized:
		m.fit(s.Sym, msg.W, msg.H)
	case scene.Wheeled:
		m.text.Scroll(msg.Step)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	}
	return m, nil
}

// start opens the page and runs the checks. It discards the result of an earlier run.
func (m Model) start() (Model, scene.Action) {
	if m.check == nil {
		return m, scene.Say{Role: kit.Delay, Text: "Unavailable: this dashboard cannot check its permissions."}
	}
	m.End()
	ctx, cancel := context.WithTimeout(m.ctx, checkTime)
	r := &run{cancel: cancel}
	m.run, m.text = r, kit.Reader{}
	return m, scene.All{scene.ShowDoctor{}, scene.Run{Cmd: func() tea.Msg {
		defer cancel()
		rows, err := m.check(ctx)
		return ended{r, rows, err}
	}}}
}

// End cancels the checks. A caller that closes the page must call End.
func (m *Model) End() {
	if m.run != nil {
		m.run.cancel()
	}
	m.run = nil
}

func (m Model) pressed(msg tea.KeyPressMsg) (Model, scene.Action) {
	step, moves := m.keys.Step(msg, max(1, m.text.Rows), len(m.text.Lines))
	switch name := msg.String(); {
	case moves:
		m.text.Scroll(step)
	case name == "r" && m.run != nil && m.run.over:
		return m.start()
	case name == "ctrl+c":
		return m, scene.Quit{}
	case name == "esc", name == "enter", name == "q":
		return m, scene.Close{}
	}
	return m, nil
}
