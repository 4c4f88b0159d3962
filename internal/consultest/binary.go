package consultest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BinaryEnv is the name of the environment variable that contains the path of the Consul binary.
const BinaryEnv = "ELECTOP_CONSUL"

// Binary returns the path of the Consul binary: $ELECTOP_CONSUL, else bin/consul in the module's root, else consul in
// PATH. With -short it skips the test. If it finds no binary, it fails the test.
func Binary(tb testing.TB) string {
	tb.Helper()
	SkipIfShort(tb)
	path, err := FindBinary(BinaryEnv, "consul")
	Must(tb, err)
	return path
}

// SkipIfShort skips a test that needs a real server.
func SkipIfShort(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("needs a real server; skipped with -short")
	}
}

// FindBinary returns the path of a server's binary: the value of an environment variable, else bin/NAME in the module's
// root, else NAME in PATH.
func FindBinary(env, name string) (string, error) {
	if path := os.Getenv(env); path != "" {
		if !isExecutable(path) {
			return "", fmt.Errorf("%s=%s is not an executable file; unset it and run `make %s`", env, path, name)
		}
		return path, nil
	}
	if root, err := moduleRoot(); err == nil {
		if path := filepath.Join(root, "bin", name); isExecutable(path) {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("no %s binary: run `make %[1]s`, or set %s", name, env)
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// moduleRoot returns the nearest folder that contains a go.mod file. It starts at the working folder, which is the
// folder of the tested package, and continues with the parent folders.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the working folder or its parent folders")
		}
		dir = parent
	}
}
