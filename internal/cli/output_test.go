package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestWriteArray(t *testing.T) {
	marshal := func(s string) ([]byte, error) { return json.Marshal(s) }
	for _, tt := range []struct {
		items []string
		want  string
	}{
		{nil, "[]\n"},
		{[]string{"a"}, "[\n\"a\"\n]\n"},
		{[]string{"a", "b"}, "[\n\"a\",\n\"b\"\n]\n"},
	} {
		var b strings.Builder
		if err := writeArray(&b, tt.items, marshal); err != nil || b.String() != tt.want {
			t.Errorf("%v %q, want %q", err, b.String(), tt.want)
		}
	}
}

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
	if err := aligned.Flush(); err != nil {
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
	aligned := newTable(&b)
	for _, name := range []string{"long", "a", "longest"} {
		fmt.Fprintf(aligned, "%s\tx\n", name)
		if err := aligned.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if want := "long  x\na     x\nlongest  x\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestWrap(t *testing.T) {
	key := "service/" + strings.Repeat("x", 60)
	for _, tt := range []struct{ name, line, want string }{
		{"short", "  key       The key is unlocked.", "  key       The key is unlocked."},
		{"label", "  warning   make sure that it has stopped, then go on", "  warning   make sure that it has\n            stopped, then go on"},
		{"no label", "Release web (key service/web/leader) and more.", "Release web (key service/web/leader) and\n    more."},
		{"long word", "  deleted   " + key + " (not watched)", "  deleted   " + key + "\n            (not watched)"},
		{"wide runes", "  leader    選挙選挙選挙選 挙選挙選挙選挙", "  leader    選挙選挙選挙選\n            挙選挙選挙選挙"},
	} {
		if got := wrap(tt.line, 40); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
