package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/kit"
)

// changedSnapshot has an election that has just got another leader.
func changedSnapshot() *election.Snapshot {
	return takenOver(mixedSnapshot(), "service/billing/leader")
}

// themed returns the screens of all themes, with escape sequences, in testdata/theme-*.golden.
func themed() map[string]func(d *driver) {
	look := func(theme kit.Theme, dark bool, profile string) func(*driver) {
		return func(d *driver) {
			d.keys(":", "'theme "+string(theme), "enter")
			d.send(tea.ColorProfileMsg{})
			d.m.dark, d.m.profile = dark, profile
			d.m.restyle()
			d.now = d.now.Add(noteTime / 2)
			d.m.note = note{}
			d.send(tickMsg(d.now))
		}
	}
	return map[string]func(*driver){
		"dark": look(kit.ThemeDark, false, "TrueColor"), "light": look(kit.ThemeLight, true, "TrueColor"),
		"contrast-dark": look(kit.ThemeContrast, true, "TrueColor"), "contrast-light": look(kit.ThemeContrast, false, "TrueColor"),
		"terminal-dark": look(kit.ThemeTerminal, true, "TrueColor"), "terminal-light": look(kit.ThemeTerminal, false, "TrueColor"),
		"16": look(kit.ThemeAuto, true, "ANSI"), "none": look(kit.ThemeAuto, true, "Ascii"),
		"ascii": look(kit.ThemeAuto, true, "TrueColor"),
	}
}

func TestThemedScreens(t *testing.T) {
	plain := map[bool]string{}
	for name, look := range themed() {
		ascii := name == "ascii"
		d := drive(t, changedSnapshot(), 80, 24, func(o *Options) { o.ASCII = ascii })
		look(d)
		golden(t, "theme-"+name, strings.ReplaceAll(d.m.View().Content, "\x1b", "^[")+"\n")
		if plain[ascii] == "" {
			plain[ascii] = d.text()
		}
		if d.text() != plain[ascii] {
			t.Errorf("%s: the text differs from that of another theme", name)
		}
	}
}

func TestThemeCommand(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.Theme = "light" })
	light := d.m.View().Content
	d.keys(":", "'theme contrast", "enter")
	d.wants("Theme contrast.")
	contrast := d.m.View().Content
	d.keys(":", "'theme pink", "enter")
	d.wants("Unknown theme pink. Themes: auto, dark, light, contrast, terminal.")
	d.keys(":", "'theme", "enter")
	d.wants("Usage: :theme NAME. Themes: auto, dark, light, contrast, terminal.")
	if light == contrast {
		t.Error("the colours did not change")
	}
	d.send(tea.BackgroundColorMsg{}) // a forced theme ignores the background
	d.keys(":", "'theme light", "enter")
	d.m.note = note{}
	if got := d.m.View().Content; got != light {
		t.Error("the colours of light depend on the background")
	}
}

func TestColumnsOfTheSettings(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.Columns = []string{"leader", "election", "changes", "for"} })
	head := strings.Fields(strings.Split(d.text(), "\n")[1])
	if !slices.Equal(head, []string{"LEADER", "ELECTION", "▲", "CHANGES/h", "FOR"}) {
		t.Errorf("%q", head)
	}
	d.lacks("SESSION", "CHECKS")
	for _, width := range []int{40, 60, 80, 200} {
		for _, columns := range [][]string{{"lane"}, {"election"}, Columns()} {
			d := drive(t, mixedSnapshot(), width, 24, func(o *Options) { o.Columns = columns })
			d.wants("ELECTION", "billing")
			for i, line := range strings.Split(d.text(), "\n") {
				if kit.Width(line) != width {
					t.Errorf("%v at %d: line %d has %d cells", columns, width, i, kit.Width(line))
				}
			}
		}
	}
}

func TestKeysOfTheSettings(t *testing.T) {
	custom, err := ParseKeys(map[string][]string{
		"release": {"ctrl+r"}, "help": {"f1"}, "down": {"e"}, "up": {"i"}, "mark-all": {"I"}, "report": {"ctrl+e"}, "next-problem": {"ctrl+n"}, "results": {"U"},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, mixedSnapshot(), 200, 50, func(o *Options) { o.Keys = custom })
	d.open("service/auth/leader")
	d.wants("ctrl-r release", "e/i move", "f1 help")
	d.keys("r")
	if d.m.overlay != nil {
		t.Error("the default key still releases")
	}
	d.keys("ctrl+r")
	if d.m.overlay == nil {
		t.Fatal("the key of the settings does not release")
	}
	d.wants("esc cancel")
	d.keys("esc", "e")
	if d.m.board.Cursor() == "service/auth/leader" {
		t.Error("the key of the settings does not move")
	}
	d.keys("f1")
	d.wants("ctrl-r  release", "e       down", "i       up", "I       mark all shown rows", "U       actions and their results", "(ctrl-r) release")
	d.lacks("also arrow keys")
}

func TestContextIsShownAndSwitched(t *testing.T) {
	var switched []string
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		o.Context, o.Contexts = "production", []string{"production", "staging"}
		o.SwitchContext = func(name string) { switched = append(switched, name) }
	})
	if head := strings.Split(d.text(), "\n")[0]; !strings.Contains(head, " electop  production") {
		t.Errorf("%q", head)
	}
	for command, answer := range map[string]string{
		"ctx test":       "Unknown context test. The contexts are production, staging.",
		"ctx production": "The current context is production.",
	} {
		d.keys(":", "'"+command, "enter")
		d.wants(answer)
	}
	if len(switched) > 0 {
		t.Errorf("switched to %v", switched)
	}
	d.keys(":", "'ctx", "enter")
	d.wants("Connect to another cluster", "production  current", "staging")
	cmd := d.keys("down", "enter")
	if _, quits := firstOf(t, cmd).(tea.QuitMsg); !quits || !slices.Equal(switched, []string{"staging"}) {
		t.Errorf("%v, switched to %v", quits, switched)
	}
	d = drive(t, mixedSnapshot(), 120, 36)
	d.keys(":", "'ctx staging", "enter")
	d.wants("The config file defines no contexts.")
}

// An action in progress would be lost, so the first request only warns.
// A user whose default address is wrong sees the configured clusters.
func TestAnUnreachableAddressNamesTheContexts(t *testing.T) {
	lost := &election.Snapshot{At: testNow(), Connection: lostSnapshot().Connection}
	d := drive(t, lost, 120, 36, func(o *Options) { o.Contexts = []string{"production", "staging"} })
	d.wants("Cannot reach Consul", "The config file has the contexts production, staging: use :ctx or --context.")
}

func TestContextIsNotSwitchedDuringAnAction(t *testing.T) {
	var switched []string
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		o.Context, o.Contexts = "a", []string{"a", "b"}
		o.SwitchContext = func(name string) { switched = append(switched, name) }
	})
	d.open("service/auth/leader")
	d.keys("r", "y")
	d.keys(":", "'ctx b", "enter")
	if len(switched) > 0 {
		t.Fatalf("switched to %v", switched)
	}
	d.keys(":", "'ctx b", "enter")
	if len(switched) != 1 {
		t.Errorf("the second request switched to %v, want b", switched)
	}
}
