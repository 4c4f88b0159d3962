//go:build unix

package holders

import (
	"os"
	"path/filepath"
	"testing"

	"electop/internal/consultest"
)

// nodeModules is the folder with npm's consul package, which `make holders` fills.
func nodeModules(t *testing.T) string {
	t.Helper()
	consultest.Program(t, "node", "apt-get install nodejs npm, then make holders")
	dir, err := filepath.Abs("../../bin/holders/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "consul", "package.json")); err != nil {
		consultest.LeaveOut(t, "npm's consul package", "make holders")
	}
	return dir
}
