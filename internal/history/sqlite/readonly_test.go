//go:build unix

package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A copy of a history, for example in a backup, must be readable even if its folder is read-only.
func TestAReadOnlyFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	path := newPath(t)
	record(t, path, incident(t))
	for folder := filepath.Dir(path); folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(path, 0o644), os.WriteFile(path+".test", program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path + ".test")
	cmd.Env = append(os.Environ(), readEnv+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}
