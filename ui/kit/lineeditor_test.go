package kit_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/ui/internal/uitest"
	"electop/ui/kit"
)

func TestInput(t *testing.T) {
	var in kit.Input
	for _, c := range []struct{ keys, want string }{
		{"h a l l o", "hallo"}, {"left left backspace", "halo"}, {"home x", "xhalo"}, {"ctrl+e y", "xhaloy"},
		{"ctrl+w", ""}, {"a space b space c ctrl+w", "a b "}, {"ctrl+a ctrl+k", ""}, {"a b left ctrl+u", "b"},
	} {
		for _, k := range strings.Fields(c.keys) {
			in.Press(uitest.Press(k))
		}
		if in.String() != c.want {
			t.Errorf("%s gives %q, want %q", c.keys, in.String(), c.want)
		}
	}
	in.Insert("x\ny\x1b[31m\r\n")
	if in.String() != "x y[31mb" {
		t.Errorf("pasted %q", in.String())
	}
	in.Insert(strings.Repeat("z", 2000))
	if len(in.Text) != kit.InputLimit {
		t.Errorf("%d runes", len(in.Text))
	}
	in.Press(tea.KeyPressMsg{Code: tea.KeyF1})
}
