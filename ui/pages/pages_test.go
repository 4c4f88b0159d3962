package pages_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/ui"
	"electop/ui/internal/uitest"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/pages"
	"electop/ui/scene"
)

// draw lays an overlay out in a window and draws it.
func draw(t *testing.T, o *scene.Overlay, w, h int) string {
	t.Helper()
	if o.Update != nil {
		o.Update(uitest.Scene(uitest.Mixed(), uitest.Now()))
	}
	o.Fit(kit.Unicode(), w, h, uitest.Now())
	lines := slices.Repeat([]string{strings.Repeat(" ", w)}, h)
	o.View(uitest.Painter(), lines, w)
	for _, line := range lines {
		if kit.Width(line) != w {
			t.Errorf("%d cells, want %d: %q", kit.Width(line), w, line)
		}
	}
	return ansi.Strip(strings.Join(lines, "\n"))
}

// doctor returns the page of a check that has ended.
func doctor(t *testing.T, w, h int, checks []pages.Check, failure error) string {
	o, cmd := pages.Doctor(t.Context(), func(context.Context) ([]pages.Check, error) { return checks, failure }, ui.NewKeys(false, ui.Keys{}))
	for {
		msg, ok := cmd().(kit.TaskMsg)
		if !ok {
			t.Fatal("no result")
		}
		if cmd = msg.Apply(); cmd == nil {
			return draw(t, o, w, h)
		}
	}
}

func TestDoctorLayoutByWidth(t *testing.T) {
	short := []pages.Check{{Subject: "agent", Status: "ok", Detail: "Consul 1.22"}}
	long := append(slices.Clone(short), pages.Check{Subject: "keys", Status: "denied", Detail: strings.Repeat("word ", 20), Rule: `key "a" { policy = "read" }`})
	for _, c := range []struct {
		checks []pages.Check
		width  int
		table  bool
	}{{short, 60, false}, {long, 60, false}, {long, 80, false}, {long, 120, true}} {
		text := doctor(t, c.width, 30, c.checks, nil)
		if got := strings.Contains(text, "ok       Consul 1.22"); got != c.table {
			t.Errorf("%d columns, table %v:\n%s", c.width, got, text)
		}
		if strings.Contains(text, "…") || len(c.checks) > 1 && !strings.Contains(text, `missing rule: key "a" { policy = "read" }`) {
			t.Errorf("%d columns:\n%s", c.width, text)
		}
	}
	text := doctor(t, 60, 16, []pages.Check{{Subject: "a\x1b[2Jb", Status: "ok", Detail: "c\nd\u202e"}}, errors.New("no\x07 answer"))
	if strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "The check failed: no") || !strings.Contains(text, "c d") {
		t.Errorf("%q", text)
	}
}

// Every key and its whole description is on the page of the help, at each width, even with keys that have long names.
func TestNoTextOfTheHelpIsCut(t *testing.T) {
	custom, err := ui.ParseKeys(map[string][]string{"release": {"ctrl+alt+b"}, "mark": {"ctrl+alt+shift+f12"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []keys.Map{ui.NewKeys(false, ui.Keys{}), ui.NewKeys(true, ui.Keys{}), ui.NewKeys(false, custom)} {
		for tab, content := range k.Pages() {
			for w := 40; w <= 200; w += 20 {
				o := pages.Help(k, keys.Elections)
				o.Tab = tab
				text := draw(t, o, w, 300)
				if strings.Contains(text, "…") {
					t.Errorf("%s at %d is cut:\n%s", content.Title, w, text)
				}
				words := " " + strings.Join(strings.Fields(text), " ") + " "
				for _, g := range content.Groups {
					for _, k := range g.Keys {
						for _, word := range strings.Fields(k.Help().Key + " " + k.Help().Desc) {
							if !strings.Contains(words, " "+word+" ") {
								t.Errorf("%s at %d lacks %q of %q", content.Title, w, word, k.Help().Desc)
							}
						}
					}
				}
			}
		}
	}
}

func TestTabsTurnAndScroll(t *testing.T) {
	o := pages.Help(ui.NewKeys(false, ui.Keys{}), keys.Elections)
	press := func(names ...string) (text string) {
		for _, name := range names {
			o.Key(uitest.Press(name), uitest.Now())
			text = draw(t, o, 60, 20)
		}
		return text
	}
	first := draw(t, o, 60, 20)
	for _, c := range []struct{ keys, want string }{
		{"g", "more lines below"}, {"G", "advice:any"}, {"tab", "follow new events"}, {"left shift+tab", ":sort KEY [reverse]"},
	} {
		if text := press(strings.Fields(c.keys)...); !strings.Contains(text, c.want) {
			t.Errorf("%s does not show %q:\n%s", c.keys, c.want, text)
		}
	}
	if press("right") != first {
		t.Error("the first tab does not follow the last")
	}
	for _, name := range []string{"esc", "q", "?", "enter"} {
		if _, closes := o.Key(uitest.Press(name), uitest.Now()).(kit.Close); !closes {
			t.Errorf("%s does not close the help", name)
		}
	}
}
