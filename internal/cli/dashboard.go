package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/internal/crash"
	"electop/internal/history"
	"electop/internal/source"
	"electop/ui"
)

// runDashboard opens the dashboard for the Consul agent that the flags select.
func runDashboard(ctx context.Context, d deps, o *options) error {
	if !d.interactive || os.Getenv("TERM") == "dumb" {
		return errors.New("the dashboard needs an interactive terminal, and TERM must not be dumb; otherwise, use `electop list` or `electop watch`")
	}
	for {
		next, err := runContext(ctx, d, o)
		if next == nil || err != nil {
			return err
		}
		o = next
	}
}

// runContext runs the dashboard of one cluster until the dashboard ends, and returns the options of the new context if
// the user switched the context.
func runContext(ctx context.Context, d deps, o *options) (next *options, err error) {
	defer o.opened.close()
	ls, err := o.open(ctx, d)
	if err != nil {
		return nil, err
	}
	screen := o.screen()
	screen.switchTo = func(name string) { next = o.inContext(name) }
	log, closeLog, err := o.logger()
	if err != nil {
		return nil, err
	}
	defer closeLog()
	warnings := &lateWarnings{log: log}
	all := make([]*datacenter, len(ls.all))
	for i, l := range ls.all {
		all[i] = &datacenter{lookup: l, writer: writer{recorder: o.record(l.client, warnings.add)}}
	}
	err = openDashboard(ctx, d, dashboard{
		datacenters: all, patterns: ls.all[0].patterns, log: log, history: o.historySource(all[0].client),
		unusable: warnings.first(), remote: isURL(o.history), readOnly: o.readOnly, screen: screen, redact: o.opened.redact,
	})
	for _, c := range all {
		c.recorder.finish()
	}
	warnings.write(d)
	return next, err
}

// lateWarnings keeps warnings until the screen is closed.
type lateWarnings struct {
	log   *slog.Logger
	mu    sync.Mutex
	lines []string
}

func (l *lateWarnings) add(line string) {
	l.log.Warn(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

// first returns the first warning, or "" if there is no warning.
func (l *lateWarnings) first() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return ""
	}
	return l.lines[0]
}

func (l *lateWarnings) write(d deps) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		d.warn(line)
	}
}

// dashboard holds the data sources and the settings of the dashboard.
type dashboard struct {
	datacenters []*datacenter
	patterns    election.Patterns
	log         *slog.Logger
	history     history.Source // contains all datacenters; nil if no history is used; the dashboard closes it
	unusable    string         // reason why the history cannot be used; "" if it can be used or is off
	remote      bool           // the history is read from a recorder
	readOnly    bool
	screen      screenSettings
	demo        string
	warnings    chan string // receives warnings about the history
	redact      func(string) string
}

// checkHistory returns a function that returns why the history cannot be used, and the time between two calls. The
// function is nil if there is nothing to check.
func (b dashboard) checkHistory() (check func(context.Context) string, every time.Duration) {
	switch {
	case b.unusable != "":
		return func(context.Context) string { return b.unusable }, recorderEvery
	case b.remote && b.history != nil:
		return func(ctx context.Context) string { return checkRecorder(ctx, b.history) }, recorderEvery
	case b.datacenters[0].recorder != nil: // the recorders of all datacenters write to the same file
		return b.datacenters[0].recorder.shown, fileEvery
	}
	return nil, 0
}

// startTime is the time after which the first reads of the dashboard have ended.
const startTime = 10 * time.Second

// openDashboard runs the observers and the screen until one of them ends.
func openDashboard(ctx context.Context, d deps, b dashboard) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if b.history != nil {
		defer b.history.Close()
	}
	defer time.AfterFunc(startTime, debug.FreeOSMemory).Stop() // the start allocates several times what the dashboard keeps
	observed := newObservers(b.history, b.log)
	for _, c := range b.datacenters {
		c.observe(observed, b.patterns)
	}
	g, ctx := errgroup.WithContext(ctx)
	start := func(f func() error) { g.Go(crash.Guard(f)) }
	start(func() error { return observed.run(ctx) })
	var sources []source.Source
	for _, c := range b.datacenters {
		sources = append(sources, c)
	}
	group := source.NewGroup(sources...)
	start(func() error { return group.Run(ctx) })
	if check, every := b.checkHistory(); check != nil {
		b.warnings = make(chan string)
		start(func() error { return watchHistory(ctx, every, check, b.warnings) })
	}
	var screen error
	start(func() error {
		defer cancel()
		screen = runScreen(ctx, d, b, group, observed.note)
		return screen
	})
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return screen // another goroutine may have ended first, with context.Canceled
}

// in returns the datacenter with this name. If there is only one datacenter, in returns it for every name.
func (b dashboard) in(name string) (*datacenter, error) {
	for _, c := range b.datacenters {
		if len(b.datacenters) == 1 || c.Datacenter() == name {
			return c, nil
		}
	}
	return nil, errors.New("the datacenter is unknown")
}

func runScreen(ctx context.Context, d deps, b dashboard, group *source.Group, note func(election.OperatorAction)) error {
	drains := newDashboardDrains(ctx, b, note)
	defer drains.close()
	defer keepSignals()()
	keepFatalErrors()
	opts := backend{b, group, drains}.options()
	opts.Command, opts.CanSuspend, opts.Crashed = b.commandRunner(ctx), canSuspend(), d.crashed(b.redact)
	unfinished, err := ui.Run(
		ctx, opts, tea.WithInput(d.stdin), tea.WithOutput(d.stdout),
		tea.WithColorProfile(colourProfile()),
	)
	return cmp.Or(err, reportUnfinished(d.stderr, unfinished))
}

// colourProfile returns the colours of the terminal. Unlike the detection of Bubble Tea, it does not run `tmux info`:
// every colour of electop is in the 256-colour palette.
func colourProfile() colorprofile.Profile {
	p := colorprofile.Env(os.Environ())
	if p < colorprofile.ANSI {
		return p
	}
	return max(p, colorprofile.Terminfo(os.Getenv("TERM")))
}

// keepSignals receives the signals that ctrl-c and ctrl-\ send to the processes of the terminal while it is not in raw
// mode: they must end only a command of the user. If electop ignored them, the command would inherit that.
func keepSignals() (restore func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGQUIT}
	signal.Reset(signals...)
	signal.Notify(make(chan os.Signal, 1), signals...)
	return func() { signal.Reset(signals...) }
}

// reportUnfinished writes a line for each action whose result the dashboard did not observe. It returns the exit code
// that release and destroy return for these outcomes.
func reportUnfinished(w io.Writer, unfinished []ui.Unfinished) error {
	codes := map[int]bool{}
	for _, u := range unfinished {
		codes[exitOf(u.Outcome.Kind, false)] = true
		fmt.Fprintf(w, "electop: %s %s: %s\n", u.Outcome.Action, u.Name, u.Outcome.Summary())
	}
	return worstOf(codes)
}

// backend is the connection of the dashboard to Consul. It implements [ui.Backend].
type backend struct {
	dashboard
	*source.Group
	drains *dashboardDrains
}

func (b backend) options() ui.Options {
	first, s := b.datacenters[0], b.screen
	var names []string // of several datacenters
	for _, c := range b.datacenters {
		if len(b.datacenters) > 1 {
			names = append(names, c.Datacenter())
		}
	}
	return ui.Options{
		Backend: b, Snapshots: b.Snapshots(), ReadOnly: b.readOnly, Datacenters: names, Address: first.client.Address(),
		Patterns: b.patterns.Strings(), Demo: b.demo, History: b.history, Warnings: b.warnings, Cluster: clusterOf(first.client, s.context),
		ASCII: s.ascii, Theme: s.theme, Columns: s.columns, Keys: s.keys, Commands: s.commands, ConfigFile: s.configFile,
		Filter: s.view.filter.Text, Sort: s.view.order, Context: s.context, Contexts: s.contexts, SwitchContext: s.switchTo,
	}
}

// PlanDrain implements [ui.Backend].
func (b backend) PlanDrain(ctx context.Context, datacenter, node string, progress func(done, total int)) (act.Plan, error) {
	return b.drains.plan(ctx, datacenter, node, progress)
}

// Report implements [ui.Backend].
func (b backend) Report(ctx context.Context, of []ui.Subject, since time.Time) (string, error) {
	return writeReport(ctx, b.history, of, history.Range{Since: since, Until: time.Now()})
}

// clusterOf returns the settings that a command needs to connect to the client's Consul agent. The dashboard adds them to
// commands that the user copies.
func clusterOf(client *consulx.Client, context string) ui.Cluster {
	e := client.Endpoint()
	return ui.Cluster{
		URL: e.URL, Datacenter: client.Datacenter(), Namespace: e.Namespace, Partition: e.Partition,
		CAFile: e.CAFile, CAPath: e.CAPath, ClientCert: e.ClientCert, ClientKey: e.ClientKey, TLSServerName: e.TLSServerName,
		Context: context,
	}
}

// Discover implements [ui.Backend]. It compares the locks with the watched patterns.
func (b dashboard) Discover(ctx context.Context, name string, progress func(done, total int)) (ui.DiscoveredLocks, error) {
	c, err := b.in(name)
	if err != nil {
		return ui.DiscoveredLocks{}, err
	}
	found, err := discoverLocks(ctx, c.client, "", c.Patterns(), progress)
	problem := found.SessionsErr
	if found.Incomplete {
		problem = "This token cannot read all keys: locks may be missing. See electop doctor."
	}
	return ui.DiscoveredLocks{FoundLocks: found.FoundLocks, Scanned: found.Scanned, Problem: problem}, err
}
