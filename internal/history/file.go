package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Why a file cannot be used.
var (
	ErrNewer   = errors.New("a newer electop wrote this file")
	ErrForeign = errors.New("not a history of electop")
	ErrCorrupt = errors.New("the file is damaged")
)

// Error says in one line which file cannot be used, and why.
type Error struct {
	Path string
	Err  error
}

// Error gives the line.
func (e *Error) Error() string { return "history " + strconv.Quote(e.Path) + ": " + reason(e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// reason words the errors of SQLite that a user can do something about.
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

// wrap makes an error of SQLite one that names the file.
func wrap(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var s *sqlite.Error
	if errors.As(err, &s) {
		switch s.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w; move it away or restore it: %w", ErrCorrupt, err)
		case sqlite3.SQLITE_NOTADB:
			err = ErrForeign
		}
	}
	if errors.Is(err, ErrCorrupt) {
		return &Error{Path: path, Err: ErrCorrupt}
	}
	return &Error{Path: path, Err: err}
}

// DefaultPath is the file for one cluster under the XDG state folder. cluster is
// the address of the agent, and the partition and namespace if there are any.
func DefaultPath(cluster string) (string, error) {
	folder := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) { // the XDG specification: a relative one is ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(folder, "electop", url.PathEscape(cluster)+".db"), nil
}

// prepareFile makes the folder and the file with permissions for their owner
// only. SQLite gives its other files the permissions of this one.
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

// busyTimeout is how long, in ms, a statement waits for another process that
// writes: several times the longest batch and the longest step of retention.
const busyTimeout = 5000

func openDB(path, mode string, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"mode": {mode}, "_txlock": {"immediate"}}
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

// openForWriting opens the file, which is made or migrated as needed.
// synchronous FULL: what is acknowledged as stored survives a power failure.
func openForWriting(ctx context.Context, path string) (*sql.DB, error) {
	if err := prepareFile(path); err != nil {
		return nil, wrap(path, err)
	}
	db, err := openDB(path, "rw", "synchronous(FULL)")
	if err != nil {
		return nil, wrap(path, err)
	}
	db.SetMaxOpenConns(1)
	err = migrate(ctx, db, migrations())
	if err == nil {
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	}
	if err != nil {
		db.Close() //nolint:errcheck,gosec // the first error is the one to report
		return nil, wrap(path, err)
	}
	return db, nil
}
