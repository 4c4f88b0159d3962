package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/ui/board"
	"electop/ui/kit"
)

// asciiScenes is the environment variable that makes the tests draw all scenes with ASCII characters.
const asciiScenes = "ELECTOP_TEST_ASCII"

// screens calls test with each script of screens.txt.
func screens(t *testing.T, test func(t *testing.T, name string, draw func(w, h int) *driver)) {
	files, all := scripts(t)
	for _, name := range files["screens.txt"] {
		t.Run(name, func(t *testing.T) {
			test(t, name, func(w, h int) *driver { return play(t, all, name, w, h) })
		})
	}
}

func sizes() [][2]int { return [][2]int{{40, 10}, {60, 16}, {80, 24}, {120, 36}, {160, 45}, {200, 50}} }

func TestScreens(t *testing.T) {
	screens(t, func(t *testing.T, name string, draw func(w, h int) *driver) {
		var b strings.Builder
		for _, s := range sizes() {
			d := draw(s[0], s[1])
			fmt.Fprintf(&b, "=== %dx%d\n%s\n", s[0], s[1], trimLines(d.text()))
			drawsOnce(t, d, s[0] == 120)
		}
		golden(t, name, b.String())
	})
}

// drawsOnce fails if the markers of areas change a cell or are in the frame, or if drawing changes the model.
func drawsOnce(t *testing.T, d *driver, compare bool) {
	t.Helper()
	state := func() string {
		if !compare { // takes long
			return ""
		}
		return fmt.Sprintf("%#v %#v %#v %#v %#v", *d.m, *d.m.board, *d.m.detail, *d.m.events, *d.m.sessions)
	}
	before, first := state(), d.m.View().Content
	if d.m.View().Content != first || state() != before {
		t.Error("drawing changed the model")
	}
	if strings.Contains(first, "\x1b_") {
		t.Error("the frame contains a marker")
	}
	plain := d.text()
	if d.m.painter.Areas = true; d.text() != plain {
		t.Error("the markers change the frame")
	}
}

// Text from Consul may contain what the terminal cannot draw: it becomes question marks of the
// same width.
func TestASCIIDrawsOnlyASCII(t *testing.T) {
	t.Setenv(asciiScenes, "1")
	screens(t, func(t *testing.T, _ string, draw func(w, h int) *driver) {
		for _, size := range [][2]int{{40, 10}, {120, 36}} {
			d := draw(size[0], size[1])
			for i, line := range strings.Split(d.text(), "\n") {
				if at := strings.IndexFunc(line, func(r rune) bool { return r > 0x7e }); at >= 0 || kit.Width(line) != size[0] {
					t.Errorf("%v: line %d is not ASCII, or has %d cells: %q", size, i, kit.Width(line), line)
				}
			}
			if title := d.m.View().WindowTitle; !strings.HasPrefix(title, "electop ") || strings.ContainsFunc(title, func(r rune) bool { return r > 0x7e }) {
				t.Errorf("the title is not ASCII: %q", title)
			}
		}
	})
}

// The screens of all themes, with escape sequences, are in testdata/theme-*.golden. Colours do not change the text.
func TestThemedScreens(t *testing.T) {
	_, all := scripts(t)
	plain := map[bool]string{}
	for name, c := range map[string]struct {
		theme   string
		dark    bool
		profile string
	}{
		"dark": {"dark", false, "TrueColor"}, "light": {"light", true, "TrueColor"},
		"contrast-dark": {"contrast", true, "TrueColor"}, "contrast-light": {"contrast", false, "TrueColor"},
		"terminal-dark": {"terminal", true, "TrueColor"}, "terminal-light": {"terminal", false, "TrueColor"},
		"16": {"auto", true, "ANSI"}, "none": {"auto", true, "Ascii"}, "ascii": {"auto", true, "TrueColor"},
	} {
		ascii := name == "ascii"
		d := drive(t, snapshotOf("mixed", "taken:billing"), 80, 24, func(o *Options) {
			if o.ASCII = ascii; c.dark { // by the settings or by a command
				o.Theme = c.theme
			}
		})
		if !c.dark {
			d.keys(":", "'theme "+c.theme, "enter")
		}
		d.send(tea.ColorProfileMsg{})
		d.send(tea.BackgroundColorMsg{}) // a forced theme ignores the background
		d.m.dark, d.m.profile = c.dark, c.profile
		d.m.restyle()
		d.now = d.now.Add(noteTime / 2)
		d.m.note = note{}
		d.send(tickMsg(d.now))
		golden(t, "theme-"+name, d.coloured())
		if plain[ascii] == "" {
			plain[ascii] = d.text()
		}
		if d.text() != plain[ascii] {
			t.Errorf("%s: the text differs from that of another theme", name)
		}
	}
	// Stale rows are grey. Without colours, the banner of the past is in reverse video.
	for name, profile := range map[string]string{"datacenters-lost": "TrueColor", "past": "Ascii"} {
		d := play(t, all, name, 80, 24)
		d.m.profile = profile
		d.m.restyle()
		golden(t, "theme-"+name, d.coloured())
	}
}

// coloured returns the frame with its escape sequences.
func (d *driver) coloured() string {
	return strings.ReplaceAll(d.m.View().Content, "\x1b", "^[") + "\n"
}

func TestColumnsOfTheSettings(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.Columns = []string{"leader", "election", "changes", "for"} })
	head := strings.Fields(strings.Split(d.text(), "\n")[1])
	if !slices.Equal(head, []string{"LEADER", "ELECTION", "▲", "CHANGES/h", "FOR"}) {
		t.Errorf("%q", head)
	}
	for _, width := range []int{40, 60, 80, 200} {
		for _, columns := range [][]string{{"lane"}, {"election"}, board.ColumnNames()} {
			d := drive(t, mixedSnapshot(), width, 24, func(o *Options) { o.Columns = columns })
			d.wants("ELECTION", "billing")
			checkFrame(t, d, width, 24, strings.Join(columns, ", "))
		}
	}
}

// Banners of many lost datacenters leave room for the table, and no frame has a line too many.
func TestBannersLeaveRoomForTheBoard(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 16}, {80, 19}, {80, 20}, {80, 24}, {120, 36}, {200, 50}} {
		for lost := range 11 {
			d := drive(t, snapshotOf(fmt.Sprint("eleven:", lost)), size[0], size[1], optionOf("eleven-names"), optionOf("demo"))
			for _, keys := range []string{"", "g", "enter", "esc 2", "3", "1 p", "/ 'dc:dc1 enter", "?", "esc g r", "esc x"} {
				d.keys(strings.Fields(keys)...)
				checkFrame(t, d, size[0], size[1], keys)
			}
			if d.keys("esc"); d.m.screen.table.H < 4 {
				t.Errorf("%v, %d lost: the table has %d lines", size, lost, d.m.screen.table.H)
			}
		}
	}
}
