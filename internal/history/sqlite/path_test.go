package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/history/sqlite"
)

func TestFilesThatCannotBeUsed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may write to a read-only folder, so the test uses a file instead")
	}
	runSQL := func(statement string) func(string) error {
		return func(path string) error {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.Exec(statement)
			}
			return errors.Join(err, db.Close())
		}
	}
	good := func(path string) error {
		w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{})
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return w.Run(ctx)
	}
	for name, tt := range map[string]struct {
		prepare func(path string) error
		want    error
		text    string
	}{
		"not SQLite": {func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600)
		},
			sqlite.ErrForeign, "not an electop history file"},
		"a small file":              {func(path string) error { return os.WriteFile(path, []byte("my notes\n"), 0o600) }, sqlite.ErrForeign, "not an electop history file"},
		"a file of another program": {runSQL("CREATE TABLE t (x)"), sqlite.ErrForeign, "not an electop history file"},
		"newer": {func(path string) error { return errors.Join(good(path), runSQL("PRAGMA user_version = 99")(path)) },
			sqlite.ErrVersion, "version 99"},
		"damaged": {func(path string) error {
			if err := good(path); err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			for i := 100; i < len(text); i++ {
				text[i] = 0x5a
			}
			return errors.Join(err, os.WriteFile(path, text, 0o600))
		}, sqlite.ErrCorrupt, "the file is damaged; move it away"},
		"a folder": {func(path string) error { return os.Mkdir(path, 0o700) }, sqlite.ErrForeign, "not an electop history file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "h.db")
			if err := tt.prepare(path); err != nil {
				t.Fatal(err)
			}
			_, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{})
			var e *sqlite.Error
			if !errors.As(err, &e) || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) ||
				strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("OpenWriter: %v", err)
			}
			if _, err := sqlite.OpenFile(t.Context(), path); err == nil {
				t.Error("OpenFile returned no error")
			}
		})
	}
}

func TestAReaderCreatesNoFile(t *testing.T) {
	path := newPath(t)
	if _, err := sqlite.OpenFile(t.Context(), path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The size of the file is limited, so that writes fail as on a full disk.
func TestAFullDiskIsReportedOnceAndTriedAgain(t *testing.T) {
	path := newPath(t)
	record(t, path, decade(t))
	var w *sqlite.Writer
	reports := make(chan error, 100)
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{OnError: func(err error) {
		reports <- err
		if st := w.Status(); err != nil && (st.Err == nil || st.Stored > 0 || st.Queued == 0) {
			t.Errorf("%+v", st)
		}
		if err := w.LimitPages(context.Background(), 1<<30); err != nil { // the disk has free space again
			t.Error(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.LimitPages(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	o := newObserver(t, start())
	for i := range uint64(1000) {
		o.read(pair([]string{"", "s1"}[i%2], 77, i, 100_000+i))
	}
	feed(w, o)
	if err := <-reports; err == nil || !strings.HasSuffix(err.Error(), "the disk is full") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if err := <-reports; err != nil {
		t.Errorf("after the disk has free space again, OnError got %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if st := w.Status(); st.Stored != uint64(len(o.events)) || st.Dropped != 0 || st.Err != nil {
		t.Errorf("%+v", st)
	}
}

// Several processes that create or open the file at the same time lock it, on a slow machine for longer than the busy
// timeout.
func TestAFileThatIsLockedAtFirstIsOpenedLater(t *testing.T) {
	path := newPath(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	reports := make(chan error, 100)
	w := sqlite.NewWriter(path, sqlite.WriterOptions{OnError: func(err error) { reports <- err }})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	o := incident(t)
	events := o.events
	feed(w, o)
	select {
	case err := <-reports:
		if err == nil || !strings.HasSuffix(err.Error(), "another process keeps the file locked") || w.Status().Err == nil {
			t.Errorf("%v, %+v", err, w.Status())
		}
	case err := <-done:
		t.Fatal("the writer ended early:", err)
	}
	if _, err := db.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-reports; err != nil {
		t.Errorf("after the lock was released, OnError got %v", err)
	}
	cancel()
	if err := <-done; err != nil || len(stored(t, path)) != len(events) {
		t.Errorf("%v; %d of %d events stored", err, len(stored(t, path)), len(events))
	}
}

// A copy of a history, for example in a backup, must be readable even if its folder is read-only.
func TestAFileInAReadOnlyFolderIsReadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	path := newPath(t)
	record(t, path, incident(t))
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Dir(path), 0o700)
	if len(stored(t, path)) == 0 {
		t.Error("no events")
	}
}

func TestEventsThatAFullDiskKeepsOutAreCountedInOneLine(t *testing.T) {
	path := newPath(t)
	record(t, path, decade(t))
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.LimitPages(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	o := newObserver(t, start())
	for i := range uint64(1000) {
		o.read(pair([]string{"", "s1"}[i%2], 77, i, 100_000+i))
	}
	feed(w, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := fmt.Sprintf("history %q: %d events not stored: the disk is full", path, len(o.events))
	if err := w.Run(ctx); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestDefaultPath(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	for cluster, want := range map[string]string{
		"dc1": "/state/electop/dc1.db", "https://consul.example/v1": "/state/electop/https:%2F%2Fconsul.example%2Fv1.db", "../../etc": "/state/electop/..%2F..%2Fetc.db",
	} {
		if got, err := sqlite.DefaultPath(cluster); err != nil || got != want {
			t.Errorf("%s: %s, %v", cluster, got, err)
		}
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/ana")
	if got, err := sqlite.DefaultPath("dc1"); err != nil || got != "/home/ana/.local/state/electop/dc1.db" {
		t.Error(got, err)
	}
}
