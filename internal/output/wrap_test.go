package output_test

import (
	"strings"
	"testing"

	"electop/internal/output"
)

func TestWrap(t *testing.T) {
	key := "service/" + strings.Repeat("x", 60)
	for _, tt := range []struct{ name, line, want string }{
		{"short", "  key       The key is unlocked.", "  key       The key is unlocked."},
		{"label", "  warning   make sure that it has stopped, then go on", "  warning   make sure that it has\n            stopped, then go on"},
		{"no label", "Release web (key service/web/leader) and more.", "Release web (key service/web/leader) and\n    more."},
		{"long word", "  deleted   " + key + " (not watched)", "  deleted   " + key + "\n            (not watched)"},
		{"wide runes", "  leader    選挙選挙選挙選 挙選挙選挙選挙", "  leader    選挙選挙選挙選\n            挙選挙選挙選挙"},
	} {
		if got := output.Wrap(tt.line, 40); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
