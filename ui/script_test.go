package ui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/internal/act"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
)

// script runs the lines of a script. testdata/script/README.md lists the commands.
type script struct {
	*driver
	t    *testing.T
	all  map[string][]string
	w, h int     // the window, if board names none
	cmd  tea.Cmd // of the last key, snapshot or result
	// next is the last command that is not nil, action carries out the last action, and keep has stored late.
	next, action, late tea.Cmd
	busy               bool
	before             string // the screen at same
}

// scripts returns the titles of the scripts in each file of testdata/script, and their lines. A line begins with its
// place.
func scripts(t testing.TB) (files map[string][]string, all map[string][]string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	files, all = map[string][]string{}, map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		title := ""
		for i, line := range strings.Split(string(text), "\n") {
			if next, begins := strings.CutPrefix(line, "== "); begins {
				if title = next; all[title] != nil {
					t.Fatalf("two scripts %s", title)
				}
				files[filepath.Base(path)] = append(files[filepath.Base(path)], title)
			} else if line != "" && !strings.HasPrefix(line, "#") {
				all[title] = append(all[title], fmt.Sprintf("%s:%d: %s", path, i+1, line))
			}
		}
	}
	return files, all
}

// play runs a script in a window and returns the driver of its last board.
func play(t *testing.T, all map[string][]string, title string, w, h int) *driver {
	t.Helper()
	x := &script{t: t, all: all, w: w, h: h}
	x.lines(title)
	x.noOtherWrites()
	return x.driver
}

func (x *script) lines(title string) {
	x.t.Helper()
	at := "like " + title
	defer func() {
		if x.t.Failed() {
			x.t.Log(at)
		}
	}()
	if len(x.all[title]) == 0 {
		x.t.Fatal("no script has this title")
	}
	for _, at = range x.all[title] {
		_, line, _ := strings.Cut(at, ": ")
		verb, rest, _ := strings.Cut(expand(line), " ")
		if x.run(verb, rest); x.t.Failed() {
			x.t.FailNow()
		}
	}
}

// expand replaces $N with the ID of session N, and \e with an escape character.
func expand(line string) string {
	return regexp.MustCompile(`\$\d+`).ReplaceAllStringFunc(strings.ReplaceAll(line, `\e`, "\x1b"), func(id string) string {
		n, _ := strconv.Atoi(id[1:])
		return sessionID(n)
	})
}

func TestScripts(t *testing.T) {
	files, all := scripts(t)
	for file, titles := range files {
		for _, title := range titles {
			if file != "screens.txt" {
				t.Run(title, func(t *testing.T) { play(t, all, title, 120, 36) })
			}
		}
	}
}

// run carries out a line that changes something. Other lines are checks.
func (x *script) run(verb, rest string) {
	x.t.Helper()
	words := strings.Fields(rest)
	switch verb {
	case "like": // begins as another script
		x.lines(rest)
	case "board":
		x.board(words)
	case "snapshot":
		x.cmd = x.send(snapshotOf(words...))
	case "press":
		x.press(words...)
	case "type":
		x.press("'" + rest)
	case ":":
		x.press(":", "'"+rest, "enter")
	case "/":
		x.press("/", "ctrl+u", "'"+rest, "enter")
	case "open":
		x.open(keyOf(rest))
	case "filter":
		x.filter(rest)
	case "mark":
		x.mark(words...)
	case "button": // beside Cancel
		_, y := x.find("[ Cancel ]", 1)
		x.started(x.click("  "+rest+"  ", y))
	case "click":
		x.click(rest, 1)
	case "wheel":
		for range 30 {
			x.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		}
	case "paste":
		x.send(tea.PasteMsg{Content: rest})
	case "size":
		x.resize(sizeOf(rest))
	case "later":
		x.wait(rest)
		x.cmd = x.send(tickMsg(x.now))
	case "clock": // no tick
		x.wait(rest)
	case "reply":
		o := x.m.overlay
		x.started(x.send(firstOf(x.t, x.next)))
		for o != nil && o == x.m.overlay && o.Task.Slow() {
			x.started(x.send(firstOf(x.t, x.next)))
		}
	case "perform":
		x.perform(x.action)
	case "keep": // a command whose result is late
		x.late = x.cmd
	case "kept":
		x.driver.run(x.late)
	case "same":
		x.before = x.text()
	case "read":
		x.driver.run(x.cmd)
	case "failure": // of reports and the doctor
		x.m.opts.Backend.(*backend).failure = errors.New(rest)
	case "history": // cannot be read, or can be read again
		var err error
		if rest != "" {
			err = errors.New(rest)
		}
		switch h := x.m.opts.History.(type) {
		case *uitest.Moments:
			h.Err = err
		case *uitest.Past:
			h.Err = err
		}
	case "notes":
		name, note, _ := strings.Cut(rest, " ")
		x.op.ends[name] = act.Outcome{Kind: act.OutcomeDone, Note: note}
	case "warning":
		x.warnings <- rest
		x.send(x.m.nextWarning())
	case "at":
		ax, ay := sizeOf(rest)
		x.send(clickAt(ax, ay))
	case "fails":
		name, kind, reason := fields3(rest)
		x.op.ends[name] = act.Outcome{Kind: act.OutcomeKind(kind), Reason: reason, New: election.Holder{Node: reason}} // if it moved
	case "rights":
		x.grant(words[0], words[1:]...)
	case "hasty":
		x.hasty = true
	case "settle":
		x.hasty = false
		x.settle()
	case "unanswered", "answered":
		x.unanswered = verb == "unanswered"
	case "unread":
		x.unread = rest
	default:
		x.check(verb, rest, words)
	}
}

func (x *script) check(verb, rest string, words []string) {
	x.t.Helper()
	parts := strings.Split(rest, " | ")
	equal := func(got any) {
		if fmt.Sprint(got) != rest {
			x.t.Errorf("%s is %v, want %s:\n%s", verb, got, rest, x.text())
		}
	}
	switch verb {
	case "see":
		x.wants(parts...)
		checkFrame(x.t, x.driver, x.m.w, x.m.h, verb)
	case "once":
		n := strings.Count(x.text(), rest)
		if n != 1 {
			x.t.Errorf("%d times %q in\n%s", n, rest, x.text())
		}
	case "unchanged":
		if x.text() != x.before {
			x.t.Errorf("the screen changed:\n%s", x.text())
		}
	case "last":
		name, want, _ := strings.Cut(rest, " ")
		if all := x.calls[name]; len(all) == 0 || all[len(all)-1] != want {
			x.t.Errorf("calls %s %q, want %s", name, all, want)
		}
	case "success":
		equal(map[bool]string{true: "yes", false: "no"}[x.m.note.role == kit.Led])
	case "mouse":
		equal(map[bool]string{true: "on", false: "off"}[x.m.View().MouseMode == tea.MouseModeCellMotion])
	case "not":
		x.lacks(parts...)
	case "selected":
		equal(x.selected())
	case "visible":
		var names []string
		for _, e := range x.m.board.Visible() {
			names = append(names, e.Name)
		}
		equal(strings.Join(names, " "))
	case "session": // under the cursor
		equal(x.m.sessions.Selected().ID)
	case "view":
		equal(x.m.view)
	case "marks":
		visible, hidden := x.m.list().State().Marks()
		equal(fmt.Sprint(visible, " ", hidden))
	case "row": // the line of an election
		x.inRow(words[0], strings.TrimSpace(strings.TrimPrefix(rest, words[0])))
	case "overlay":
		equal(map[bool]string{true: "open", false: "closed"}[x.m.overlay != nil])
	case "typed":
		equal(x.m.prompt.String())
	case "command": // whether the last key started something
		equal(map[bool]string{true: "some", false: "none"}[x.cmd != nil])
	case "quits":
		if x.cmd == nil || x.cmd() != tea.Quit() {
			x.t.Errorf("the last key does not quit:\n%s", x.text())
		}
	case "calls":
		name, want, _ := strings.Cut(rest, " ")
		x.named[name] = len(x.calls[name])
		if got := strings.Join(x.calls[name], " | "); got != want {
			x.t.Errorf("calls %s %s, want %s", name, got, want)
		}
	default:
		x.t.Fatalf("no command %s", verb)
	}
}

// noOtherWrites fails if a write has happened that no line has named.
func (x *script) noOtherWrites() {
	x.t.Helper()
	for _, write := range []string{"release", "destroy", "drain"} {
		if n := len(x.calls[write]); n > x.named[write] {
			x.t.Errorf("unexpected %s: %q", write, x.calls[write])
		}
	}
}

func (x *script) press(names ...string) {
	var all []string
	for _, name := range names { // name*3 is three presses
		key, times, _ := strings.Cut(name, "*")
		n, err := strconv.Atoi(times)
		if key == "" || err != nil {
			key, n = name, 1
		}
		if text, typed := strings.CutPrefix(name, "'"); typed { // each character may cause a read
			for _, r := range text {
				all = append(all, "'"+string(r))
			}
			continue
		}
		all = append(all, slices.Repeat([]string{key}, n)...)
	}
	for _, name := range all {
		x.busy = x.m.log.Running() != ""
		if x.started(x.keys(name)); x.m.opts.History != nil && !x.unanswered {
			x.driver.run(x.cmd)
		}
	}
}

// started stores the command of a key, a click or a result.
func (x *script) started(cmd tea.Cmd) {
	if x.cmd = cmd; cmd != nil {
		x.next = cmd
	}
	if !x.busy && x.m.log.Running() != "" {
		x.action, x.busy = cmd, true
	}
}

func (x *script) wait(text string) {
	d, err := time.ParseDuration(text)
	must(x.t, err)
	x.now = x.now.Add(d)
}

func (x *script) inRow(name, part string) {
	x.t.Helper()
	part, absent := strings.CutPrefix(part, "not ")
	if row := x.row(name); strings.Contains(row, part) == absent {
		x.t.Errorf("the row is %q", row)
	}
}

// grant stores the permissions for an election: denied or granted.
func (x *script) grant(name string, what ...string) {
	r := denied(keyOf(name))
	switch what[0] {
	case "denied":
	case "granted":
		r = nil
	default: // a rule
		r[election.ActionDestroy] = strings.Repeat(what[0]+" ", 30)
	}
	x.learn(x.m.live.Find(election.KeyID(keyOf(name))).Target(), r)
}

// board starts the dashboard with a snapshot, in a window, with options. See snapshotOf.
func (x *script) board(words []string) {
	if x.driver != nil {
		x.noOtherWrites()
	}
	var changes []func(*Options)
	var rest []string
	w, h := x.w, x.h
	d := &driver{t: x.t}
	for _, word := range words {
		if sw, sh := sizeOf(word); sw > 0 {
			w, h = sw, sh
		} else if change := optionOf(word); change != nil {
			changes = append(changes, change)
		} else {
			rest = append(rest, word)
		}
	}
	d.start(nil, w, h, changes...)
	x.driver, x.cmd = d, nil
	if len(rest) > 0 {
		if x.cmd = x.send(snapshotOf(rest...)); d.m.opts.History != nil {
			d.run(x.cmd)
		}
	}
}

func sizeOf(word string) (w, h int) {
	if n, _ := fmt.Sscanf(word, "%dx%d", &w, &h); n < 2 {
		return 0, 0
	}
	return w, h
}

func fields3(text string) (a, b, c string) {
	a, rest, _ := strings.Cut(text, " ")
	b, c, _ = strings.Cut(rest, " ")
	return a, b, c
}
