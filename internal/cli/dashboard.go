package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/nearby"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/internal/history"
	"electop/internal/stream"
	"electop/ui"
)

// runDashboard opens the dashboard for the Consul that the flags select.
func runDashboard(ctx context.Context, d deps, o *options) error {
	if !d.interactive || os.Getenv("TERM") == "dumb" {
		return errors.New("the dashboard needs a terminal that can move the cursor; without one use `electop list` or `electop watch`")
	}
	return d.runGuarded(o, func() error { return connectDashboard(ctx, d, o) })
}

func connectDashboard(ctx context.Context, d deps, o *options) error {
	for {
		next, err := runContext(ctx, d, o)
		if next == nil || err != nil {
			return err
		}
		o = next
	}
}

// runContext runs the dashboard of one cluster until it ends, and returns the options of the next
// one if the user switched the context.
func runContext(ctx context.Context, d deps, o *options) (next *options, err error) {
	client, ps, err := o.connect()
	if err != nil {
		return nil, err
	}
	screen := o.screen()
	screen.switchTo = func(name string) { next = o.inContext(name) }
	log, closeLog, err := o.logger(d)
	if err != nil {
		return nil, err
	}
	defer closeLog()
	warnings := &lateWarnings{log: log}
	rec := o.record(client, ps, warnings.add)
	err = openDashboard(ctx, d, dashboard{
		client: client, connect: func() (*consulx.Client, error) { return consulx.NewClient(o.consul) },
		patterns: ps, log: log, recorder: rec, history: o.historySource(client),
		unusable: warnings.first(), remote: isURL(o.history), readOnly: o.readOnly, screen: screen,
	})
	rec.finish()
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

// first returns the first warning, empty if there is none.
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
	client   *consulx.Client
	connect  func() (*consulx.Client, error) // returns another client of the same Consul
	patterns election.Patterns
	log      *slog.Logger
	recorder *historyRecorder // nil without a history
	history  history.Source   // nil without a history; closed with the dashboard
	unusable string           // reason why the history cannot be used, "" if it can be used or is off
	remote   bool             // the history is read from a recorder
	readOnly bool
	screen   screenSettings
	demo     string
	warnings chan string // receives warnings about the history
}

// checkHistory returns a function that returns why the history cannot be used, and the time between two calls. The
// function is nil if there is nothing to check.
func (b dashboard) checkHistory() (check func(context.Context) string, every time.Duration) {
	switch {
	case b.unusable != "":
		return func(context.Context) string { return b.unusable }, recorderEvery
	case b.remote && b.history != nil:
		return func(ctx context.Context) string { return checkRecorder(ctx, b.history) }, recorderEvery
	case b.recorder != nil:
		return b.recorder.problem, fileEvery
	}
	return nil, 0
}

// recall returns the function that reads the past of the elections from the history, nil without a history.
func (b dashboard) recall() func(context.Context) election.HistoryRead {
	if b.history == nil {
		return nil
	}
	return func(ctx context.Context) election.HistoryRead {
		return recall(ctx, b.history, func(line string) { b.log.Warn(line) }) // the screen shows errors of the history
	}
}

// openDashboard runs the observer and the screen until one of them ends.
func openDashboard(ctx context.Context, d deps, b dashboard) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if b.history != nil {
		defer b.history.Close()
	}
	logEvents := eventLogger(b.log)
	shared := newSharedActions(b.history)
	observer := observe.New(b.client, observe.Options{
		Patterns: b.patterns, Logger: b.log, Recall: b.recall(), OnLoaded: b.recorder.loaded(b.client, b.patterns),
		OnEvents: func(events []election.Event) {
			logEvents(events)
			b.recorder.events(events)
			shared.events(events)
		},
	})
	b.recorder.observedAs(observer.Snapshot)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return observer.Run(ctx) })
	g.Go(func() error { return shared.run(ctx, observer.Note) })
	if check, every := b.checkHistory(); check != nil {
		b.warnings = make(chan string)
		g.Go(func() error { return watchHistory(ctx, every, check, b.warnings) })
	}
	if tty, ok := d.stdin.(*os.File); ok {
		// Bubble Tea ignores the end of its input, and SIGHUP may be ignored.
		g.Go(func() error { return stream.AwaitHangup(ctx, tty) })
	}
	if d.guarded {
		g.Go(func() error { return stream.AwaitReader(ctx, d.stderr) }) // ends with the parent
	}
	var screen error
	g.Go(func() error {
		defer cancel()
		screen = runScreen(ctx, d, b, observer)
		return screen
	})
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return screen // the other goroutine may have ended first
}

func runScreen(ctx context.Context, d deps, b dashboard, observer *observe.Observer) error {
	op := consulx.NewOperator(b.client, observer.Note)
	jobs := newJobControl()
	defer jobs.close()
	drains := newDashboardDrains(ctx, b, observer.Patterns, observer.Note)
	defer drains.close()
	options := []tea.ProgramOption{
		tea.WithInput(d.stdin), tea.WithOutput(stream.Unwrap(d.stdout)),
		tea.WithColorProfile(lipgloss.Writer.Profile), // detecting it again would run `tmux info` again
	}
	if d.guarded {
		options = append(options, tea.WithoutCatchPanics()) // the parent process reports panics of all goroutines
	}
	closed := make(chan error, 1)
	go func() {
		opts := uiOptions(b, observer, op, jobs, drains.plan)
		opts.RunCommand = b.commandRunner(ctx, d, jobs)
		unfinished, err := ui.Run(ctx, opts, options...)
		closed <- cmp.Or(err, reportUnfinished(d.stderr, unfinished))
	}()
	select {
	case err := <-closed:
		return err
	case <-jobs.ended:
		return nil
	}
}

// reportUnfinished writes a line for each action whose result the dashboard did not
// observe, and returns the exit code that release and destroy have for these outcomes.
func reportUnfinished(w io.Writer, unfinished []ui.Unfinished) error {
	outcomes := make([]insight.Outcome, len(unfinished))
	for i, u := range unfinished {
		outcomes[i] = u.Outcome
		fmt.Fprintf(w, "electop: %s %s: %s\n", u.Outcome.Action, u.Name, u.Outcome.Summary())
	}
	return worstExit(outcomes, false)
}

func uiOptions(b dashboard, observer *observe.Observer, op *consulx.Operator, jobs *jobControl, drains ui.DrainPlanner) ui.Options {
	o := ui.Options{
		Snapshots: observer.Snapshots(), Operator: operator{op, b.recorder}, ReadOnly: b.readOnly,
		Address: b.client.Address(), Patterns: b.patterns.Strings(), Demo: b.demo, History: b.history, Warnings: b.warnings,
		WatchChecks: observer.WatchChecks, Study: observer.Study, WatchSessions: observer.WatchSessions,
		Rights: op.Rights, Holdings: b.holdings, Survey: b.survey, Drain: drains, Diagnose: fixer{b, op}.diagnose, Suspend: jobs.suspend, Suspensions: jobs.next,
	}
	s := b.screen
	o.Cluster = clusterOf(b.client, s.context)
	o.ASCII, o.Theme, o.Columns, o.Keys = s.ascii, s.theme, s.columns, s.keys
	o.Commands, o.ConfigFile = s.commands, s.configFile
	o.Doctor = func(ctx context.Context) ([]ui.DoctorRow, error) { return b.doctor(ctx, observer.Patterns()) }
	o.Filter, o.Sort = s.view.filter.Text, s.view.order
	o.Context, o.Contexts, o.SwitchContext = s.context, s.contexts, s.switchTo
	o.Discover, o.Nearby, o.SetPatterns = b.discover(observer), b.nearby, func(ps election.Patterns) {
		b.recorder.watches(ps)
		observer.SetPatterns(ps)
	}
	if b.history != nil {
		o.Report = func(ctx context.Context, keys []string, since time.Time) (string, error) {
			return writeIncidents(ctx, b.history, keys, history.Range{Since: since, Until: time.Now()})
		}
	}
	return o
}

// clusterOf returns how a command that the user copies reaches Consul.
func clusterOf(client *consulx.Client, context string) ui.Cluster {
	e := client.Endpoint()
	return ui.Cluster{
		URL: e.URL, Datacenter: client.Datacenter(), Namespace: e.Namespace, Partition: e.Partition,
		CAFile: e.CAFile, CAPath: e.CAPath, ClientCert: e.ClientCert, ClientKey: e.ClientKey, TLSServerName: e.TLSServerName,
		Token: e.Token, Password: e.Password, Context: context,
	}
}

// discover returns a function that searches for locks and compares them with the watched patterns.
func (b dashboard) discover(observer *observe.Observer) func(context.Context, func(done, total int)) (ui.DiscoveredLocks, error) {
	return func(ctx context.Context, progress func(done, total int)) (ui.DiscoveredLocks, error) {
		found, err := discoverLocks(ctx, b.client, "", observer.Patterns(), progress)
		problem := found.SessionsErr
		if found.Incomplete {
			problem = "This token cannot read all keys: locks may be missing. See electop doctor."
		}
		return ui.DiscoveredLocks{Result: found.Result, Scanned: found.Scanned, Problem: problem}, err
	}
}

// nearby counts locks that no pattern selects or excludes, without the keys of Patroni's members. The result is only
// a hint, so errors are ignored.
func (b dashboard) nearby(ctx context.Context) (locks int, complete bool) {
	found, _ := nearby.Find(ctx, b.client, b.patterns, func(key string) bool {
		folder, member := strings.CutSuffix(election.Parent(key), "members/")
		_, watched := b.patterns.Match(folder + "leader")
		return member && watched || b.patterns.Exclude(key)
	})
	return len(found.Locked), found.Complete
}

// survey reads the surroundings of several elections.
func (b dashboard) survey(ctx context.Context, keys []string) []election.Surroundings {
	return consulx.Surveys(ctx, b.client, keys)
}

// holdings searches the store for keys of sessions. The second result is false if the
// token cannot read all keys.
func (b dashboard) holdings(ctx context.Context, sessions []string, progress func(done, total int)) ([]election.Pair, bool, error) {
	keys, err := consulx.Holdings(ctx, b.client, sessions, progress)
	if errors.Is(err, consulx.ErrIncomplete) {
		return keys, false, nil
	}
	return keys, err == nil, err
}

// operator returns the results of actions as outcomes, and records them.
type operator struct {
	*consulx.Operator
	recorder *historyRecorder
}

// Release releases the key that the target names.
func (o operator) Release(ctx context.Context, t election.Target) insight.Outcome {
	released, err := o.Operator.Release(ctx, t)
	outcome := withNote(outcomeOf(insight.Outcome{Action: election.ActionRelease, Target: t}, err), released)
	o.recorder.action(outcome)
	return outcome
}

// DestroySession destroys the session that the target names.
func (o operator) DestroySession(ctx context.Context, t election.Target) insight.Outcome {
	outcome := outcomeOf(insight.Outcome{Action: election.ActionDestroy, Target: t}, o.Operator.DestroySession(ctx, t))
	o.recorder.action(outcome)
	return outcome
}
