package commands_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui"
	"electop/ui/commands"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// menu is a menu about one election. It records the commands and does not run them.
type menu struct {
	t   *testing.T
	m   commands.Model
	s   *scene.Scene
	ran []shell.Command
}

func open(t *testing.T, change func(*election.Election), templates ...commands.Template) *menu {
	t.Helper()
	x := &menu{t: t, s: uitest.Scene(uitest.Mixed(), uitest.Now())}
	x.m = commands.New(commands.Tools{
		Templates: templates, File: "/etc/electop.yaml",
		Command: func(c shell.Command) *exec.Cmd {
			x.ran = append(x.ran, c)
			return &exec.Cmd{}
		},
	}, ui.NewKeys(false, ui.Keys{}))
	x.change(change)
	x.send(commands.Open{Election: x.selected()})
	return x
}

func (x *menu) selected() *election.Election { return x.s.Shown.Find("service/billing/leader") }

// change replaces the selected election in a new snapshot.
func (x *menu) change(change func(*election.Election)) {
	snap := *x.s.Shown
	snap.Elections = slices.Clone(snap.Elections)
	for i, e := range snap.Elections {
		if e.Key() == "service/billing/leader" {
			other := *e
			change(&other)
			snap.Elections[i] = &other
		}
	}
	next := *x.s
	next.Shown, next.Live = &snap, &snap
	x.s = &next
}

func (x *menu) send(msg tea.Msg) (action scene.Action) {
	x.m, action = x.m.Update(msg, x.s)
	x.m, _ = x.m.Update(scene.Resized{Rect: kit.Rect{W: 80, H: 24}}, x.s)
	return action
}

// press presses keys and carries out the commands. It returns the notes.
func (x *menu) press(names ...string) (notes string) {
	for _, name := range names {
		notes += x.carryOut(x.send(uitest.Press(name)))
	}
	return notes
}

func (x *menu) carryOut(action scene.Action) (notes string) {
	switch a := action.(type) {
	case scene.All:
		for _, one := range a {
			notes += x.carryOut(one)
		}
	case scene.Run:
		return x.carryOut(x.send(a.Cmd()))
	case scene.Close:
		return "closed "
	case scene.Say:
		return a.Text
	}
	return notes
}

func (x *menu) screen() string {
	lines := slices.Repeat([]string{strings.Repeat(" ", 80)}, 24)
	x.m.View(uitest.Painter(), lines, 80)
	return ansi.Strip(strings.Join(lines, "\n"))
}

func (x *menu) shows(parts ...string) {
	x.t.Helper()
	for _, part := range parts {
		if !strings.Contains(x.screen(), part) {
			x.t.Errorf("%q is not on the screen:\n%s", part, x.screen())
		}
	}
}

func of(name, key, text string) commands.Template {
	return commands.Template{Name: name, Key: key, Command: shell.Template(text)}
}

func unchanged(*election.Election) {}

func TestEnterRunsTheVisibleCommand(t *testing.T) {
	x := open(t, unchanged, of("first", "", "echo $ELECTOP_KEY"), of("second", "j", "echo $ELECTOP_DATACENTER $ELECTOP_NODE"))
	x.shows("$ echo $ELECTOP_KEY", "ELECTOP_KEY=service/billing/leader")
	x.press("j") // the key of a command comes before the key that moves
	x.shows("ELECTOP_DATACENTER=dc1", "ELECTOP_NODE=node-3")
	if notes := x.press("enter"); notes != "closed " {
		t.Error(notes)
	}
	if len(x.ran) != 1 || x.ran[0].Script != "echo $ELECTOP_DATACENTER $ELECTOP_NODE" || !slices.Contains(x.ran[0].Env, "ELECTOP_NODE=node-3") {
		t.Errorf("%+v", x.ran)
	}
	if x.press("down", "up", "esc") != "closed " || x.press("q") != "closed " || x.press("ctrl+c") != "closed " || len(x.ran) != 1 {
		t.Errorf("%+v", x.ran)
	}
}

func TestEndsOfCommands(t *testing.T) {
	x := open(t, unchanged)
	for script, want := range map[string]string{
		"true": "The command a ended with exit code 0.", "exit 3": "The command a ended with exit code 3.",
		"kill -INT $$": "The command a was terminated by a signal: interrupt.",
	} {
		note, _ := x.send(commands.Ended{Name: "a", Err: exec.Command("sh", "-c", script).Run()}).(scene.Say)
		if note.Text != want || (note.Role == kit.Led) != (script == "true") {
			t.Errorf("%s: %+v, want %s", script, note, want)
		}
	}
	note, _ := x.send(commands.Ended{Name: "a", Err: exec.Command("/does/not/exist").Run()}).(scene.Say)
	if !strings.HasPrefix(note.Text, "The command a could not be started: ") {
		t.Errorf("%+v", note)
	}
}

func TestConfirmation(t *testing.T) {
	restart := of("restart", "", "echo $ELECTOP_NODE")
	restart.Confirm = true
	x := open(t, unchanged, restart)
	x.press("y", "enter", "enter", "enter", "esc", "enter", "n")
	if len(x.ran) != 0 {
		t.Fatalf("ran without y: %+v", x.ran)
	}
	x.press("enter")
	x.shows("run this command")
	if x.press("y"); len(x.ran) != 1 {
		t.Error("y does not run the command")
	}
}

// A command runs with the fields that the user saw, or not at all.
func TestChangedFieldsAreShownFirst(t *testing.T) {
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_LEADER"))
	x.change(func(e *election.Election) { e.Leader = "billing-9" })
	x.shows("ELECTOP_LEADER=billing-3")
	if notes := x.press("enter"); !strings.Contains(notes, "the fields changed") || len(x.ran) != 0 {
		t.Errorf("%q %+v", notes, x.ran)
	}
	x.shows("ELECTOP_LEADER=billing-9")
	if x.press("enter"); len(x.ran) != 1 || !slices.Contains(x.ran[0].Env, "ELECTOP_LEADER=billing-9") {
		t.Errorf("%+v", x.ran)
	}
}

// Only the fields of the command itself count: a holder may write its value every second.
func TestChangesOfUnusedFieldsDoNotBlock(t *testing.T) {
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_NODE"))
	x.change(func(e *election.Election) { e.Pair.Value = []byte("newer") })
	if notes := x.press("enter"); len(x.ran) != 1 {
		t.Errorf("%q %+v", notes, x.ran)
	}
}

// A paused screen does not change, but a command uses the current fields.
func TestPausedScreenRunsWithCurrentFields(t *testing.T) {
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_LEADER"))
	shown := x.s.Shown
	x.change(func(e *election.Election) { e.Leader = "billing-9" })
	x.s.Shown, x.s.Paused = shown, true
	if notes := x.press("enter"); !strings.Contains(notes, "the fields changed") || len(x.ran) != 0 {
		t.Errorf("%q %+v", notes, x.ran)
	}
	x.send(commands.Open{Election: x.selected()})
	x.shows("ELECTOP_LEADER=billing-9")
}

func TestSessionOfAPausedScreenIsCurrent(t *testing.T) {
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_NODE"))
	older, newer := uitest.Studied(""), uitest.Studied("")
	newer.SessionList.Sessions = slices.Clone(newer.SessionList.Sessions)
	moved := *newer.SessionList.Sessions[0]
	moved.Node = "node-9"
	newer.SessionList.Sessions[0] = &moved
	x.s.Shown, x.s.Live, x.s.Paused = older, newer, true
	x.send(commands.Open{Session: older.SessionList.Sessions[0]})
	x.shows("ELECTOP_NODE=node-9")
}

// The fields may be stale although other datacenters or other keys are current.
func TestOldFieldsHaveAWarning(t *testing.T) {
	const warning = "these fields may be stale"
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_NODE"))
	if strings.Contains(x.screen(), warning) {
		t.Errorf("the menu warns about current fields:\n%s", x.screen())
	}
	x.s.Live.Connection.Stale = []election.StalePart{{
		Part: election.Part{Kind: election.PartKeys, Range: election.PrefixRange("service/billing/")}, Since: uitest.Now(),
	}}
	x.send(commands.Open{Election: x.selected()})
	x.shows(warning)

	x.s = uitest.Scene(uitest.WithoutSecond(), uitest.Now())
	for _, e := range x.s.Live.Elections {
		x.send(commands.Open{Election: e})
		if old := strings.Contains(x.screen(), warning); old != (e.Datacenter == "dc2") {
			t.Errorf("%s of %s: warning %v, want one for dc2 only", e.Key(), e.Datacenter, old)
		}
	}
	x.s.Live.SessionList = &election.SessionList{Sessions: uitest.AllSessions(x.s.Live)}
	for _, ses := range x.s.Live.SessionList.Sessions {
		x.send(commands.Open{Session: ses})
		if old := strings.Contains(x.screen(), warning); old != (ses.Datacenter == "dc2") {
			t.Errorf("session %s of %s: warning %v, want one for dc2 only", ses.ID, ses.Datacenter, old)
		}
	}
}

// Values from Consul are sanitized before they are displayed. A command is refused if a value contains control or
// invisible characters, begins with "-", or is empty.
func TestHostileValues(t *testing.T) {
	for _, c := range []struct{ value, shown, note string }{
		{"$(touch x)", "'$(touch x)'", ""},
		{"'; touch x; '", `''\''; touch x; '\'''`, ""},
		{"a\n$ rm -rf /", "'a $ rm -rf /'", ""},
		{"\x1b]52;c;aGk=\x07", "This command cannot run: ELECTOP_VALUE contains control or invisible characters.", "ELECTOP_VALUE contains control"},
		{"a\u202eb", "control or invisible characters", "ELECTOP_VALUE contains control"},
		{"", "ELECTOP_VALUE is empty or unknown", "ELECTOP_VALUE is empty"},
	} {
		x := open(t, func(e *election.Election) { e.Pair.Value = []byte(c.value) }, of("a", "", "echo $ELECTOP_VALUE"))
		if text := strings.Join(strings.Fields(strings.ReplaceAll(x.screen(), "│", "")), " "); !strings.Contains(text, c.shown) {
			t.Errorf("%q is not shown:\n%s", c.shown, text)
		}
		notes := x.press("enter")
		if c.note != "" && (!strings.Contains(notes, c.note) || len(x.ran) > 0) || c.note == "" && (len(x.ran) != 1 || !slices.Contains(x.ran[0].Env, "ELECTOP_VALUE="+c.value)) {
			t.Errorf("%q: %q %+v", c.value, notes, x.ran)
		}
	}
}

// A long command leaves room for the list, and a long list for the command.
func TestEverythingFits(t *testing.T) {
	long := of("long", "", "echo $ELECTOP_KEY"+strings.Repeat("\necho $ELECTOP_KEY", 60))
	all := []commands.Template{long}
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		all = append(all, of("command-"+name, name, "echo "+name+" $ELECTOP_KEY"))
	}
	x := open(t, unchanged, all...)
	x.shows("long", "command-a", "more lines of this command", "[ Run ]")
	x.press("G")
	x.shows("command-z", "$ echo z $ELECTOP_KEY", "[ Run ]")
	for _, size := range [][2]int{{40, 10}, {60, 16}, {200, 50}} {
		x.m, _ = x.m.Update(scene.Resized{Rect: kit.Rect{W: size[0], H: size[1]}}, x.s)
		lines := slices.Repeat([]string{strings.Repeat(" ", size[0])}, size[1])
		x.m.View(uitest.Painter(), lines, size[0])
		if text := ansi.Strip(strings.Join(lines, "\n")); !strings.Contains(text, "command-z") || !strings.Contains(text, "[ Run ]") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}

func TestRefusals(t *testing.T) {
	x := open(t, unchanged, of("a", "", "echo $ELECTOP_KEY"))
	past := *x.s
	past.Past = &scene.Past{}
	if _, a := x.m.Update(commands.Open{Election: x.selected()}, &past); !strings.Contains(a.(scene.Say).Text, "This is the past: commands are disabled") {
		t.Errorf("%+v", a)
	}
	recorded := *x.selected()
	recorded.RecordedUntil = uitest.Now()
	if _, a := x.m.Update(commands.Open{Election: &recorded}, x.s); !strings.Contains(a.(scene.Say).Text, "this data is from the history") {
		t.Errorf("%+v", a)
	}
	x.change(func(e *election.Election) { e.Pair.Key = "service/billinh/leader" }) // the election is gone
	if notes := x.press("enter"); !strings.Contains(notes, "the fields changed") || len(x.ran) > 0 {
		t.Errorf("%q", notes)
	}
}

func TestExampleIsShownWithoutACommand(t *testing.T) {
	x := open(t, unchanged)
	x.shows("No command is configured", "/etc/electop.yaml", "- name: uptime", `command: ssh -- "$ELECTOP_NODE" uptime`, "[ Close ]")
	if x.press("enter") != "closed " {
		t.Error("enter does not close the menu")
	}
	x.m, _ = x.m.Update(scene.Resized{Rect: kit.Rect{W: 40, H: 10}}, x.s)
	x.m, _ = x.m.Update(uitest.Press("G"), x.s)
	lines := slices.Repeat([]string{strings.Repeat(" ", 40)}, 10)
	x.m.View(uitest.Painter(), lines, 40)
	if text := ansi.Strip(strings.Join(lines, "\n")); !strings.Contains(text, "describes them") && !strings.Contains(text, "them.") {
		t.Errorf("the end of the text is missing:\n%s", text)
	}
}
