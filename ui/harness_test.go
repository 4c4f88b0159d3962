package ui

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/election/insight"
	plan "electop/internal/act"
	"electop/ui/act"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeOperator records its calls. By default its actions succeed.
type fakeOperator struct {
	released  []election.Target
	destroyed []election.Destroy
	outcome   insight.Outcome
	ends      map[string]insight.Outcome // outcomes by name of the election
}

func (o *fakeOperator) fails(kind insight.OutcomeKind, reason string) {
	o.outcome = insight.Outcome{Kind: kind, Reason: reason}
}

func (o *fakeOperator) end(t election.Target) insight.Outcome {
	if end, found := o.ends[t.Election]; found {
		return end
	}
	if o.outcome.Kind == "" {
		o.outcome.Kind = insight.OutcomeDone
	}
	return o.outcome
}

func (o *fakeOperator) Release(_ context.Context, t election.Target) insight.Outcome {
	o.released = append(o.released, t)
	return o.end(t)
}

func (o *fakeOperator) DestroySession(_ context.Context, d election.Destroy) insight.Outcome {
	o.destroyed = append(o.destroyed, d)
	return o.end(d.Target)
}

// backend calls its functions. A function that is nil finds nothing.
type backend struct {
	act.Operator
	onWatchChecks   func(string, []string)
	onStudy         func(string, string)
	onWatchSessions func(bool)
	onSetPatterns   func(election.Patterns)
	onRights        func(context.Context, election.Target) (election.Rights, error)
	onHoldings      func(context.Context, string, []string, func(int, int)) ([]election.Pair, bool, error)
	onSurvey        func(context.Context, string, []string) []election.Surroundings
	onDiscover      func(context.Context, string, func(int, int)) (DiscoveredLocks, error)
	onDiagnose      func(context.Context, *election.Snapshot, *election.Election) Diagnosis
	onDrain         func(context.Context, string, string, func(int, int)) (plan.Plan, error)
	onReport        func(context.Context, []Subject, time.Time) (string, error)
	onDoctor        func(context.Context) ([]DoctorRow, error)
}

// without ends the reads for which a test has no function, so that its commands are only those of its keys.
func (d *driver) without(b *backend) {
	if b.onRights == nil {
		d.m.rights.read = nil
	}
	tools := d.m.tools
	d.m.tools = func(datacenter string) act.Tools {
		t := tools(datacenter)
		if b.onSurvey == nil {
			t.Survey = nil
		}
		return t
	}
}

// fake returns the backend of a test.
func fake(o *Options) *backend { return o.Backend.(*backend) }

func (b *backend) WatchChecks(datacenter string, nodes []string) {
	if b.onWatchChecks != nil {
		b.onWatchChecks(datacenter, nodes)
	}
}

func (b *backend) Study(datacenter, key string) {
	if b.onStudy != nil {
		b.onStudy(datacenter, key)
	}
}

func (b *backend) WatchSessions(on bool) {
	if b.onWatchSessions != nil {
		b.onWatchSessions(on)
	}
}

func (b *backend) SetPatterns(ps election.Patterns) {
	if b.onSetPatterns != nil {
		b.onSetPatterns(ps)
	}
}

func (b *backend) Rights(ctx context.Context, t election.Target) (r election.Rights, err error) {
	if b.onRights != nil {
		return b.onRights(ctx, t)
	}
	return r, errors.New("unknown")
}

func (b *backend) Holdings(ctx context.Context, datacenter string, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
	if b.onHoldings != nil {
		return b.onHoldings(ctx, datacenter, sessions, progress)
	}
	return nil, true, nil
}

func (b *backend) Survey(ctx context.Context, datacenter string, keys []string) []election.Surroundings {
	return b.onSurvey(ctx, datacenter, keys)
}

func (b *backend) Discover(ctx context.Context, datacenter string, progress func(int, int)) (DiscoveredLocks, error) {
	return b.onDiscover(ctx, datacenter, progress)
}

func (b *backend) Diagnose(ctx context.Context, s *election.Snapshot, e *election.Election) Diagnosis {
	return b.onDiagnose(ctx, s, e)
}

func (b *backend) PlanDrain(ctx context.Context, datacenter, node string, progress func(int, int)) (plan.Plan, error) {
	return b.onDrain(ctx, datacenter, node, progress)
}

func (b *backend) Report(ctx context.Context, of []Subject, since time.Time) (string, error) {
	return b.onReport(ctx, of, since)
}

func (b *backend) Doctor(ctx context.Context) ([]DoctorRow, error) { return b.onDoctor(ctx) }

// driver drives a Model without a terminal.
type driver struct {
	t   testing.TB
	m   *Model
	op  *fakeOperator
	now time.Time
	// hasty sends the next message before a changed text was visible for long enough.
	hasty bool
	// unanswered leaves surveys without a response. unread is the error in each response.
	unanswered bool
	unread     string
}

func drive(t testing.TB, snap *election.Snapshot, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t, op: &fakeOperator{}, now: testNow()}
	opts := Options{
		Backend: &backend{Operator: d.op}, Address: "127.0.0.1:8500", Patterns: []string{"service/*/leader"},
		Now: func() time.Time { return d.now },
	}
	opts.ASCII = os.Getenv(asciiScenes) != ""
	for _, c := range change {
		c(&opts)
	}
	if read := fake(&opts).onSurvey; read != nil {
		fake(&opts).onSurvey = func(ctx context.Context, datacenter string, keys []string) []election.Surroundings {
			if d.unanswered {
				return read(ctx, datacenter, keys)
			}
			return d.around(keys)
		}
	}
	d.m = New(context.Background(), opts)
	d.without(fake(&opts))
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	if snap != nil {
		d.send(snapshotMsg{snap})
	}
	return d
}

func (d *driver) send(msg tea.Msg) tea.Cmd {
	_, cmd := d.m.Update(msg)
	if o := d.m.overlay; o != nil && o.Targets != nil && !d.unanswered {
		for o.Task.Running() {
			d.survey(cmd)
		}
	}
	if !d.hasty {
		d.settle()
	}
	return cmd
}

// survey runs commands until one of them sends a result.
func (d *driver) survey(cmd tea.Cmd) {
	d.t.Helper()
	results := make(chan tea.Msg, 100)
	var run func(cmd tea.Cmd)
	run = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		go func() {
			switch msg := cmd().(type) {
			case tea.BatchMsg:
				for _, c := range msg {
					run(c)
				}
			case kit.TaskMsg:
				results <- msg
			}
		}()
	}
	run(cmd)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for o := d.m.overlay; o.Task.Running(); {
		select {
		case msg := <-results:
			_, next := d.m.Update(msg)
			run(next)
		case <-ctx.Done():
			d.t.Fatal("the survey does not end")
		}
	}
}

// settle lets the time pass after which the buttons of a dialog act.
func (d *driver) settle() {
	o := d.m.overlay
	if o == nil || !slices.ContainsFunc(o.Buttons, func(b kit.Button) bool { return b.Acts }) {
		return
	}
	for _, step := range []time.Duration{kit.Settled, -kit.Settled} {
		d.now = d.now.Add(step)
		d.m.Update(kit.SettledMsg{})
	}
}

// ready reports whether the open dialog can be confirmed.
func (d *driver) ready() bool {
	text := d.text()
	return d.m.overlay != nil && !slices.ContainsFunc([]string{"(Release)", "(Destroy)", "[ Close ]"}, func(not string) bool { return strings.Contains(text, not) })
}

func (d *driver) actions() []scene.EventLine { return d.m.log.Events(d.m.scene) }

// around returns the surroundings of the fixture for a survey.
func (d *driver) around(keys []string) []election.Surroundings {
	var all []election.Surroundings
	for _, key := range keys {
		s := election.Surroundings{At: d.now, Key: key, SiblingsErr: d.unread}
		switch live := d.m.live; {
		case d.unread != "":
		case live.Surroundings != nil && live.Surroundings.Key == key:
			s = *live.Surroundings
		case live.SessionList != nil:
			s = *surroundings(live, key)
		}
		all = append(all, s)
	}
	return all
}

// keys presses keys by name. A name that begins with a quote is text to type.
func (d *driver) keys(names ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, name := range names {
		if text, quoted := strings.CutPrefix(name, "'"); quoted {
			for _, r := range text {
				d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
			continue
		}
		cmd = d.send(uitest.Press(name))
	}
	return cmd
}

// text returns the screen without escape sequences.
func (d *driver) text() string { return ansi.Strip(d.m.View().Content) }

func (d *driver) wants(parts ...string) {
	d.t.Helper()
	screen := d.text()
	for _, part := range parts {
		if !strings.Contains(screen, part) {
			d.t.Errorf("%q is not on the screen:\n%s", part, screen)
		}
	}
}

func (d *driver) lacks(parts ...string) {
	d.t.Helper()
	screen := d.text()
	for _, part := range parts {
		if strings.Contains(screen, part) {
			d.t.Errorf("%q is on the screen:\n%s", part, screen)
		}
	}
}

// perform runs the writes of an action.
func (d *driver) perform(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil || d.m.log.Running() == "" {
		d.t.Fatal("there is no action")
	}
	for d.m.log.Running() != "" {
		cmd = d.send(firstOf(d.t, cmd))
	}
}

// sequence returns the commands in a tea.Sequence, whose type is private.
func sequence(t testing.TB, msg tea.Msg) []tea.Cmd {
	t.Helper()
	cmds, err := commandsOf(msg)
	if err != nil {
		t.Fatal(err)
	}
	return cmds
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./ui -update writes it); got:\n%s", path, got)
	}
}

// trimLines removes trailing blanks, as editors do.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// firstOf runs the first command of nested lists: the others are ticks.
func firstOf(t testing.TB, cmd tea.Cmd) tea.Msg {
	t.Helper()
	msg := cmd()
	if _, list := msg.(tea.BatchMsg); !list {
		return msg
	}
	return firstOf(t, sequence(t, msg)[0])
}

func clickAt(x, y int) tea.MouseClickMsg {
	return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}
}

// filter sets the filter of the current view without the prompt, even while an overlay is open.
func (d *driver) filter(text string) {
	d.m.toView(scene.Filtered{Text: text})
	d.m.layOut(d.m.scene)
}

func (d *driver) open(id string) {
	before := d.m.scene
	d.m.showElection(id)
	d.m.layOut(before)
}

func (d *driver) marks() int {
	visible, hidden := d.m.board.Marks()
	return visible + hidden
}

// learn stores permissions, as a read of them does.
func (d *driver) learn(t election.Target, r election.Rights) {
	d.m.rights.known[holdOf(t)] = rightsEntry{r, d.now}
	d.send(tea.ResumeMsg{})
}
