package sqlite

import "electop/internal/history/sqlite/internal/dbfile"

// Error is a one-line error that contains the file's path and the reason.
type Error = dbfile.Error

// Reasons why a file cannot be used.
var (
	ErrNewer   = dbfile.ErrNewer
	ErrForeign = dbfile.ErrForeign
	ErrCorrupt = dbfile.ErrCorrupt
)

// DefaultPath returns the path of the file for one cluster in the XDG state folder. cluster is the address of the
// agent, followed by the partition and the namespace if these are set.
func DefaultPath(cluster string) (string, error) { return dbfile.DefaultPath(cluster) }
