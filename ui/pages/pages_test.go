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
	o := pages.Doctor(t.Context(), func(context.Context) ([]pages.Check, error) { return checks, failure })
	o.S = uitest.Scene(uitest.Mixed(), uitest.Now())
	cmd := o.Task.Start()
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

func TestHostileRowsOfTheDoctor(t *testing.T) {
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
	for _, k := range []keys.Map{ui.NewKeys(false, nil), ui.NewKeys(true, nil), ui.NewKeys(false, custom)} {
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
