package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestWriteIndentedEscapesControlCharacters(t *testing.T) {
	var b strings.Builder
	if err := writeIndented(&b, json.RawMessage("{\"a\":\"\u202e\"}")); err != nil || b.String() != "{\n  \"a\": \"\\u202e\"\n}\n" {
		t.Errorf("%v %q", err, b.String())
	}
}

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
