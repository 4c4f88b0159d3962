package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadableConfigFileWithASecretIsWarnedOf(t *testing.T) {
	w := onMemory(t)
	const warning = "other users can read"
	for _, c := range []struct {
		name string
		text string
		mode os.FileMode
		args []string
		want int // how many warnings
	}{
		{"readable by all", "token: secret", 0o644, []string{"list"}, 1},
		{"readable by the group", "token: secret", 0o640, []string{"list"}, 1},
		{"private", "token: secret", 0o600, []string{"list"}, 0},
		{"without a token", "stale: true", 0o644, []string{"list"}, 0},
		{"with a token file", "token-file: " + os.DevNull, 0o644, []string{"list"}, 0},
		{"a token that a flag overrides", "token: secret", 0o644, []string{"list", "--token", "x"}, 1},
		{"a password in the address", "http-addr: http://me:secret@127.0.0.1:1", 0o644, []string{"list"}, 1},
		{"version", "token: secret", 0o644, []string{"version"}, 0},
		{"completion", "token: secret", 0o644, []string{"completion", "bash"}, 0},
		{"completing", "token: secret", 0o644, []string{"__complete", "show", ""}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", dir) // where completion looks
			path := filepath.Join(dir, "electop", "config.yaml")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil { // whatever the umask is
				t.Fatal(err)
			}
			r := w.run(c.args...)
			if got := strings.Count(r.errOut, warning); got != c.want || strings.Contains(r.out, warning) {
				t.Errorf("%d warnings, want %d: %s", got, c.want, r.errOut)
			}
			if strings.Contains(r.errOut, "secret") {
				t.Errorf("the warning shows the secret: %s", r.errOut)
			}
		})
	}
}

func TestMalformedPatternInTheConfigFileIsAUsageError(t *testing.T) {
	w := onMemory(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("key: ['service/*/leader', '[a']"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list"}, {"watch"}, {"doctor"}, {}} {
		r := w.run(append(args, "--config", path)...).must(t, exitUsage)
		has(t, r.errOut, path, `key: pattern "[a": [ is not supported`)
	}
}
