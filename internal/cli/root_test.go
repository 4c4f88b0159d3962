package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDescriptionsFit80Columns(t *testing.T) {
	root := newRootCommand(deps{}, new(options))
	texts := map[string]string{"electop": root.Long}
	for _, cmd := range root.Commands() {
		if slices.Contains([]string{"release", "destroy", "show", "discover"}, cmd.Name()) {
			texts[cmd.Name()] = cmd.Long
		}
	}
	if len(texts) != 5 {
		t.Fatalf("%d descriptions", len(texts))
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}
