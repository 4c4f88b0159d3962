package sqlite

import (
	"context"
	_ "embed" // the statements
	"fmt"
)

const (
	// applicationID is "elct" in ASCII. It identifies the files of electop (PRAGMA application_id).
	applicationID = 0x656c6374
	// version is the version of the schema (PRAGMA user_version).
	version = 6
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

// exists reports whether the file has tables. It fails if this version of electop cannot use them. It reads one
// consistent state, even if another process creates the file at the same time.
func (r reading) exists(ctx context.Context) (bool, error) {
	var app, user, objects int
	err := r.each(ctx, []any{&app, &user, &objects}, func() {}, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`)
	switch {
	case err != nil || app == 0 && user == 0 && objects == 0:
		return false, err
	case app != applicationID:
		return true, ErrForeign
	case user != version:
		return true, fmt.Errorf("%w: the file has version %d, this electop supports version %d", ErrVersion, user, version)
	}
	return true, nil
}
