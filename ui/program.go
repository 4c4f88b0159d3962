package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/query"
	"electop/internal/crash"
	"electop/internal/history"
	"electop/ui/act"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
)

// Backend reads from Consul and writes to it. A method with a context runs off the event loop; the others must not block.
type Backend interface {
	// Backend reads for the dialogs, and carries out confirmed actions.
	act.Backend
	// WatchChecks receives a datacenter and those of its nodes whose health checks are needed, most important first,
	// whenever the list of nodes changes.
	WatchChecks(datacenter string, nodes []string)
	// Study receives the datacenter and the key of the selected election whenever the selection changes. Both are empty
	// if no election is selected. Snapshots should contain the [election.Snapshot.Surroundings] of this election.
	Study(datacenter, key string)
	// WatchSessions is called when the sessions view opens or closes. While the view is open, snapshots should contain
	// [election.Snapshot.SessionList].
	WatchSessions(on bool)
	// SetPatterns replaces the watched patterns.
	SetPatterns(ps election.Patterns)
	// Rights reads the token's permissions for a hold, or for a session if the target has no key.
	Rights(ctx context.Context, t election.Target) (election.MissingRules, error)
	// Survey reads the surroundings of elections in a datacenter once and returns them in the order of keys. Errors are
	// in the results.
	Survey(ctx context.Context, datacenter string, keys []string) []election.Surroundings
	// Discover searches the whole store of a datacenter for locks. Any goroutine may call progress until Discover returns.
	Discover(ctx context.Context, datacenter string, progress kit.Progress) (pages.Found, error)
	// Report writes an incident report about elections to a new file, and returns the name of the file and the summary on
	// one line. It requires [Options.History].
	Report(ctx context.Context, of []scene.Subject, period history.Range) (file, summary string, err error)
	// Doctor checks what the address and the token can read and do. After an error, it returns the rows before the error.
	Doctor(ctx context.Context) ([]pages.Check, error)
}

// Options configure the dashboard.
type Options struct {
	// Config is what the screen shows of the settings. The address must not contain a token. The dashboard sets Sym and
	// Missing.
	Config
	// Snapshots delivers the newest state of the elections, which replaces one that was not received. Closing the channel
	// ends the updates.
	Snapshots <-chan *election.Snapshot
	// Backend reads and acts. Backend is the only connection to Consul.
	Backend Backend
	// Filter and Sort are the initial filter and sort order of the elections.
	Filter string
	Sort   query.Order
	// SwitchContext requests the dashboard of another context, which replaces this one when Run
	// returns. It runs on the event loop and must not block.
	SwitchContext func(name string)
	// Theme is one of [Themes]. If it is empty, the first theme is used.
	Theme string
	// Columns selects and orders the columns of the elections' table by name. If it is nil, all [Columns] are shown.
	Columns []string
	// Keys replaces key bindings. The zero value replaces none.
	Keys map[string][]string
	// ASCII restricts the screen to ASCII characters.
	ASCII bool
	// Commands are the user's commands, which the key ! lists.
	Commands pages.Commands
	// CanSuspend is set if a shell can continue the process after ctrl-z. Otherwise, ctrl-z does not stop the process.
	CanSuspend bool
	// Crashed receives the first panic after the terminal is restored, and should end the program. If Crashed is nil,
	// Bubble Tea reports the panic.
	Crashed func(crash.Panic)
	// History contains events from before and after electop started. It is nil if nothing is recorded. The dashboard
	// reads it off the event loop. The caller closes it.
	History history.Source
	// Warnings delivers one-line warnings about the history, which the dashboard shows above the body. An empty
	// string removes the warning.
	Warnings <-chan string
	// Now is the clock. If it is nil, time.Now is used.
	Now func() time.Time
}

// Config contains the settings that the screen shows.
type Config = scene.Config

// Run shows the dashboard until the user quits or ctx ends, which is not an error. It returns the unfinished actions;
// no action starts later. The caller handles signals. Run always restores the terminal, even after a panic. more
// overrides the program options.
func Run(ctx context.Context, opts Options, more ...tea.ProgramOption) ([]act.Unfinished, error) {
	m := New(ctx, opts)
	p := newProgram(ctx, m, more...)
	var crashing sync.Mutex
	if opts.Crashed != nil {
		defer crash.Handle(func(c crash.Panic) {
			crashing.Lock()
			defer crashing.Unlock()
			p.Kill() // restores the terminal
			opts.Crashed(c)
		})()
	}
	_, err := p.Run()
	crashing.Lock() // Crashed may end the program
	defer crashing.Unlock()
	left := m.log.Unfinished()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic) {
		return left, nil
	}
	return left, err
}

func newProgram(ctx context.Context, m *Model, more ...tea.ProgramOption) *tea.Program {
	return tea.NewProgram(guarded{m}, append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}, more...)...)
}

// guarded passes panics to [crash.Handle]. Bubble Tea would write them to standard error with their secrets.
type guarded struct{ tea.Model }

// Init implements [tea.Model].
func (g guarded) Init() tea.Cmd { return guard(g.Model.Init()) }

// Update implements [tea.Model].
func (g guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer crash.Recover()
	m, cmd := g.Model.Update(msg)
	return guarded{m}, guard(cmd)
}

// View implements [tea.Model].
func (g guarded) View() tea.View {
	defer crash.Recover()
	return g.Model.View()
}

// guard returns the command with recovery, also for the commands of a [tea.Batch].
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer crash.Recover()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = guard(c)
			}
		}
		return msg
	}
}
