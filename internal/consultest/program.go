package consultest

import (
	"os"
	"os/exec"
	"testing"
)

// LeaveOut skips a test whose software is missing. In CI it fails the test, because a skip would hide
// that.
func LeaveOut(t testing.TB, missing, install string) {
	t.Helper()
	// `make test` puts here what is missing. Reading it makes go test run the test again,
	// instead of a cached skip, once the software is installed.
	_ = os.Getenv("ELECTOP_LEFT_OUT")
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %s", missing, install)
	}
	t.Skipf("%s is missing: %s", missing, install)
}

// Program returns the path of a program, and leaves the test out without it.
func Program(t testing.TB, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		LeaveOut(t, name, install)
	}
	return path
}
