// Package dbfile opens the SQLite files of the history. It sets their permissions, creates and migrates their schema,
// and formats errors in one line.
package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Reasons why a file cannot be used.
var (
	ErrNewer   = errors.New("a newer version of electop wrote this file")
	ErrForeign = errors.New("not an electop history file")
	ErrCorrupt = errors.New("the file is damaged; move it away")
)

// Error is a one-line error that contains the file's path and the reason.
type Error struct {
	Path string
	Err  error
}

// Error returns the error with the path.
func (e *Error) Error() string { return "history " + strconv.Quote(e.Path) + ": " + reason(e.Err) }

// Reason returns the error without the path.
func (e *Error) Reason() string { return reason(e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// reason describes SQLite errors that a user can resolve.
func reason(err error) string {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		var p *os.PathError
		if errors.As(err, &p) {
			return p.Op + ": " + p.Err.Error()
		}
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return "the disk is full"
	case sqlite3.SQLITE_READONLY:
		return "the file or its folder is read-only"
	case sqlite3.SQLITE_CANTOPEN:
		return "cannot open the file; it and its folder must be readable and writable"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another process keeps the file locked"
	case sqlite3.SQLITE_IOERR:
		return "cannot read or write the disk: " + s.Error()
	}
	return strings.ReplaceAll(s.Error(), "\n", " ")
}

// Wrap adds the file's path to an error.
func Wrap(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var s *sqlite.Error
	if errors.As(err, &s) {
		switch s.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT:
			err = ErrCorrupt
		case sqlite3.SQLITE_NOTADB:
			err = ErrForeign
		}
	}
	if errors.Is(err, ErrCorrupt) {
		return &Error{Path: path, Err: ErrCorrupt}
	}
	return &Error{Path: path, Err: err}
}

// prepareFile creates the folder and the file. Only their owner has access. SQLite creates its additional files with
// the same permissions.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// busyTimeout is how long, in ms, a statement waits for another process that writes. It is several times longer than
// the longest batch and the longest step of retention.
const busyTimeout = 5000

func openDB(path string, mode url.Values, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"_txlock": {"immediate"}}
	maps.Copy(query, mode)
	for _, p := range append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout)}, pragmas...) {
		query.Add("_pragma", p)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: query.Encode()}
	return sql.Open("sqlite", file.String())
}

// OpenForWriting opens the file, and creates or migrates it if necessary. synchronous FULL ensures that a power
// failure does not lose stored data.
func OpenForWriting(ctx context.Context, path string) (*sql.DB, error) {
	if err := prepareFile(path); err != nil {
		return nil, Wrap(path, err)
	}
	db, err := openDB(path, url.Values{"mode": {"rw"}}, "synchronous(FULL)")
	if err != nil {
		return nil, Wrap(path, err)
	}
	db.SetMaxOpenConns(1)
	err = migrate(ctx, db, migrations())
	if err == nil {
		err = useWAL(ctx, db)
	}
	if err != nil {
		db.Close() //nolint:gosec // the first error is the one to report
		return nil, Wrap(path, err)
	}
	return db, nil
}

// walPause is the pause before useWAL tries again.
const walPause = 10 * time.Millisecond

// useWAL switches to WAL mode and retries: the switch fails if another process switches at the same time, and SQLite
// does not apply the busy timeout to the switch.
func useWAL(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout*time.Millisecond)
	defer cancel()
	var locked error
	for {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		switch {
		case Busy(err):
			locked = err
		case err != nil && locked != nil && ctx.Err() != nil: // the timeout ended the statement, but the lock was the cause
			return locked
		default:
			return err
		}
		pause := time.NewTimer(walPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// Busy reports whether an operation failed because another process keeps the file locked.
func Busy(err error) bool {
	var s *sqlite.Error
	return errors.As(err, &s) && s.Code()&0xff == sqlite3.SQLITE_BUSY
}

// OpenForReading opens an existing file. It migrates a file of an older version.
func OpenForReading(ctx context.Context, path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, Wrap(path, err)
	}
	newest := len(migrations())
	db, version, err := openReadOnly(ctx, path, newest)
	if err != nil || version == newest {
		return db, err
	}
	writable, err := OpenForWriting(ctx, path)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	if err := writable.Close(); err != nil {
		return nil, Wrap(path, err)
	}
	db, _, err = openReadOnly(ctx, path, newest)
	return db, err
}

func openReadOnly(ctx context.Context, path string, newest int) (*sql.DB, int, error) {
	db, version, err := openMode(ctx, path, url.Values{"mode": {"ro"}}, newest)
	var e *sqlite.Error
	if !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_CANTOPEN && e.Code()&0xff != sqlite3.SQLITE_READONLY {
		return db, version, Wrap(path, err)
	}
	// In WAL mode SQLite creates files next to the file that it reads. The mode immutable avoids this if the folder
	// is read-only and no process writes the file.
	if _, noWAL := os.Stat(path + "-wal"); errors.Is(noWAL, os.ErrNotExist) {
		if db, version, err := openMode(ctx, path, url.Values{"mode": {"ro"}, "immutable": {"1"}}, newest); err == nil {
			return db, version, nil
		}
	}
	return nil, 0, Wrap(path, err)
}

func openMode(ctx context.Context, path string, mode url.Values, newest int) (*sql.DB, int, error) {
	db, err := openDB(path, mode, "query_only(1)")
	if err != nil {
		return nil, 0, err
	}
	version, err := schemaVersion(ctx, db, newest)
	if err != nil {
		db.Close() //nolint:gosec // the first error is the one to report
		return nil, 0, err
	}
	return db, version, nil
}

// Transient reports whether an error, such as a full disk or missing permissions for the folder, may disappear without
// a change to the file.
func Transient(err error) bool {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		var p *os.PathError
		return errors.As(err, &p)
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
