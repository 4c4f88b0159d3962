package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestColumnsAreAlignedByCells(t *testing.T) {
	var b strings.Builder
	c := newColumns(&b)
	for _, name := range []string{"plain", "世界", "e\u0301ve\u0301", "👍", ""} {
		fmt.Fprintf(c, "%s\tmiddle\tlast %s\n", name, name)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		before, _, _ := strings.Cut(line, "middle")
		if got := ansi.StringWidth(before); got != len("plain")+columnGap {
			t.Errorf("the second column begins after %d cells: %q", got, line)
		}
	}
}
