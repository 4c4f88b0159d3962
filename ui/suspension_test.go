package ui

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// recorder records the output of a program.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// awaitText waits until the output contains all words.
func awaitText(t *testing.T, done <-chan error, text func() string, words ...string) {
	t.Helper()
	look, late := time.NewTicker(5*time.Millisecond), time.NewTimer(time.Minute)
	defer look.Stop()
	defer late.Stop()
	for {
		missing := slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text(), word) })
		if !missing {
			return
		}
		select {
		case <-look.C:
		case err := <-done:
			t.Fatalf("the dashboard ended: %v", err)
		case <-late.C:
			t.Fatalf("not drawn: %q", text())
		}
	}
}

// Without a shell that can continue the process, ctrl-z explains why nothing happens.
func TestCtrlZNeedsAShell(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24)
	if cmd := d.keys("ctrl+z"); cmd != nil {
		t.Error("ctrl-z stops the process")
	}
	d.wants("no shell with job control")
	d = drive(t, mixedSnapshot(), 80, 24, func(o *Options) { o.CanSuspend = true })
	if _, stops := firstOf(t, d.keys("ctrl+z")).(tea.SuspendMsg); !stops {
		t.Error("ctrl-z does not stop the process")
	}
}
