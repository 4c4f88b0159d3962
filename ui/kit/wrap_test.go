package kit_test

import (
	"strings"
	"testing"

	"electop/ui/kit"
)

func TestFlow(t *testing.T) {
	lines := kit.Flow([]kit.Span{{kit.Text, "one two"}, {kit.Quiet, " three fourfivesixseven"}}, 9)
	var got []string
	for _, l := range lines {
		text := ""
		for _, s := range l {
			text += s.Text
		}
		got = append(got, text)
	}
	if want := "one two|three|fourfives|ixseven"; strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
}

// Only a text of electop has a command that a user may paste.
func TestACommandIsOneLine(t *testing.T) {
	page := &kit.Page{Width: 40, Sym: kit.Unicode(), Unbroken: "consul kv "}
	const text = "Correct the flags: consul kv put -flags=3304740253564472344 web eA=="
	if page.Advice("Fix", text); !strings.Contains(page.Plain(), "\nconsul kv put -flags=3304740253564472344 web eA==\n") {
		t.Errorf("the command is broken:\n%s", page.Plain())
	}
	page.Lines = nil
	if page.Value("Value", text); strings.Contains(page.Plain(), "\nconsul kv put") {
		t.Errorf("a value looks like advice:\n%s", page.Plain())
	}
}
