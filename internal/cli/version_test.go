package cli

import (
	"strings"
	"testing"
)

func TestVersionHasCommitAndDate(t *testing.T) {
	w := onMemory(t)
	out := w.run("version").must(t, exitOK).out
	has(t, out, "electop "+version()+" (go", "\ncommit   ", "\ndate     ")
	first := w.run("--version").must(t, exitOK).out
	if !strings.HasPrefix(out, first) || strings.Count(first, "\n") != 1 {
		t.Errorf("--version prints %q, version %q", first, out)
	}
	w.run("-v").must(t, exitUsage)
}
