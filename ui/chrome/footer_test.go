package chrome_test

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/x/ansi"

	"electop/ui/chrome"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
)

// The last two keys, help and quit, are in each footer with room for them. A long note is above the keys.
func TestFooterKeepsTheLastKeys(t *testing.T) {
	var all []key.Binding
	for _, name := range []string{"r release", "x destroy", "? help", "q quit"} {
		k, about, _ := strings.Cut(name, " ")
		all = append(all, key.NewBinding(key.WithKeys(k), key.WithHelp(k, about)))
	}
	for _, c := range []struct {
		keys, width int
		note, want  string
	}{
		{0, 40, "", ""}, {1, 40, "", "q quit"}, {2, 40, "", "? help  q quit"}, {4, 60, "", "r release  x destroy  ? help  q quit"},
		{4, 30, "", "r release  ? help  q quit"}, {4, 16, "", "? help  q quit"}, {4, 24, "12 characters", "12 characters ? help  q quit"},
		{4, 12, "two lines of text", "two lines of text ? help"},
	} {
		note := kit.Text.Spans(c.note)[:min(1, len(c.note))]
		lines := chrome.Footer(uitest.Painter(), note, nil, all[len(all)-c.keys:], c.width)
		var text []string
		for _, line := range lines {
			if kit.Width(line) != c.width {
				t.Errorf("%q, want %+v", line, c)
			}
			text = append(text, strings.TrimSpace(ansi.Strip(line)))
		}
		if got := strings.Join(text, " "); got != c.want {
			t.Errorf("%q, want %+v", got, c)
		}
	}
}
