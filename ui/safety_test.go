package ui

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/election/sanitize"
)

// checkFrame fails unless the frame has exactly the window's size and contains only text and SGR sequences.
func checkFrame(t *testing.T, d *driver, w, h int, what string) {
	t.Helper()
	content := d.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != h {
		t.Errorf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, l := range lines {
		// Bubble Tea counts by graphemes or by runes, as the terminal does.
		if g, r := ansi.StringWidth(l), ansi.StringWidthWc(l); g != w || r != w {
			t.Errorf("%s at %dx%d: line %d is %d wide by graphemes, %d by runes: %q", what, w, h, i, g, r, ansi.Strip(l))
			return
		}
	}
	checkOnlySGR(t, content, what)
}

// checkOnlySGR fails if the text contains control bytes other than line feeds and colours.
func checkOnlySGR(t *testing.T, content, what string) {
	t.Helper()
	if !utf8.ValidString(content) {
		t.Errorf("%s: not UTF-8", what)
	}
	for i := 0; i < len(content); {
		if content[i] == 0x1b {
			n := sgrLength(content[i:])
			if n == 0 {
				t.Errorf("%s: the screen contains an escape sequence: %q", what, content[i:min(len(content), i+20)])
				return
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(content[i:])
		if onLetter := "a" + string(r); r != '\n' && sanitize.Text(onLetter) != onLetter { // a combining mark is only safe after a letter
			t.Errorf("%s: %U got through", what, r)
			return
		}
		i += n
	}
}

// sgrLength returns the length of the SGR sequence at the start of s, or 0 if there is none.
func sgrLength(s string) int {
	rest, found := strings.CutPrefix(s, "\x1b[")
	if !found {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
	if n < 0 || rest[n] != 'm' {
		return 0
	}
	return n + 3
}

// states returns key sequences that open every mode of the screen.
func states() [][]string {
	return [][]string{
		{}, {"k"}, {"k", "tab"}, {"k", "shift+tab"}, {"enter"}, {"?"}, {"2"}, {"c"}, {"/", "'世\u0301 !x"}, {":", "'so"},
		{"g", "r"}, {"g", "x"}, {"g", "space", "space", "space", "space", "x"}, {"p"}, {"2", "/", "'zz", "enter"}, {"s"},
		{"tab"}, {"g", "tab"}, {"g", "j", "j"}, {"g", "j", "j", "tab"}, {"3"}, {"3", "enter"}, {"3", "s", "s", "S"}, {"3", "x"},
		{"3", "space", "space", "x", "f"}, {"3", "/", "'node:n !世"}, {"g", "x", "f", "j"},
		{"g", "space", "space", "space", "r", "j", "j", "j", "j", "pgdown", "pgdown", "y"}, {"3", "f"}, {"3", "f", "enter"},
		{"g", "space", "/", "'zz", "enter", "r", "space"}, {"g", "r", "j", "j", "j", "j", "pgdown", "pgdown", "y", "u"},
	}
}

func TestEveryWidthFits(t *testing.T) {
	snaps := map[string]*election.Snapshot{
		"hostile": hostileSnapshot(), "crowd": crowd(300), "lost": lostSnapshot(), "empty": emptySnapshot(true),
	}
	for name, snap := range snaps {
		for _, keys := range states() {
			d := drive(t, snap, 80, 24, searches)
			d.keys(keys...)
			what := fmt.Sprintf("%s after %v", name, keys)
			for w := 40; w <= 220; w += 3 {
				h := 10 + (w*7)%51
				d.send(tea.WindowSizeMsg{Width: w, Height: h})
				checkFrame(t, d, w, h, what)
			}
			for h := 10; h <= 60; h++ {
				w := 40 + (h*37)%181
				d.send(tea.WindowSizeMsg{Width: w, Height: h})
				checkFrame(t, d, w, h, what)
			}
			if t.Failed() {
				return
			}
		}
	}
}

func TestSmallWindows(t *testing.T) {
	for w := range 40 {
		for h := range 12 {
			d := drive(t, mixedSnapshot(), w, h)
			d.keys("j", "enter", "tab", "?", "esc", "r", "esc", "/", "esc", "2", "j")
			if w > 0 && h > 0 {
				checkFrame(t, d, w, h, "small")
			} else if d.text() != "" {
				t.Errorf("%dx%d draws %q", w, h, d.text())
			}
		}
	}
	drive(t, mixedSnapshot(), 39, 10).wants("electop needs 40x10")
}

func TestTitleIsSafe(t *testing.T) {
	d := drive(t, hostileSnapshot(), 80, 24, func(o *Options) { o.Address = "a\x1b]0;x\x07b" })
	if title := d.m.View().WindowTitle; title != sanitize.Text(title) || !strings.HasPrefix(title, "electop · ") {
		t.Errorf("title %q", title)
	}
}
