// Package sqlite stores events, terms, periods of observation and operators' actions in a SQLite file.
// docs/history.md documents the schema. A [Writer] never delays the goroutine that records events: if its queue is
// full, it drops events and counts them. A [File] reads. Several processes may read and write one file at the same
// time.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the statements
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"electop/internal/history"
)

// Reasons why a file cannot be used.
var (
	ErrVersion = errors.New("another version of electop wrote this file; move it away or select another file with --history")
	ErrForeign = errors.New("not an electop history file")
	ErrCorrupt = errors.New("the file is damaged; move it away")
	ErrMoved   = errors.New("the file was deleted, moved or replaced while electop was running; restart electop")
)

// Error is a one-line error that contains the file's path and the reason.
type Error struct {
	Path string
	Err  error
}

// Error returns the error with the path.
func (e *Error) Error() string { return "history " + strconv.Quote(e.Path) + ": " + e.Reason() }

func (e *Error) Unwrap() error { return e.Err }

// Reason returns the error without the path. It describes SQLite errors that a user can resolve.
func (e *Error) Reason() string {
	var p *os.PathError
	if errors.As(e.Err, &p) {
		return p.Op + ": " + p.Err.Error()
	}
	switch code(e.Err) {
	case sqlite3.SQLITE_FULL:
		return "the disk is full"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return "the file or its folder is read-only; electop must be able to write both"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another process keeps the file locked"
	}
	return strings.ReplaceAll(e.Err.Error(), "\n", " ")
}

// wrap adds the file's path to an error.
func wrap(path string, err error) error {
	var known *Error
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &known) {
		return err
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT:
		err = ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		err = ErrForeign
	}
	return &Error{path, err}
}

// code returns the primary result code of SQLite, or -1 for another error.
func code(err error) int {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return -1
	}
	return s.Code() & 0xff
}

// transient reports whether an error, such as a full disk or missing permissions for the folder, may disappear without
// a change to the file.
func transient(err error) bool {
	var p *os.PathError
	return errors.As(err, &p) || slices.Contains([]int{
		sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
	}, code(err))
}

// prepare creates the folder and the file if they do not exist, with access only for their owner. SQLite creates its
// additional files with the same permissions. An existing file keeps its permissions.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err
}

// busyTimeout is how long a statement waits for another process that writes. It is several times longer than the longest
// transaction of a writer.
const busyTimeout = 5 * time.Second

// openDB opens a file. It refuses what is not a regular file or, with one byte, a file that SQLite would overwrite.
// cache_size saves 4 MB of memory with 10,000 elections; the system caches the file. A page of 4 KB occupies 8 KB.
func openDB(path string, busy time.Duration, mode string, pragmas ...string) (*sql.DB, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() == 1) {
		err = ErrForeign
	}
	if err != nil {
		return nil, nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	query := url.Values{"mode": {mode}, "_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()), "cache_size(-100)"}, pragmas...)}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", file.String())
	return db, info, err
}

// conn is the connection of a writer. It caches prepared statements.
type conn struct {
	reading
	file     fs.FileInfo
	db       *sql.DB
	prepared map[string]*sql.Stmt
}

// connect opens the file for writing, and creates it if necessary. It fails if the file belongs to another cluster.
// synchronous FULL ensures that a power failure does not lose stored data. temp_store MEMORY saves a quarter of the CPU time of
// an event, whose triggers need a statement journal. With half the cache_size, an event costs a tenth more CPU time.
func connect(ctx context.Context, path string, busy time.Duration, cluster string, keep *time.Duration) (*conn, error) {
	err := prepare(path)
	c := &conn{prepared: map[string]*sql.Stmt{}}
	if err == nil {
		c.db, c.file, err = openDB(path, busy, "rw", "synchronous(FULL)")
	}
	if err != nil {
		return nil, wrap(path, err)
	}
	c.reading = reading{path, c.db}
	c.db.SetMaxOpenConns(1)
	err = c.transaction(ctx, func(ctx context.Context) error {
		err := c.supported(ctx)
		if errors.Is(err, fs.ErrNotExist) { // the transaction locks the file, so only one process creates the tables
			_, err = c.db.ExecContext(ctx, fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, version))
		}
		if err == nil {
			err = c.Belongs(ctx, cluster)
		}
		if err != nil {
			return err
		}
		// The settings of the file, and the types of events.
		_, err = c.db.ExecContext(ctx, "INSERT OR IGNORE INTO settings "+ofCluster+`, ?1 WHERE ?1 <> '';
			INSERT OR REPLACE INTO settings SELECT 'keep', ?2 WHERE ?2 IS NOT NULL;
			INSERT OR IGNORE INTO types (name) VALUES ('elected'), ('vacated'), ('updated'), ('overwritten'), ('deleted'), ('missed'), ('explained'),
				('unreadable'), ('readable'), ('entered'), ('left'), ('connection_lost'), ('connection_restored')`, cluster, keep)
		return err
	})
	if err == nil {
		_, err = c.db.ExecContext(ctx, "PRAGMA journal_mode = WAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -400; PRAGMA recursive_triggers = 1; "+derive)
	}
	if err != nil {
		return nil, errors.Join(wrap(path, err), c.db.Close())
	}
	return c, nil
}

// transaction runs f in a transaction. If f fails, nothing is stored.
func (c *conn) transaction(ctx context.Context, f func(context.Context) error) error {
	if now, err := os.Stat(c.path); errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, c.file) {
		return wrap(c.path, ErrMoved)
	}
	_, err := c.db.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		return wrap(c.path, err)
	}
	if err = f(ctx); err == nil {
		_, err = c.db.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// After some errors SQLite has already rolled back, and this statement fails.
		c.db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck,gosec // see above
	}
	return wrap(c.path, err)
}

// exec runs a statement.
func (c *conn) exec(ctx context.Context, query string, args ...any) (err error) {
	stmt := c.prepared[query]
	if stmt == nil {
		if stmt, err = c.db.PrepareContext(ctx, query); err != nil {
			return err
		}
		c.prepared[query] = stmt
	}
	_, err = stmt.ExecContext(ctx, args...)
	return err
}

// ofCluster selects the name of the setting that contains an identity; see [WriterOptions.Cluster].
const ofCluster = "SELECT 'cluster' || iif(instr(?1, '='), ' ' || substr(?1, 1, instr(?1, '=') - 1), '') AS own"

// Belongs returns [history.ErrCluster] if the file belongs to another cluster, or to one instead of several.
func (r reading) Belongs(ctx context.Context, cluster string) error {
	other, err := r.number(ctx, "SELECT count(*) FROM settings, ("+ofCluster+`)
		WHERE ?1 <> '' AND iif(name = own, value <> ?1, name LIKE 'cluster%' AND 'cluster' IN (name, own))`, cluster)
	if err == nil && other > 0 {
		err = history.ErrCluster
	}
	return err
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

const (
	// applicationID is "elct" in ASCII. It identifies the files of electop (PRAGMA application_id).
	applicationID = 0x656c6374
	// version is the version of the schema (PRAGMA user_version).
	version = 9
)

// schema is documented in docs/history.md. Times are nanoseconds since 1970 UTC, and durations are nanoseconds, so that a
// file contains exactly the observed values. NULL means "does not apply".
//
//go:embed schema.sql
var schema string

//go:embed derive.sql
var derive string

//go:embed reconcile.sql
var reconcile string

//go:embed trim.sql
var deleteOld string

// supported fails if this version of electop cannot use the file, with [fs.ErrNotExist] if it has no tables. It reads one
// consistent state, even if another process creates the file at the same time.
func (r reading) supported(ctx context.Context) error {
	var app, user, objects int
	err := r.each(ctx, []any{&app, &user, &objects}, func() {}, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`)
	switch {
	case err != nil:
		return err
	case app == 0 && user == 0 && objects == 0:
		return fs.ErrNotExist
	case app != applicationID:
		return ErrForeign
	case user != version:
		return fmt.Errorf("%w: the file has version %d, this electop supports version %d", ErrVersion, user, version)
	}
	return nil
}
