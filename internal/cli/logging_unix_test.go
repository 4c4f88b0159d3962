//go:build unix

package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The log file is a FIFO without a reader. The command reports that lines are missing.
func TestABlockedLogFileDelaysNothing(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	path := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, errOut := &untilWritten{text: "vacated", end: cancel}, &buffer{}
	w.unlockWhen(out, "elected", s)
	code := run(ctx, deps{stdin: strings.NewReader(""), stdout: out, stderr: errOut},
		[]string{"--http-addr", w.addr, "--log-file", path, "--log-level", "debug", "watch"})
	if code != exitOK || !strings.Contains(out.String(), "vacated") {
		t.Errorf("exit code %d, out %q", code, out.String())
	}
	has(t, errOut.String(), path+": ", " lines not written to the log: the file does not accept writes")

	stacks := filepath.Join(t.TempDir(), "state")
	t.Setenv("XDG_STATE_HOME", stacks)
	if kept, err := writeStacks(path, "panic: x"); err != nil || kept != filepath.Join(stacks, "electop", "crash.log") {
		t.Errorf("the stacks are in %q: %v", kept, err)
	}
	r, err := os.Open(path) // so that the goroutines that open it end
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if logged, err := io.ReadAll(r); err != nil || !strings.Contains(string(logged), "msg=elected") {
		t.Errorf("%q %v", logged, err)
	}
}

// untilWritten cancels a command after it has written a text.
type untilWritten struct {
	buffer
	text string
	end  func()
	seen func(text string) // after each write
}

func (u *untilWritten) Write(p []byte) (int, error) {
	n, err := u.buffer.Write(p)
	if u.seen != nil {
		u.seen(u.String())
	}
	if strings.Contains(u.String(), u.text) {
		u.end()
	}
	return n, err
}

// unlockWhen releases the election after a text was written.
func (w *testConsul) unlockWhen(out *untilWritten, text, session string) {
	done := false
	out.seen = func(all string) {
		if !done && strings.Contains(all, text) {
			done = true
			w.unlock("service/web/leader", session)
		}
	}
}
