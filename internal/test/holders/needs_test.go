//go:build unix

package holders

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"electop/internal/consultest"
)

// nodeModules returns the folder with npm's packages, which `make holders` installs. The test needs this one.
func nodeModules(t *testing.T, needed string) string {
	t.Helper()
	consultest.Program(t, "node", "apt-get install nodejs npm, then make holders")
	dir, err := filepath.Abs("../../../bin/holders/node_modules")
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, needed, "package.json")); err != nil {
		consultest.LeaveOut(t, "npm's "+needed, "make holders")
	}
	return dir
}

const installPatroni = "apt-get install patroni postgresql python3-consul"

// needsPython skips the test if Debian's Python lacks a module.
func needsPython(t *testing.T, module string) {
	t.Helper()
	if err := exec.Command("/usr/bin/python3", "-c", "import "+module).Run(); err != nil {
		consultest.LeaveOut(t, "Python's module "+module, "apt-get install python3-"+module)
	}
}
