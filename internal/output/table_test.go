package output_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/internal/output"
)

func TestTableAlignsColumnsByCells(t *testing.T) {
	var b strings.Builder
	table := output.NewTable(&b)
	for _, name := range []string{"plain", "世界", "e\u0301ve\u0301", "👍", ""} {
		fmt.Fprintf(table, "%s\tmiddle\tlast %s\n", name, name)
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		before, _, _ := strings.Cut(line, "middle")
		if got, want := ansi.StringWidth(before), len("plain  "); got != want {
			t.Errorf("the second column begins after %d cells, want %d: %q", got, want, line)
		}
	}
}

func TestTableKeepsItsColumnsInLaterParts(t *testing.T) {
	var b strings.Builder
	table := output.NewTable(&b)
	for _, name := range []string{"long", "a", "longest"} {
		fmt.Fprintf(table, "%s\tx\n", name)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "long  x\na     x\nlongest  x\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
