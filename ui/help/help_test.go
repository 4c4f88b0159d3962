package help_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/ui/help"
	"electop/ui/internal/uitest"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

func commands() []help.Command {
	return []help.Command{{":q", "quit"}, {":sort KEY [reverse]", "sort the list"}, {":report [SINCE]", "write an incident report about the election or the listed events"}}
}

func open(w, h, page int, ascii bool) (help.Model, *scene.Scene) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	if ascii {
		s.Sym = kit.ASCII()
	}
	m := help.New(keys.Default(ascii), commands())
	m, _ = m.Update(help.Open{Page: page}, s)
	m, _ = m.Update(scene.Resized{Rect: kit.Rect{W: w, H: h}}, s)
	return m, s
}

func draw(m help.Model, w, h int) string {
	lines := make([]string, h)
	for i := range lines {
		lines[i] = strings.Repeat(" ", w)
	}
	m.View(uitest.Painter(), lines, w)
	return ansi.Strip(strings.Join(lines, "\n"))
}

// Every key and its whole description is on the page, at each width, even with keys that have long names.
func TestNoTextIsCut(t *testing.T) {
	custom, err := keys.Parse(map[string][]string{"release": {"ctrl+alt+b"}, "mark": {"ctrl+alt+shift+f12"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []keys.Map{keys.Default(false), keys.Default(true), keys.Default(false).With(custom)} {
		notCut(t, k)
	}
}

func notCut(t *testing.T, k keys.Map) {
	for page, content := range k.Pages() {
		for w := 40; w <= 200; w += 7 {
			m := help.New(k, commands())
			s := uitest.Scene(uitest.Mixed(), uitest.Now())
			m, _ = m.Update(help.Open{Page: page}, s)
			m, _ = m.Update(scene.Resized{Rect: kit.Rect{W: w, H: 300}}, s)
			text := draw(m, w, 300)
			if strings.Contains(text, "…") {
				t.Errorf("%s at %d is cut:\n%s", content.Title, w, text)
			}
			words := " " + strings.Join(strings.Fields(text), " ") + " "
			for _, g := range content.Groups {
				for _, k := range g.Keys {
					for _, word := range strings.Fields(k.Help().Key + " " + k.Help().Desc) {
						if !strings.Contains(words, " "+word+" ") {
							t.Errorf("%s at %d lacks %q of %q:\n%s", content.Title, w, word, k.Help().Desc, text)
						}
					}
				}
			}
			for line := range strings.SplitSeq(text, "\n") {
				if kit.Width(line) != w {
					t.Errorf("%d cells, want %d: %q", kit.Width(line), w, line)
				}
			}
		}
	}
}

func TestPagesTurnAndScroll(t *testing.T) {
	m, s := open(60, 16, 0, false)
	press := func(names ...string) (action scene.Action) {
		for _, name := range names {
			m, action = m.Update(uitest.Press(name), s)
			m, _ = m.Update(scene.Resized{Rect: kit.Rect{W: 60, H: 16}}, s)
		}
		return action
	}
	first := draw(m, 60, 16)
	if !strings.Contains(first, "more lines below") {
		t.Errorf("the page does not show how many lines follow:\n%s", first)
	}
	press("G")
	if last := draw(m, 60, 16); !strings.Contains(last, "advice:any") || strings.Contains(last, "below") {
		t.Errorf("the end:\n%s", last)
	}
	if press("tab"); !strings.Contains(draw(m, 60, 16), "follow new events") {
		t.Error("tab does not turn to the events")
	}
	for range len(keys.Default(false).Pages()) {
		press("tab")
	}
	if draw(m, 60, 16) != first {
		t.Error("the first page does not follow the last")
	}
	if press("shift+tab", "left", "right", "right"); draw(m, 60, 16) != first {
		t.Error("shift+tab, left and right do not turn back")
	}
	if press("shift+tab"); !strings.Contains(draw(m, 60, 16), ":sort KEY [reverse]") || !strings.Contains(draw(m, 60, 16), "sort the list") {
		t.Error("the last page lacks the commands")
	}
	if _, closes := press("x").(scene.Close); !closes {
		t.Error("x does not close the help")
	}
	if _, quits := press("ctrl+c").(scene.Quit); !quits {
		t.Error("ctrl-c does not quit")
	}
}
