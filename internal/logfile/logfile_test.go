//go:build unix

package logfile_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/internal/logfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string) *logfile.File {
	t.Helper()
	f, err := logfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f *logfile.File, lines string) {
	t.Helper()
	if n, err := f.Write([]byte(lines)); n != len(lines) || err != nil {
		t.Fatal(n, err)
	}
}

// fifo creates a FIFO without a reader.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read opens the FIFO for reading, so that a writer can open the FIFO.
func read(t *testing.T, path string) *os.File {
	t.Helper()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestLinesAreAppendedInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	want := strings.Builder{}
	want.WriteString("before\n")
	for i := range 10_000 {
		line := fmt.Sprintf("line %d of elections that are logged together\n", i)
		write(t, f, line)
		want.WriteString(line)
	}
	await(t, path, want.Len())
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want.String() {
		t.Errorf("%d bytes, want %d: %v", len(got), want.Len(), err)
	}
}

// await waits until a file has a size, because Close waits only briefly for a slow disk.
func await(t *testing.T, path string, size int) {
	t.Helper()
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		info, err := os.Stat(path)
		if err == nil && info.Size() >= int64(size) {
			return
		}
		select {
		case <-again.C:
		case <-timeout.C:
			t.Fatalf("%s did not grow to %d bytes within 1 minute: %v", path, size, err)
		}
	}
}

func TestFileThatCannotBeOpenedIsAnError(t *testing.T) {
	if _, err := logfile.Open(filepath.Join(t.TempDir(), "no", "log")); err == nil {
		t.Error("Open returned no error for a folder that does not exist")
	}
}

func TestFIFOWithoutAReaderDoesNotBlock(t *testing.T) {
	path := fifo(t)
	f := open(t, path)
	write(t, f, "one\ntwo\n")
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "2 lines not written to the log") {
		t.Errorf("%v", err)
	}
	write(t, f, "three\n")
	r := read(t, path) // lets the goroutine end
	if got, err := io.ReadAll(r); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("%q %v", got, err)
	}
}

func TestDroppedLinesAreLoggedOnceTheFileAcceptsWrites(t *testing.T) {
	path := fifo(t)
	f := open(t, path)
	line := strings.Repeat("x", 1<<16-1) + "\n"
	const written = 100 // 6.4 MB, more than the queue holds
	for range written {
		write(t, f, line)
	}
	lines := bufio.NewReaderSize(read(t, path), len(line)+1)
	kept := 0
	for {
		got, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if got == line {
			kept++
			continue
		}
		if want := fmt.Sprintf("count=%d", written-kept); kept == 0 || kept == written ||
			!strings.Contains(got, "log lines dropped") || !strings.Contains(got, want) {
			t.Errorf("%d lines, then %q, want %s", kept, got, want)
		}
		break
	}
	write(t, f, "later\n")
	if got, err := lines.ReadString('\n'); got != "later\n" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// The pipe is full, because its reader no longer reads.
func TestReaderThatStopsDoesNotBlockClose(t *testing.T) {
	path := fifo(t)
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := open(t, path)
	for range 50_000 {
		write(t, f, "a line that does not fit into the pipe\n")
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "the file does not accept writes") {
		t.Errorf("%v", err)
	}
}

// The first reader closes the pipe, and another reader opens it.
func TestCloseReportsFailedWrites(t *testing.T) {
	path := fifo(t)
	first, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	write(t, f, "one\n")
	if got, err := bufio.NewReader(first).ReadString('\n'); got != "one\n" || err != nil {
		t.Fatalf("%q %v", got, err)
	}
	first.Close()
	write(t, f, "two\n")
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "1 line not written to the log: write ") {
		t.Errorf("%v", err)
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := strings.Repeat("a stack\n", 1<<20) // 8 MB
	if err := logfile.Append(path, text); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	blocked := fifo(t)
	if err := logfile.Append(blocked, "a stack\n"); err == nil {
		t.Error("Append returned no error for a FIFO without a reader")
	}
	_, _ = io.ReadAll(read(t, blocked))
}
