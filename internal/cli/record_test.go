package cli

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The writers of several datacenters report what happens to their file, each with the same line.
func TestRepeatedLinesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		warn := withoutRepeats(func(line string) { lines = append(lines, line) })
		warn("moved")
		warn("moved")
		warn("full")
		time.Sleep(repeatWithin) //nolint:forbidigo // in synctest
		warn("full")
		if want := []string{"moved", "full", "full"}; !slices.Equal(lines, want) {
			t.Errorf("%q, want %q", lines, want)
		}
	})
}
