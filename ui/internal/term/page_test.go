package term_test

import (
	"strings"
	"testing"

	"electop/ui/internal/term"
)

func TestFlow(t *testing.T) {
	lines := term.Flow([]term.Span{{term.Text, "one two"}, {term.Quiet, " three fourfivesixseven"}}, 9)
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
