package shell_test

import (
	"os/exec"
	"strings"
	"testing"

	"electop/ui/shell"
)

// printed returns what a shell passes to printf as the only argument.
func printed(t *testing.T, word string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+word).Output()
	if err != nil {
		t.Fatalf("%q: %v", word, err)
	}
	return string(out)
}

func TestQuotedTextIsOneWord(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"service/web/leader", "service/web/leader"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", `'it'\''s'`},
		{"'", `''\'''`},
		{"$(touch x)", "'$(touch x)'"},
		{"`id`", "'`id`'"},
		{"a\nb", "'a\nb'"},
		{"\x1b[2J\u202e", "'\x1b[2J\u202e'"},
		{"*", "'*'"},
		{"~", "'~'"},
		{"a;b&c|d>e<f#g!h\\i\"j", `'a;b&c|d>e<f#g!h\i"j'`},
		{"é", "'é'"},
		{"\xff", "'\xff'"},
	} {
		got := shell.Quote(c.text)
		if got != c.want {
			t.Errorf("%q is quoted as %s, want %s", c.text, got, c.want)
		}
		if back := printed(t, got); back != c.text {
			t.Errorf("%q is read as %q", c.text, back)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"a b", "'", `\`, "$x", "\n", "\x1b", "!"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") {
			t.Skip()
		}
		if back := printed(t, shell.Quote(text)); back != text {
			t.Errorf("%q is read as %q", text, back)
		}
	})
}
