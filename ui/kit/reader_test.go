package kit_test

import (
	"slices"
	"testing"

	"electop/ui/kit"
)

func TestReaderRecordsVisibleLines(t *testing.T) {
	text := func(lines ...string) (all [][]kit.Span) {
		for _, l := range lines {
			all = append(all, []kit.Span{{kit.Text, l}})
		}
		return all
	}
	var r kit.Reader
	r.Show(text("a", "b", "c", "d", "e"), 10, 2)
	for _, c := range []struct {
		step int
		read bool
	}{{0, false}, {3, false}, {-3, false}, {2, false}, {1, true}, {-3, true}} {
		if r.Scroll(c.step); r.Read() != c.read {
			t.Errorf("step %d: read %v", c.step, r.Read())
		}
	}
	if r.Show(text("a", "b", "x", "d", "e"), 10, 2); r.Read() {
		t.Error("a changed line counts as seen")
	}
	r.Show(text("a", "b"), 10, 2)
	if !r.Read() || r.Position() != "" {
		t.Error("a text that fits does not count as read")
	}
	r.Show(text("a", "b", "c"), 10, 2)
	if r.Read() || !slices.Equal(r.Window()[1], text("b")[0]) {
		t.Error("a text that grew counts as seen")
	}
}
