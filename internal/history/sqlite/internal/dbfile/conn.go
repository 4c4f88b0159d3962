package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// Conn is the connection of a writer. It caches prepared statements.
type Conn struct {
	path     string
	files    files
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// Connect opens or creates the file and connects to it.
func Connect(ctx context.Context, path string) (*Conn, error) {
	if err := prepareFile(path); err != nil {
		return nil, Wrap(path, err)
	}
	// Identify the file before opening it. If another file replaces the file in between, Moved detects the replacement.
	main, err := os.Stat(path)
	if err != nil {
		return nil, Wrap(path, err)
	}
	db, err := OpenForWriting(ctx, path)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil { // the first read creates the WAL, which identify must find
		_, err = conn.ExecContext(ctx, versionQuery)
	}
	if err != nil {
		db.Close() //nolint:gosec // the first error is the one to report
		return nil, Wrap(path, err)
	}
	return &Conn{path: path, files: identify(path, main), db: db, conn: conn, prepared: map[string]*sql.Stmt{}}, nil
}

// Close closes the connection.
func (c *Conn) Close() error {
	for _, stmt := range c.prepared {
		stmt.Close() //nolint:gosec // the connection closes with it
	}
	return errors.Join(c.conn.Close(), c.db.Close())
}

// Moved reports whether the path no longer refers to the file that this connection writes.
func (c *Conn) Moved() bool { return Moved(c.path, c.files[""]) }

// Abandon closes the connection to a file that was moved or deleted. It first writes the WAL into the file, so that a
// moved file is complete. It deletes only additional files that this connection opened, because other processes may
// already use a new file at the path.
func (c *Conn) Abandon(ctx context.Context) error {
	_, err := c.conn.ExecContext(ctx, "PRAGMA wal_checkpoint")
	err = errors.Join(err, c.Close())
	for suffix, info := range c.files {
		if suffix != "" && !Moved(c.path+suffix, info) {
			err = errors.Join(err, os.Remove(c.path+suffix))
		}
	}
	return Wrap(c.path, err)
}

// Transaction runs f in a transaction. If f fails, nothing is stored.
func (c *Conn) Transaction(ctx context.Context, f func(context.Context) error) error {
	if _, err := c.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return Wrap(c.path, err)
	}
	err := c.check(ctx)
	if err == nil {
		err = f(ctx)
	}
	if err == nil {
		_, err = c.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// After some errors SQLite has already rolled back, and this statement fails.
		c.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") //nolint:errcheck,gosec // see above
	}
	return Wrap(c.path, err)
}

// check fails if another process has changed the schema version of the file.
func (c *Conn) check(ctx context.Context) error {
	stmt, err := c.Statement(ctx, versionQuery)
	if err != nil {
		return err
	}
	_, err = readVersion(stmt.QueryRowContext(ctx), len(migrations()))
	return err
}

// Statement prepares a query, or returns the cached statement.
func (c *Conn) Statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := c.prepared[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := c.conn.PrepareContext(ctx, query)
	if err == nil {
		c.prepared[query] = stmt
	}
	return stmt, err
}

// Exec runs a statement.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := c.Statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// Pragma runs a statement that cannot run in a transaction.
func (c *Conn) Pragma(ctx context.Context, statement string) error {
	_, err := c.conn.ExecContext(ctx, statement)
	return Wrap(c.path, err)
}

// Row reads one row. found is false if there is no row.
func (c *Conn) Row(ctx context.Context, query string, args []any, into ...any) (found bool, err error) {
	stmt, err := c.Statement(ctx, query)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(ctx, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// files contains the database and the additional files of SQLite, by suffix.
type files map[string]fs.FileInfo

func identify(path string, main fs.FileInfo) files {
	all := files{"": main}
	for _, suffix := range []string{"-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err == nil {
			all[suffix] = info
		}
	}
	return all
}

// Moved reports whether the path no longer refers to file. It returns false if the folder cannot be read.
func Moved(path string, file fs.FileInfo) bool {
	now, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, file)
}
