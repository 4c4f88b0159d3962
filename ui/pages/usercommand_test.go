package pages_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
	"electop/ui/shell"
)

// menu is the menu of the commands for the election billing. It records the commands and does not run them.
type menu struct {
	t   *testing.T
	o   *scene.Overlay
	s   *scene.Scene
	ran []shell.Command
}

func openMenu(t *testing.T, s *scene.Scene, e *election.Election, session *election.Session, commands ...pages.Command) *menu {
	t.Helper()
	x := &menu{t: t, s: s}
	run := func(c shell.Command, _ string) *exec.Cmd {
		x.ran = append(x.ran, c)
		return &exec.Cmd{}
	}
	opened, ok := pages.Menu(pages.Commands{All: commands, Run: run}, e, session, s).(*scene.Overlay)
	if !ok {
		t.Fatal("the menu does not open")
	}
	x.o, opened.Keys = opened, ui.NewKeys(false, nil)
	return x
}

func (x *menu) text() string {
	x.o.S = x.s
	x.o.Fit(kit.Unicode(), 80, 24, uitest.Now())
	lines := slices.Repeat([]string{strings.Repeat(" ", 80)}, 24)
	x.o.View(uitest.Painter(), lines, 80)
	return strings.Join(strings.Fields(strings.ReplaceAll(ansi.Strip(strings.Join(lines, " ")), "│", "")), " ")
}

// press returns the note that the keys cause.
func (x *menu) press(names ...string) (note string) {
	for _, name := range names {
		x.text()
		if say, ok := x.o.Key(uitest.Press(name), uitest.Now()).(scene.Say); ok {
			note = say.Text
		}
	}
	return note
}

// billing returns a scene in which the election billing is changed.
func billing(change func(*election.Election)) (*scene.Scene, *election.Election) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	i := slices.IndexFunc(s.Live.Elections, func(e *election.Election) bool { return e.Name == "billing" })
	snap, e := *s.Live, *s.Live.Elections[i]
	change(&e)
	snap.Elections = slices.Clone(snap.Elections)
	snap.Elections[i] = &e
	s.Shown, s.Live = &snap, &snap
	return s, &e
}

// A command runs with the fields that the user saw, or not at all. Fields that it does not use may change.
func TestACommandRunsWithTheVisibleFields(t *testing.T) {
	s, e := billing(func(*election.Election) {})
	commands := []pages.Command{{Name: "first", Command: "echo $ELECTOP_KEY"}, {Name: "second", Key: "j", Command: "echo $ELECTOP_LEADER"}}
	x := openMenu(t, s, e, nil, commands...)
	if text := x.text(); !strings.Contains(text, "ELECTOP_KEY=service/billing/leader") {
		t.Error(text)
	}
	x.press("j") // the key of a command, not the key that moves down
	if text := x.text(); !strings.Contains(text, "ELECTOP_LEADER=billing-3") {
		t.Error(text)
	}
	paused := *s
	for _, moved := range []bool{false, true} {
		current, _ := billing(func(e *election.Election) {
			e.Pair.Value = []byte("newer")
			if moved {
				e.Leader = "billing-9"
			}
		})
		paused.Live, paused.Paused = current.Live, true // the board shows the earlier fields
		x.s = &paused
		note := x.press("enter")
		if moved != strings.Contains(note, "the fields changed") || len(x.ran) != 1 {
			t.Errorf("leader changed %v: %q, %d commands", moved, note, len(x.ran))
		}
	}
	if text := x.text(); !strings.Contains(text, "ELECTOP_LEADER=billing-9") {
		t.Error(text)
	}
	x.press("enter")
	gone, _ := billing(func(e *election.Election) { e.Pair.Key = "service/billinh/leader" })
	x.s = gone
	if note := x.press("enter"); !strings.Contains(note, "the fields changed or no longer exist") {
		t.Error(note)
	}
	if last := x.ran[len(x.ran)-1]; len(x.ran) != 2 || !slices.Contains(x.ran[0].Env, "ELECTOP_LEADER=billing-3") || !slices.Contains(last.Env, "ELECTOP_LEADER=billing-9") {
		t.Errorf("%+v", x.ran)
	}
}

// A value is shown as one safe argument. A dangerous value refuses the command.
func TestHostileValuesInTheMenu(t *testing.T) {
	for value, want := range map[string]string{
		"$(touch x)": "ELECTOP_VALUE='$(touch x)'", "a\n$ rm -rf /": "ELECTOP_VALUE='a $ rm -rf /'",
		"\x1b]52;c;aGk=\x07": "cannot run: ELECTOP_VALUE contains control or invisible characters", "a\u202eb": "contains control or invisible characters",
		"-rf": `begins with "-"`, "": "is empty or unknown",
	} {
		s, e := billing(func(e *election.Election) { e.Pair.Value = []byte(value) })
		x := openMenu(t, s, e, nil, pages.Command{Name: "a", Command: "echo $ELECTOP_VALUE"})
		text, note := x.text(), x.press("enter")
		refused := !strings.HasPrefix(want, "ELECTOP_VALUE")
		if !strings.Contains(text, want) || strings.ContainsAny(text, "\x1b\x07\u202e") || (len(x.ran) == 0) != refused || strings.Contains(note, "was not run") != refused {
			t.Errorf("%q: %q, %d commands:\n%s", value, note, len(x.ran), text)
		}
	}
}

// The fields may be stale although other datacenters or other keys are current.
func TestStaleFieldsHaveAWarning(t *testing.T) {
	echo := pages.Command{Name: "a", Command: "echo $ELECTOP_NODE"}
	check := func(s *scene.Scene, e *election.Election, session *election.Session, stale bool) {
		t.Helper()
		if text := openMenu(t, s, e, session, echo).text(); strings.Contains(text, "these fields may be stale") != stale {
			t.Errorf("warning %v, want %v:\n%s", !stale, stale, text)
		}
	}
	s := uitest.Scene(uitest.WithoutSecond(), uitest.Now())
	s.Live.SessionList = &election.SessionList{Sessions: uitest.AllSessions(s.Live)}
	for _, e := range s.Live.Elections {
		check(s, e, nil, e.Datacenter == "dc2")
	}
	for _, ses := range s.Live.SessionList.Sessions {
		check(s, nil, ses, ses.Datacenter == "dc2")
	}
}
