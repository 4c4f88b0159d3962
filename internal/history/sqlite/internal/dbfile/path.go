package dbfile

import (
	"net/url"
	"os"
	"path/filepath"
)

// DefaultPath returns the path of the file for one cluster in the XDG state folder. cluster is the address of the
// agent, followed by the partition and the namespace if these are set.
func DefaultPath(cluster string) (string, error) {
	folder := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) { // the XDG specification ignores relative paths
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(folder, "electop", url.PathEscape(cluster)+".db"), nil
}
