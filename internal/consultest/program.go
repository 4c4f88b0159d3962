package consultest

import (
	"os"
	"os/exec"
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
