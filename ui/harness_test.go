package ui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	engine "electop/internal/act"
	"electop/internal/history"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var update = flag.Bool("update", false, "write the golden files")

// fakeOperator records its calls. By default its actions succeed.
type fakeOperator struct {
	d         *driver
	released  []election.Target
	destroyed []election.Destroy
	outcome   engine.Outcome
	ends      map[string]engine.Outcome // outcomes by name of the election
}

func (o *fakeOperator) end(t election.Target) engine.Outcome {
	if end, found := o.ends[t.Election]; found {
		return end
	}
	if o.outcome.Kind == "" {
		o.outcome.Kind = engine.OutcomeDone
	}
	return o.outcome
}

func (o *fakeOperator) Act(_ context.Context, kind election.ActionKind, d election.Destroy) engine.Outcome {
	if kind == election.ActionRelease {
		o.released = append(o.released, d.Target)
		o.d.called("release", o.d.nameOf(d.Target))
		return o.end(d.Target)
	}
	o.destroyed = append(o.destroyed, d)
	text := strings.TrimSpace(o.d.nameOf(d.Target) + " " + election.ShortID(d.Session) + " " + strings.Join(d.Keys, " "))
	if d.Incomplete {
		text += " incomplete"
	}
	if !d.Shown.IsZero() && !d.Shown.Equal(testNow()) {
		text += " shown " + d.Shown.Format(time.TimeOnly)
	}
	o.d.called("destroy", text)
	return o.end(d.Target)
}

// nameOf returns the election of a target, with its datacenter on a board of several.
func (d *driver) nameOf(t election.Target) string {
	if len(d.m.Datacenters) > 1 {
		return t.Datacenter + " " + t.Election
	}
	return t.Election
}

// called records a call of the backend.
func (d *driver) called(name, what string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[name] = append(d.calls[name], what)
}

// backend records its calls and calls its functions. A function that is nil finds nothing.
type backend struct {
	engine.Operator
	d          *driver
	onRights   func(context.Context, election.Target) (election.MissingRules, error)
	onHoldings func(context.Context, string, []string, func(int, int)) ([]election.Pair, bool, error)
	onSurvey   func(context.Context, string, []string) []election.Surroundings
	drainKind  string
	diagnosis  *fakeDiagnosis
	failure    error // of reports and the doctor
	cluster    shell.Cluster
}

// without ends the reads for which a test has no function, so that its commands are only those of its keys.
func (d *driver) without(b *backend) {
	if b.onRights == nil {
		d.m.rights.read = nil
	}
	if b.onSurvey == nil {
		d.m.log.Survey = nil
	}
}

// fake returns the backend of a test.
func fake(o *Options) *backend { return o.Backend.(*backend) }

func (b *backend) WatchChecks(datacenter string, nodes []string) {
	b.d.called("checks", strings.TrimSpace(datacenter+" "+strings.Join(nodes, " ")))
}

func (b *backend) Study(datacenter, key string) {
	b.d.called("study", strings.TrimSpace(strings.TrimPrefix(datacenter+" "+key, "dc1 ")))
}

func (b *backend) Cluster(datacenter string) shell.Cluster {
	c := b.cluster
	if len(b.d.m.Datacenters) <= 1 {
		datacenter = ""
	}
	c.Flags = append(slices.Clone(c.Flags), [2]string{"datacenter", datacenter})
	return c
}

func (b *backend) WatchSessions(on bool) { b.d.called("sessions", fmt.Sprint(on)) }

func (b *backend) SetPatterns(ps election.Patterns) {
	b.d.called("patterns", strings.Join(ps.Strings(), ", "))
}

func (b *backend) Rights(ctx context.Context, t election.Target) (r election.MissingRules, err error) {
	b.d.called("rights", t.Election)
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
	b.d.called("survey", strings.Join(keys, " "))
	return b.onSurvey(ctx, datacenter, keys)
}

func (b *backend) Diagnose(_ context.Context, s *election.Snapshot, e *election.Election) engine.Diagnosis {
	return b.diagnosis.of(s, e)
}

func (b *backend) Report(_ context.Context, of []scene.Subject, p history.Range) (file, summary string, err error) {
	b.d.called("report", fmt.Sprint(of, " since ", p.Since.Format(time.DateTime), " until ", p.Until.Format(time.TimeOnly)))
	return "electop-report-billing-20261120-1201.md", "The leader was lost.", b.failure
}

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
	warnings   chan string
	// calls holds the calls of the backend by name, and named the number of those that a script has named.
	mu    sync.Mutex
	calls map[string][]string
	named map[string]int
}

func drive(t testing.TB, snap *election.Snapshot, w, h int, change ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t}
	d.start(snap, w, h, change...)
	return d
}

// start starts the dashboard with a snapshot, if there is one.
func (d *driver) start(snap *election.Snapshot, w, h int, change ...func(*Options)) {
	d.warnings = make(chan string, 1)
	d.op, d.now, d.calls, d.named = &fakeOperator{d: d, ends: map[string]engine.Outcome{}}, testNow(), map[string][]string{}, map[string]int{}
	closed := make(chan *election.Snapshot)
	close(closed)
	opts := Options{
		Snapshots: closed, Warnings: d.warnings, Backend: &backend{Operator: d.op, d: d, diagnosis: diagnosisOf("")},
		Config: scene.Config{Address: "127.0.0.1:8500", Patterns: []string{"service/*/leader"}},
		Now:    func() time.Time { return d.now },
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
	d.resize(w, h)
	if snap != nil {
		d.send(snap)
	}
}

func (d *driver) send(msg tea.Msg) tea.Cmd {
	_, cmd := d.m.Update(msg)
	if d.m.first { // the dashboard sends it again
		_, again := d.m.Update(msg)
		cmd = tea.Batch(cmd, again)
	}
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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
			s = *uitest.Surroundings(live, key)
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
				cmd = d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
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

// commandsOf returns the commands in a tea.Sequence, whose type is private, or in a tea.BatchMsg.
func commandsOf(msg tea.Msg) (cmds []tea.Cmd) {
	if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice {
		for i := range v.Len() {
			cmds = append(cmds, v.Index(i).Interface().(tea.Cmd))
		}
	}
	return cmds
}

func (d *driver) selected() string {
	if e := d.m.board.Selected(); e != nil {
		return e.Name
	}
	return ""
}

func (d *driver) resize(w, h int) { d.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// nothingDone fails if any action was carried out.
func (d *driver) nothingDone(what string) {
	d.t.Helper()
	if len(d.op.released)+len(d.op.destroyed) > 0 {
		d.t.Fatalf("%s: released %v, destroyed %v, want no action", what, d.op.released, d.op.destroyed)
	}
}

// click clicks the first place where a text is drawn, from the line on.
func (d *driver) click(text string, from int) tea.Cmd {
	d.t.Helper()
	return d.send(clickAt(d.find(text, from)))
}

// find returns the cell where a text begins.
func (d *driver) find(text string, from int) (x, y int) {
	d.t.Helper()
	for y, line := range strings.Split(d.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found && y >= from {
			return kit.Width(before), y
		}
	}
	d.t.Fatalf("%q is not on the screen:\n%s", text, d.text())
	return 0, 0
}

// mark marks elections and removes all other marks.
func (d *driver) mark(names ...string) {
	was, filter, part := d.m.board.Cursor, d.m.board.Filter.Text, d.m.screen.table
	toBoard := func(msg tea.Msg) { d.m.send(d.m.board, msg) }
	toBoard(scene.Resized{Rect: kit.Rect{X: part.X, Y: part.Y, W: part.W, H: 1000}}) // every row is visible
	toBoard(scene.Filtered{})
	d.m.board.Unmark(func(string) bool { return true })
	for _, name := range names {
		toBoard(scene.GoTo{ID: keyOf(name)})
		toBoard(uitest.Press("space"))
	}
	toBoard(scene.Filtered{Text: filter})
	toBoard(scene.GoTo{ID: was})
	toBoard(scene.Resized{Rect: part})
	d.m.layOut(d.m.scene)
}

// run runs the reads among commands and the reads that they cause.
func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case kit.TaskMsg:
		d.run(d.send(msg))
	default:
		if reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
			d.called("copy", fmt.Sprint(msg))
		}
	}
}

// row returns the line of the table that shows an election.
func (d *driver) row(name string) string {
	for _, line := range strings.Split(d.text(), "\n") {
		if strings.Contains(line, d.m.scene.Sym.Led+" "+name) && !strings.Contains(line, "Detail") {
			return line
		}
	}
	return ""
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
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
	if cmd == nil {
		t.Fatal("the last key or message started nothing")
	}
	msg := cmd()
	if cmds := commandsOf(msg); len(cmds) > 0 {
		return firstOf(t, cmds[0])
	}
	return msg
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

// learn stores permissions, as a read of them does.
func (d *driver) learn(t election.Target, r election.MissingRules) {
	d.m.rights.known[holdOf(t)] = rightsEntry{r, d.now}
	d.send(tea.ResumeMsg{})
}

// denied returns permissions that lack the rules for an election.
func denied(key string) election.MissingRules {
	return election.MissingRules{
		election.ActionRelease: `key "` + key + `" { policy = "write" }`, election.ActionDestroy: `session "node-3" { policy = "write" }`,
	}
}
