package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the statements
	"fmt"
)

const (
	// applicationID is "elct" in ASCII. It identifies the files of electop (PRAGMA application_id).
	applicationID = 0x656c6374
	// version is the version of the schema (PRAGMA user_version).
	version = 5
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

// create creates the tables, unless they exist. Its transaction locks the file, so only one process creates them.
func create(ctx context.Context, db *sql.DB) error {
	if exists, err := checkSchema(ctx, db); err != nil || exists {
		return err
	}
	if _, err := db.ExecContext(ctx, "PRAGMA auto_vacuum = INCREMENTAL"); err != nil { // SQLite requires this before the first table
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after Commit
	if exists, err := checkSchema(ctx, tx); err != nil || exists {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d", schema, applicationID, version)); err != nil {
		return err
	}
	return tx.Commit()
}

// checkSchema reports whether the file has tables. It fails if this version of electop cannot use them. It reads one
// consistent state, even if another process creates the file at the same time.
func checkSchema(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (exists bool, err error) {
	var app, user, objects int
	err = db.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&app, &user, &objects)
	switch {
	case err != nil:
		return false, err
	case app == 0 && user == 0 && objects == 0:
		return false, nil
	case app != applicationID:
		return true, ErrForeign
	case user != version:
		return true, fmt.Errorf("%w: the file has version %d, this electop supports version %d", ErrVersion, user, version)
	}
	return true, nil
}
