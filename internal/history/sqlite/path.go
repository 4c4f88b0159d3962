package sqlite

import "electop/internal/history/sqlite/internal/dbfile"

// Error is a one-line error that names the file and the reason.
type Error = dbfile.Error

// Reasons why a file cannot be used.
var (
	ErrNewer   = dbfile.ErrNewer
	ErrForeign = dbfile.ErrForeign
	ErrCorrupt = dbfile.ErrCorrupt
)

// DefaultPath returns the file for one cluster in the XDG state folder. cluster is the address of the agent, with the
// partition and the namespace if these are set.
func DefaultPath(cluster string) (string, error) { return dbfile.DefaultPath(cluster) }
