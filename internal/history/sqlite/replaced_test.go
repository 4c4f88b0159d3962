package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// The file of a running writer is deleted or moved. The next events must be in a new file, and a moved file must be
// complete.
func TestAFileThatIsDeletedOrMovedIsCreatedAgain(t *testing.T) {
	for name, remove := range map[string]func(path, archive string) error{
		"deleted": func(path, _ string) error { return os.Remove(path) },
		"deleted with its WAL": func(path, _ string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		},
		"its folder deleted": func(path, _ string) error { return os.RemoveAll(filepath.Dir(path)) },
		"moved":              os.Rename,
		"replaced": func(path, archive string) error {
			if err := os.Rename(path, archive); err != nil {
				return err
			}
			record(t, path+".new", incident(t).events[:1])
			return os.Rename(path+".new", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			archive := filepath.Join(filepath.Dir(filepath.Dir(path)), "archive.db")
			events := decade(t).events
			reopened := make(chan error, 100)
			w := startWriter(t, path, sqlite.WriterOptions{OnReopened: func(err error) { reopened <- err }})
			w.store(events[:10])
			if err := remove(path, archive); err != nil {
				t.Fatal(err)
			}
			w.store(events[10:20])
			if err := <-reopened; err != nil {
				t.Error(err)
			}
			later := events[20:]
			w.Record(later)
			w.stop()
			want := len(events) - 10
			if name == "replaced" { // the file that replaces the old one keeps its event
				want++
			}
			if n := len(stored(t, path)); n != want {
				t.Errorf("%d events in the new file, want %d", n, want)
			}
			if st := w.Status(); st.Stored != uint64(len(events)) || st.Dropped != 0 || st.Reopened.IsZero() || len(reopened) > 0 {
				t.Errorf("%+v", st)
			}
			if name == "moved" || name == "replaced" {
				if n := len(stored(t, archive)); n != 10 {
					t.Errorf("%d events in the moved file, want 10", n)
				}
				periods, err := open(t, archive).Observations(t.Context(), history.Range{})
				if err != nil || len(periods) != 1 || periods[0].Ending != "stopped" {
					t.Errorf("%v %+v", err, periods)
				}
			}
		})
	}
}

func TestAFileThatIsReplacedByAnotherKindEndsTheWriter(t *testing.T) {
	newer := func(path string) error {
		record(t, path, incident(t).events)
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec("PRAGMA user_version = 99")
		}
		return errors.Join(err, db.Close())
	}
	other := func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600)
	}
	for name, tt := range map[string]struct {
		replace func(path string) error
		want    string
	}{
		"not SQLite":  {func(path string) error { return errors.Join(other(path+".new"), os.Rename(path+".new", path)) }, "not an electop history file"},
		"newer":       {func(path string) error { return errors.Join(newer(path+".new"), os.Rename(path+".new", path)) }, "a newer version of electop wrote this file: the file has version 99, but this electop supports only versions up to 1"},
		"migrated":    {newer, "a newer version of electop wrote this file: the file has version 99, but this electop supports only versions up to 1"},
		"overwritten": {other, "the file is damaged; move it away"},
		"truncated":   {func(path string) error { return os.Truncate(path, 0) }, "the file is damaged; move it away"},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			w := startWriter(t, path, sqlite.WriterOptions{})
			events := decade(t).events
			w.store(events[:10])
			if err := tt.replace(path); err != nil {
				t.Fatal(err)
			}
			w.Record(events[10:])
			err := <-w.done
			w.cancel()
			if want := fmt.Sprintf("history %q: %s not stored: %s", path, election.Plural(uint64(len(events)-10), "event"), tt.want); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// Two processes write to a file that is then deleted. Each must open the new file, and must not remove the WAL of the
// other.
func TestTwoProcessesFollowAFileThatIsDeleted(t *testing.T) {
	path := newPath(t)
	events := decade(t).events
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(events[:10])
	other := startOther(t, path)
	other.store()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w.store(events[10:])
	other.store()
	other.store()
	w.stop()
	other.stop()
	f := open(t, path)
	actions, err := f.Actions(t.Context(), history.Range{})
	if n := len(stored(t, path)); err != nil || n != len(events)-10 || len(actions) != 2 {
		t.Errorf("%v: %d events, want %d; %d actions, want 2", err, n, len(events)-10, len(actions))
	}
}

// actEnv is the environment variable with the file of a helper process.
const actEnv = "ELECTOP_TEST_ACT"

// act stores an action for each line of its standard input, and prints a line after each.
func act(path string) int {
	w, err := sqlite.OpenWriter(context.Background(), path, sqlite.WriterOptions{
		OnStored: func([]election.Event) { fmt.Println("stored") }, //nolint:forbidigo // the test reads it
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			w.RecordAction(history.Action{Time: time.Now(), By: "ana@bastion", Kind: election.ActionRelease, Result: history.ResultDone})
			w.Record([]election.Event{sqlite.Observing("dc1", time.Now())})
		}
	}()
	if err := w.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// otherWriter is another process that writes to a file.
type otherWriter struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startOther(t *testing.T, path string) *otherWriter {
	t.Helper()
	o := &otherWriter{t: t, cmd: exec.Command(os.Args[0])}
	o.cmd.Env = append(os.Environ(), actEnv+"="+path)
	o.cmd.Stderr = os.Stderr
	in, err := o.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	o.in, o.lines = in, bufio.NewScanner(out)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return o
}

// store waits until the process has stored an action.
func (o *otherWriter) store() {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.in); err != nil || !o.lines.Scan() {
		o.t.Fatal("not stored", err)
	}
}

func (o *otherWriter) stop() {
	o.t.Helper()
	o.in.Close()
	if err := o.cmd.Wait(); err != nil {
		o.t.Error(err)
	}
}
