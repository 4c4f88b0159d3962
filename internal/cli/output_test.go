package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTableAlignsColumnsByCells(t *testing.T) {
	var b strings.Builder
	var aligned table
	for _, name := range []string{"plain", "世界", "e\u0301ve\u0301", "👍", ""} {
		aligned.row("", name, "middle", "last "+name)
	}
	must(t, aligned.write(&b))
	for line := range strings.Lines(b.String()) {
		before, _, _ := strings.Cut(line, "middle")
		if got, want := ansi.StringWidth(before), len("plain  "); got != want {
			t.Errorf("the second column begins after %d cells, want %d: %q", got, want, line)
		}
	}
}
