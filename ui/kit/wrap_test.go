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
