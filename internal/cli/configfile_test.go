package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/consultest"
)

func TestWarningAboutAReadableConfigFileWithASecret(t *testing.T) {
	w := onMemory(t)
	const warning = "other users can read"
	for _, c := range []struct {
		name string
		text string
		mode os.FileMode
		args []string
		want int // number of warnings
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
			t.Setenv("XDG_CONFIG_HOME", dir) // shell completion reads the file in this folder
			path := filepath.Join(dir, "electop", "config.yaml")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil { // set the mode regardless of the umask
				t.Fatal(err)
			}
			r := w.run(c.args...)
			if got := strings.Count(r.errOut, warning); got != c.want || strings.Contains(r.out, warning) {
				t.Errorf("%d warnings, want %d: %s", got, c.want, r.errOut)
			}
			if strings.Contains(r.errOut, "secret") {
				t.Errorf("the warning contains the secret: %s", r.errOut)
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

func TestPrecedenceOfFlagsEnvironmentAndConfigFile(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const wrong = "11111111-2222-3333-4444-555555555555"
	good, bad := write("good", agent.Token()), write("bad", wrong)
	tests := []struct {
		name   string
		config string
		env    map[string]string
		args   []string
		code   int
	}{
		{"file alone", "token: " + agent.Token(), nil, nil, exitOK},
		{"config file alone, wrong token", "token-file: " + bad, nil, nil, exitDenied},
		{"environment overrides the file", "token: " + wrong, map[string]string{"CONSUL_HTTP_TOKEN": agent.Token()}, nil, exitOK},
		{"environment overrides a token file of the config file", "token-file: " + bad, map[string]string{"CONSUL_HTTP_TOKEN": agent.Token()}, nil, exitOK},
		{"token file of the environment overrides the file", "token: " + wrong, map[string]string{"CONSUL_HTTP_TOKEN_FILE": good}, nil, exitOK},
		{"a flag overrides both", "token-file: " + bad, map[string]string{"CONSUL_HTTP_TOKEN": wrong}, []string{"--token", agent.Token()}, exitOK},
		{"unknown setting", "tokn: x", nil, nil, exitUsage},
		{"list of patterns", "key: [a/*, b/*]\ntoken: " + agent.Token(), nil, nil, exitOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			args := append([]string{"list", "--config", write("config.yaml", tt.config)}, tt.args...)
			w.run(args...).must(t, tt.code)
		})
	}
	w.run("version", "--config", write("config.yaml", "tokn: x")).must(t, exitOK)
}

// Both --key and --preset select keys, so one on the command line replaces both settings of the file.
func TestPresetReplacesTheKeysOfTheFile(t *testing.T) {
	path := withoutConfig(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("key: [\"jobs/*\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("jobs/a", s, "job")
	w.acquire("vault/core/lock", s, "vault-1")
	for args, want := range map[string]bool{"": true, "--preset vault": false} {
		r := w.run(append([]string{"list", "--config", path}, strings.Fields(args)...)...).must(t, exitOK)
		if strings.Contains(r.out, "job") != want || strings.Contains(r.out, "vault-1") == want {
			t.Errorf("%q: %s", args, r.out)
		}
	}
}
