package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestTableAlignsColumnsByCells(t *testing.T) {
	var b strings.Builder
	aligned := newTable(&b)
	for _, name := range []string{"plain", "世界", "e\u0301ve\u0301", "👍", ""} {
		fmt.Fprintf(aligned, "%s\tmiddle\tlast %s\n", name, name)
	}
	must(t, aligned.Flush())
	for line := range strings.Lines(b.String()) {
		before, _, _ := strings.Cut(line, "middle")
		if got, want := ansi.StringWidth(before), len("plain  "); got != want {
			t.Errorf("the second column begins after %d cells, want %d: %q", got, want, line)
		}
	}
}
