package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRecordStoresWhatItObserves(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		file := historyFile(t)
		p := prefix(t)
		pattern, key := p+"/*/leader", p+"/web/leader"
		a, b := w.session(nil), w.session(nil)
		w.acquire(key, a, "a")
		recording := w.follow("record", "-k", pattern, "--history", file)
		events := func() string { return w.run("history", "--history", file).out }
		eventually(t, "initial state", func() bool {
			return strings.Contains(w.run("history", "--terms", "--history", file).out, "web")
		})
		w.unlock(key, a)
		w.acquire(key, b, "b")
		eventually(t, "explanation", func() bool { return strings.Contains(events(), "released") })
		recording.stop()
		want := "exit code 0: electop: recording " + pattern + " of dc1 at " + w.addr + " in " + file
		if got := recording.next(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		r := w.run("history", "web", "--terms", "--history", file).must(t, exitOK)
		has(t, r.out, "released")
		if n := strings.Count(r.out, "\n"); n != 3 {
			t.Errorf("%d lines, want 3:\n%s", n, r.out)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", err, info)
		}
	})
}

func TestRecordFailsAtOnceWithoutAHistory(t *testing.T) {
	w := led(t, 1)
	has(t, w.run("record", "--history", "off").must(t, exitUsage).errOut, "record writes the history")
	file := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(file, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.run("record", "--history", file).must(t, exitFailed)
	if want := "electop: history \"" + file + "\": not an electop history file\n"; r.errOut != want {
		t.Errorf("%q, want %q", r.errOut, want)
	}
	has(t, w.run("record", "web").must(t, exitUsage).errOut, "record accepts no arguments")
}

func TestRecordFailsAtOnceWithoutConsul(t *testing.T) {
	w := newTestConsul(t, "127.0.0.1:1")
	r := w.run("record", "--history", historyFile(t)).must(t, exitFailed)
	has(t, r.errOut, "connection refused")
}

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
