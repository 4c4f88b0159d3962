package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

func TestFilesThatCannotBeUsed(t *testing.T) {
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(s), 0o755))
		}
	}
	statement := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) { inSQL(t, path, s) }
	}
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    error
		text    string
	}{
		"not SQLite":                {text(strings.Repeat("not a database ", 100)), sqlite.ErrForeign, "not an electop history file"},
		"a small file":              {text("my notes\n"), sqlite.ErrForeign, "not an electop history file"},
		"a file of one byte":        {text("1"), sqlite.ErrForeign, "not an electop history file"},
		"a program behind a link":   {func(t *testing.T, path string) { text("#!/bin/sh\n")(t, path+".sh"); link(t, path+".sh", path) }, sqlite.ErrForeign, "not an electop history file"},
		"a device":                  {func(t *testing.T, path string) { link(t, "/dev/null", path) }, sqlite.ErrForeign, "not an electop history file"},
		"a folder":                  {func(t *testing.T, path string) { link(t, t.TempDir(), path) }, sqlite.ErrForeign, "not an electop history file"},
		"a file of another program": {statement("CREATE TABLE t (x)"), sqlite.ErrForeign, "not an electop history file"},
		"another version": {func(t *testing.T, path string) {
			record(t, path, incident(t))
			statement("PRAGMA user_version = 99")(t, path)
		},
			sqlite.ErrVersion, "version 99"},
		"damaged": {func(t *testing.T, path string) {
			record(t, path, incident(t))
			all, err := os.ReadFile(path)
			must(t, err)
			text(string(all[:100])+strings.Repeat("Z", len(all)-100))(t, path)
		}, sqlite.ErrCorrupt, "the file is damaged; move it away"},
	} {
		path := filepath.Join(t.TempDir(), "h.db")
		tt.prepare(t, path)
		before, err := os.Stat(path)
		must(t, err)
		err = sqlite.NewWriter(path, sqlite.WriterOptions{}).Open(t.Context())
		var e *sqlite.Error
		if !errors.As(err, &e) || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if err := sqlite.NewFile(path).Open(t.Context()); err == nil {
			t.Errorf("%s: a reader opened it", name)
		}
		if after, err := os.Stat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: mode %v, before %v, %v", name, after.Mode(), before.Mode(), err)
		}
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	must(t, os.Symlink(to, path))
}

// electop changes only the permissions of files that it creates. Neither a reader nor a writer without events creates one.
func TestFilesBelongToTheirOwnerOnly(t *testing.T) {
	path := newPath(t)
	err := sqlite.NewFile(path).Open(t.Context())
	if _, missing := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) || finish(t, sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour})) != nil || !errors.Is(missing, fs.ErrNotExist) {
		t.Error(err, missing)
	}
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(incident(t))
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	w.stop()
	must(t, os.Chmod(path, 0o660))
	record(t, path, incident(t))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Error(info.Mode(), err)
	}
}

// The size of the file is limited, so that writes fail as on a full disk.
func TestAFullDisk(t *testing.T) {
	path := newPath(t)
	record(t, path, decade(t))
	many := newObserver(t, start())
	for i := range uint64(1000) {
		many.read(pair([]string{"", "s1"}[i%2], 77, i, 100_000+i))
	}
	// The disk remains full until the process ends.
	w := sqlite.NewWriter(path, sqlite.WriterOptions{})
	must(t, w.Open(t.Context()))
	must(t, w.LimitPages(t.Context(), 1))
	steps := many.stream
	feed(w, many)
	want := fmt.Sprintf("history %q: %d events not stored: the disk is full", path, len(many.events))
	if err := finish(t, w); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// The disk has free space again after the first error.
	reports, full := make(chan error, 100), false
	w = sqlite.NewWriter(path, sqlite.WriterOptions{Delay: 1, OnChange: func(st sqlite.Status) {
		if full = full || st.Err != nil; !full { // the first events may fit into the last page
			return
		}
		if st.Err != nil && w.Status().Queued == 0 {
			t.Errorf("%+v", st)
		}
		reports <- errors.Join(st.Err, w.LimitPages(context.Background(), 1<<30))
	}})
	must(t, w.Open(t.Context()))
	must(t, w.LimitPages(t.Context(), 1))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	many.stream = steps
	feed(w, many)
	if err := <-reports; err == nil || !strings.HasSuffix(err.Error(), "the disk is full") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if err := <-reports; err != nil {
		t.Errorf("after the disk has free space again, OnChange got %v", err)
	}
	cancel()
	if err, st := <-done, w.Status(); err != nil || st.Stored != uint64(len(many.events)) || st.Dropped != 0 || st.Err != nil {
		t.Errorf("%v %+v", err, st)
	}
}

// Several processes that create or open the file at the same time lock it, on a slow machine for longer than the timeout.
func TestAFileThatIsLockedAtFirstIsOpenedLater(t *testing.T) {
	path := newPath(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", path)
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN EXCLUSIVE")
	must(t, err)
	reports := make(chan error, 100)
	w := sqlite.NewWriter(path, sqlite.WriterOptions{Delay: 1, Lease: 1e8, OnChange: func(st sqlite.Status) { reports <- st.Err }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	n := feed(w, incident(t))
	if err := <-reports; err == nil || !strings.HasSuffix(err.Error(), "another process keeps the file locked") || w.Status().Err == nil {
		t.Errorf("%v, %+v", err, w.Status())
	}
	_, err = db.Exec("ROLLBACK")
	must(t, err)
	if err := <-reports; err != nil {
		t.Errorf("after the lock was released, OnChange got %v", err)
	}
	cancel()
	if err := <-done; err != nil || len(stored(t, path)) != n {
		t.Errorf("%v; %d of %d events stored", err, len(stored(t, path)), n)
	}
}

func TestAMovedFileEndsTheWriter(t *testing.T) {
	path := newPath(t)
	w := startWriter(t, path, sqlite.WriterOptions{})
	w.store(incident(t))
	must(t, os.Rename(path, path+".old"))
	if err := <-w.done; !errors.Is(err, sqlite.ErrMoved) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("another file was created:", err)
	}
	if n := len(stored(t, path+".old")); n != 4 { // without its WAL
		t.Errorf("the moved file has %d events", n)
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("SQLite would apply %d bytes to a file that replaces the moved one", info.Size())
	}
}

// The race is repeated, because some writers must open the file while another one creates it.
func TestSeveralWritersCreateAFileTogether(t *testing.T) {
	const writers = 6
	for range 5 {
		path := newPath(t)
		var g errgroup.Group
		for range writers {
			g.Go(func() error {
				w := sqlite.NewWriter(path, sqlite.WriterOptions{Finish: time.Hour})
				w.RecordAction(history.Action{Time: start(), By: "ana@bastion", Kind: election.ActionRelease, Result: history.ResultDone})
				return finish(t, w)
			})
		}
		must(t, g.Wait())
		if n := len(actions(t, path)); n != writers {
			t.Fatalf("%d actions, want %d", n, writers)
		}
	}
}
