package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/internal/crash"
	"electop/internal/feed"
	"electop/internal/history"
	"electop/internal/source"
	"electop/internal/supervise"
	"electop/ui"
	dialogs "electop/ui/act"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/shell"
)

// runDashboard opens the dashboard for the Consul agent that the flags select.
func runDashboard(ctx context.Context, o *options) error {
	if !o.interactive || os.Getenv("TERM") == "dumb" {
		return errors.New("the dashboard needs an interactive terminal, and TERM must not be dumb; otherwise, use `electop list` or `electop watch`")
	}
	var err error
	for o != nil && err == nil {
		o, err = runContext(ctx, o)
	}
	return err
}

// runContext runs the dashboard of one cluster until the dashboard ends, and returns the options of the new context if
// the user switched the context.
func runContext(ctx context.Context, o *options) (next *options, err error) {
	defer o.close()
	ls, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	late := newQueue[string]() // keeps the warnings until the screen is closed
	b := &dashboard{options: o, snapshots: make(chan *election.Snapshot), history: o.historySource(ls.all...), warnings: make(chan string)}
	b.addresses, b.patterns = ls.watched()
	for _, l := range ls.all {
		recorder := l.record(o.logged(func(line string) { late.push([]string{line}) }))
		b.datacenters = append(b.datacenters, &datacenter{lookup: l, writer: writer{recorder: recorder}})
	}
	warnings := late.take()
	b.unusable = strings.Join(warnings[:min(len(warnings), 1)], "")
	err = b.open(ctx)
	for _, c := range b.datacenters {
		c.recorder.finish()
	}
	for _, line := range append(warnings, late.take()...) {
		o.warn(line)
	}
	return b.next, err
}

// dashboard connects the screen to Consul and to the history. It implements [ui.Backend].
type dashboard struct {
	*options
	datacenters []*datacenter
	snapshots   chan *election.Snapshot // joined
	addresses   string
	patterns    []string       // at the start
	history     history.Source // contains all datacenters; nil if no history is used; the dashboard closes it
	unusable    string         // reason why the history cannot be used; "" if it can be used or is off
	warnings    chan string    // receives warnings about the history
	next        *options       // of the context to which the user switched; nil if the dashboard ends
	// ctx ends the drains.
	ctx    context.Context //nolint:containedctx // see above
	drains sync.WaitGroup
}

// historyProblem returns why the history cannot be used, or "".
func (b *dashboard) historyProblem(ctx context.Context) string {
	problem := ""
	for _, c := range b.datacenters { // their recorders write to the same file
		switch rec := c.recorder; {
		case rec == nil:
			return b.unusable
		case rec.remote != nil:
			return checkRecorder(ctx, b.history)
		default:
			problem = cmp.Or(problem, rec.shown())
		}
	}
	return problem
}

// startGCPercent and laterGCPercent replace Go's default of 100 until and after startTime, the former also in commands
// that read once. The start allocates several times what it keeps, so fewer collections make it a third shorter.
// Later, 50 saves a fifth of the memory at 10,000 elections and costs a tenth more CPU time per change.
const (
	startGCPercent = 1000
	laterGCPercent = 50
)

// open runs the observers and the screen until the screen ends.
func (b *dashboard) open(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	if b.history != nil {
		defer b.history.Close()
	}
	var background sync.WaitGroup
	defer background.Wait()
	defer cancel()
	defer b.drains.Wait() // for the writes in progress; ctrl-c ends them
	// ctrl-c and ctrl-\ send these signals to the processes of the terminal while it is not in raw mode: they must end only a
	// command of the user. If electop ignored them, the command would inherit that.
	signals := []os.Signal{os.Interrupt, syscall.SIGQUIT}
	signal.Reset(signals...)
	signal.Notify(make(chan os.Signal, 1), signals...)
	defer signal.Reset(signals...) // waits for other goroutines
	crash.Go(&background, keepFatalErrors)
	debug.SetGCPercent(startGCPercent)
	defer time.AfterFunc(startTime, func() { debug.SetGCPercent(laterGCPercent) }).Stop()
	observed := newObservers(b.history, b.options)
	for _, c := range b.datacenters {
		c.observe(observed)
	}
	crash.Go(&background, func() { observed.run(ctx) })
	crash.Go(&background, func() { source.Run(ctx, b.datacenters, b.snapshots) })
	crash.Go(&background, func() { watchHistory(ctx, b.historyProblem, b.warnings) })
	return runScreen(ctx, b)
}

func runScreen(ctx context.Context, b *dashboard) error {
	ctx, cancel := context.WithCancel(ctx)
	b.ctx = ctx
	defer cancel()
	var names []string // of several datacenters
	if len(b.datacenters) > 1 {
		names = election.Map(b.datacenters, (*datacenter).Datacenter)
	}
	// Unlike the detection of Bubble Tea, this does not run `tmux info`: every colour of electop is in the 256-colour palette.
	colours := colorprofile.Env(os.Environ())
	if colours >= colorprofile.ANSI {
		colours = max(colours, colorprofile.Terminfo(os.Getenv("TERM")))
	}
	unfinished, err := ui.Run(ctx, ui.Options{
		Backend: b, Snapshots: b.snapshots, History: b.history, Warnings: b.warnings,
		Config: ui.Config{
			ReadOnly: b.readOnly, Datacenters: names, Address: b.addresses, Patterns: b.patterns, Demo: b.demo,
			Context: b.context, Contexts: b.file.contextNames(), ContextHint: b.contextHint(),
		},
		ASCII: b.ascii, Theme: b.theme, Columns: b.file.Columns.values, Keys: b.file.keys,
		Commands: pages.Commands{All: b.file.commands, File: b.configPath(), Run: b.commandRunner(ctx)},
		Filter:   b.view.filter.Text, Sort: b.view.order,
		SwitchContext: func(name string) { b.next = b.inContext(name) }, CanSuspend: supervise.CanSuspend(), Crashed: b.crashed,
	}, tea.WithInput(b.stdin), tea.WithOutput(b.stdout), tea.WithColorProfile(colours))
	return cmp.Or(err, reportUnfinished(b.stderr, unfinished))
}

// reportUnfinished writes a line for each action whose result the dashboard did not observe. It returns the exit code
// that release and destroy return for these outcomes.
func reportUnfinished(w io.Writer, unfinished []dialogs.Unfinished) error {
	var codes []int
	for _, u := range unfinished {
		codes = append(codes, exitOf(u.Outcome, false))
		fmt.Fprintf(w, "electop: %s %s: %s\n", u.Outcome.Action, u.Name, u.Outcome.Summary())
	}
	return worstOf(codes...)
}

// find returns a datacenter. If there is only one, find ignores the name, because the name may be unknown. Otherwise an
// action must not choose a datacenter itself.
func (b *dashboard) find(name string) (*datacenter, error) {
	for _, c := range b.datacenters {
		if len(b.datacenters) == 1 || c.Datacenter() == name {
			return c, nil
		}
	}
	return nil, errors.New("the datacenter of the target is unknown; nothing was written")
}

// Act implements [ui.Backend].
func (b *dashboard) Act(ctx context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	c, err := b.find(d.Datacenter)
	if err != nil {
		return act.Outcome{Action: kind, Target: d.Target, Kind: act.OutcomeRefused, Reason: err.Error()}
	}
	return c.Act(ctx, kind, d)
}

// Rights implements [ui.Backend].
func (b *dashboard) Rights(ctx context.Context, t election.Target) (election.MissingRules, error) {
	c, err := b.find(t.Datacenter)
	if err != nil {
		return nil, err
	}
	return c.Rights(ctx, t)
}

// WatchChecks implements [ui.Backend].
func (b *dashboard) WatchChecks(datacenter string, nodes []string) {
	if c, err := b.find(datacenter); err == nil {
		c.WatchChecks(nodes)
	}
}

// Study implements [ui.Backend].
func (b *dashboard) Study(datacenter, key string) {
	chosen, _ := b.find(datacenter)
	for _, c := range b.datacenters {
		selected := ""
		if c == chosen {
			selected = key
		}
		c.Study(selected)
	}
}

// WatchSessions implements [ui.Backend].
func (b *dashboard) WatchSessions(on bool) {
	for _, c := range b.datacenters {
		c.WatchSessions(on)
	}
}

// Cluster implements [ui.Backend].
func (b *dashboard) Cluster(name string) (s shell.Cluster) {
	if c, err := b.find(name); err == nil {
		s = c.current().cluster()
	}
	return s
}

// SetPatterns implements [ui.Backend]. A pattern that only the settings of some clusters select applies only to them.
func (b *dashboard) SetPatterns(ps election.Patterns) {
	for _, c := range b.datacenters {
		own, _ := c.store.Patterns(election.Without(ps.Strings(), func(text string) bool {
			return slices.Contains(b.patterns, text) && !slices.Contains(c.patterns.Strings(), text)
		})) // no error: the dashboard has parsed them
		c.SetPatterns(own)
	}
}

// Discover implements [ui.Backend]. It compares the locks with the watched patterns.
func (b *dashboard) Discover(ctx context.Context, name string, progress kit.Progress) (pages.Found, error) {
	c, err := b.find(name)
	if err != nil {
		return pages.Found{}, err
	}
	return c.Discover(ctx, "", c.Patterns(), progress)
}

// Doctor implements [ui.Backend].
func (b *dashboard) Doctor(ctx context.Context) ([]pages.Check, error) {
	all := election.Map(b.datacenters, (*datacenter).current)
	found, rows := b.examine(ctx, all)
	var err error
	for i, l := range all {
		if failed := found[i].err; failed != nil {
			err = errors.Join(err, errors.New(l.where+l.Redact(consulx.Describe(failed))))
		}
	}
	return rows, err
}

// datacenter is one datacenter of Consul. It is a [source.Source] of the dashboard.
type datacenter struct {
	lookup
	observer
	writer
}

// observe creates the observer and the operator, which acts and records.
func (c *datacenter) observe(all *observers) {
	c.observer = all.add(c.lookup, c.recorder, feed.Options{Replay: true})
	c.operator = c.Operator(func(a election.OperatorAction) {
		a.By = userAtHost()
		c.Note(a)
	})
}

// current returns the lookup with the patterns that the user selected last.
func (c *datacenter) current() lookup {
	l := c.lookup
	l.patterns = c.Patterns()
	return l
}

// Survey implements [ui.Backend].
func (b *dashboard) Survey(ctx context.Context, name string, keys []string) []election.Surroundings {
	c, err := b.find(name)
	if err != nil {
		return nil
	}
	return c.Consistently().Survey(ctx, keys)
}

// Holdings implements [ui.Backend].
func (b *dashboard) Holdings(ctx context.Context, name string, sessions []string, progress kit.Progress) (keys []election.Pair, complete bool, err error) {
	c, err := b.find(name)
	if err == nil {
		keys, err = c.Holdings(ctx, sessions, progress)
	}
	if errors.Is(err, election.ErrIncomplete) {
		return keys, false, nil
	}
	return keys, err == nil, err
}
