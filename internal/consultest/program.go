package consultest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// LeaveOut skips a test whose software is not installed. In CI it fails the test, because a skip is easily overlooked.
func LeaveOut(t testing.TB, missing, install string) {
	t.Helper()
	// `make test` sets this variable to the missing software. Because LeaveOut reads the variable, go test does not
	// use a cached skip after the software has been installed.
	_ = os.Getenv("ELECTOP_LEFT_OUT")
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: %s", missing, install)
	}
	t.Skipf("%s is not installed: %s", missing, install)
}

// Program returns the path of a program. If the program is not installed, it calls [LeaveOut].
func Program(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		LeaveOut(t, name, install)
	}
	return path
}

// RunBuilt builds electop, sets the path of the program, and runs the tests of m. Most tests mainly wait for processes, so that
// many run in parallel. A flag on the command line takes precedence. With -short, it runs none.
func RunBuilt(m *testing.M, program *string) (code int) {
	if flag.Parse(); testing.Short() {
		return 0
	}
	dir, err := os.MkdirTemp("", "electop-built")
	if err == nil {
		defer os.RemoveAll(dir)
		*program = filepath.Join(dir, "electop")
		if out, failed := exec.Command("go", "build", "-o", *program, "electop").CombinedOutput(); failed != nil {
			err = fmt.Errorf("go build: %w: %s", failed, out)
		}
	}
	if err = errors.Join(err, flag.Set("test.parallel", "6")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return Wrap(m).Run()
}
