//go:build unix

package holders

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// leaveOut skips a test whose software is missing. In CI it fails the test, because a skip would hide that.
func leaveOut(t *testing.T, missing, install string) {
	t.Helper()
	// `make test` installs missing software here. Because of this read, go test runs the test again after the
	// installation instead of using a cached skip.
	_ = os.Getenv("ELECTOP_LEFT_OUT")
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %s", missing, install)
	}
	t.Skipf("%s is missing: %s", missing, install)
}

// needsProgram skips the test without the program.
func needsProgram(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		leaveOut(t, name, install)
	}
	return path
}

// nodeModules is the folder with npm's consul package, which `make holders` installs.
func nodeModules(t *testing.T) string {
	t.Helper()
	needsProgram(t, "node", "apt-get install nodejs npm, then make holders")
	dir, err := filepath.Abs("../../bin/holders/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "consul", "package.json")); err != nil {
		leaveOut(t, "npm's consul package", "make holders")
	}
	return dir
}
