package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"electop/ui"
)

// twoContexts writes a config file with two contexts, each for another agent, and returns its path.
func twoContexts(t *testing.T, a, b, more string) string {
	t.Helper()
	path := withoutConfig(t)
	text := "http-addr: 127.0.0.1:1\ntoken: top\nkey: top/*\nread-only: true\n" + more + `
contexts:
  production:
    http-addr: ` + a + `
    key: [service/*/leader]
    datacenter: dc1
  test:
    http-addr: ` + b + `
    token: of-test
    preset: vault
    read-only: false
`
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runPlain executes a command line without the flag --http-addr.
func runPlain(t *testing.T, args ...string) result {
	t.Helper()
	var out, errOut buffer
	code := run(t.Context(), deps{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}, args)
	return result{code: code, out: out.String(), errOut: errOut.String()}
}

func TestContextSelectsACluster(t *testing.T) {
	a, b := onMemory(t), onMemory(t)
	a.acquire("service/web/leader", a.session(nil), "web-1")
	b.acquire("vault/core/lock", b.session(nil), "vault-1")
	twoContexts(t, a.addr, b.addr, "")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:2") // the context overrides this variable
	has(t, runPlain(t, "list", "--context", "production").must(t, exitOK).out, "web-1")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:2") // the first command has removed the variable
	has(t, runPlain(t, "list", "--context", "test").must(t, exitOK).out, "vault-1")
	t.Setenv(contextEnv, "production")
	has(t, runPlain(t, "list").must(t, exitOK).out, "web-1")
	has(t, runPlain(t, "list", "--context", "test").must(t, exitOK).out, "vault-1")
	has(t, runPlain(t, "list", "--http-addr", b.addr, "-k", "vault/core/lock").must(t, exitOK).out, "vault-1")
}

func TestUnknownContextIsAUsageError(t *testing.T) {
	twoContexts(t, "127.0.0.1:1", "127.0.0.1:1", "")
	has(t, runPlain(t, "list", "--context", "prod").must(t, exitUsage).errOut, `context "prod" is unknown; must be one of production, test`)
	withoutConfig(t)
	has(t, runPlain(t, "list", "--context", "prod").must(t, exitUsage).errOut, `context "prod" is unknown: the config file has no contexts`)
}

// resolved returns the options of a command line after the config file was applied.
func resolved(t *testing.T, args ...string) *options {
	t.Helper()
	o := &options{}
	cmd := &cobra.Command{Use: "electop", RunE: func(cmd *cobra.Command, _ []string) error { return applyConfig(cmd, o, noWarning) }}
	o.register(cmd.PersistentFlags())
	o.view.flags(cmd, "")
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	return o
}

// A token must not reach another cluster, neither at the start nor when the context changes.
func TestContextSharesNoSecretsWithOtherClusters(t *testing.T) {
	twoContexts(t, "a:1", "b:2", "history: https://recorder:9273")
	t.Setenv("CONSUL_HTTP_TOKEN", "of-the-environment")
	t.Setenv(historyTokenEnv, "of-the-recorder")
	o := resolved(t, "--context", "production", "--theme", "light", "--ca-file", "mine")
	if o.consul.Address != "a:1" || o.consul.Token != "" || o.history != "" || o.consul.CAFile != "mine" {
		t.Errorf("%+v", o)
	}
	if os.Getenv("CONSUL_HTTP_TOKEN") != "" || os.Getenv(historyTokenEnv) != "" {
		t.Error("the context did not remove a variable of another cluster")
	}
	next := o.inContext("test")
	if next.consul.Address != "b:2" || next.consul.Token != "of-test" || next.consul.CAFile != "" || next.consul.Datacenter != "" {
		t.Errorf("%+v", next.consul)
	}
	if next.context != "test" || next.theme != "light" || len(next.patterns) > 0 || !slices.Equal(next.presets, []string{"vault"}) {
		t.Errorf("%+v", next)
	}
	back := next.inContext("production")
	if back.consul.Address != "a:1" || back.consul.Token != "" || back.consul.CAFile != "" || !slices.Equal(back.patterns, []string{"service/*/leader"}) {
		t.Errorf("%+v", back)
	}
}

func TestReadOnlyOfTheCommandLineStaysInEveryContext(t *testing.T) {
	twoContexts(t, "a:1", "b:2", "")
	o := resolved(t, "--context", "production")
	if !o.readOnly { // set in the config file
		t.Error("the setting of the config file was not applied")
	}
	if o.inContext("test").readOnly {
		t.Error("the context does not override the file")
	}
	if !resolved(t, "--context", "production", "--read-only").inContext("test").readOnly {
		t.Error("a context overrides --read-only")
	}
}

func TestScreenSettings(t *testing.T) {
	twoContexts(t, "a:1", "b:2", "theme: high-contrast\ncolumns: [election, leader]\nkeys: {release: ctrl+r}\n")
	for _, o := range []*options{resolved(t), resolved(t, "--context", "test"), resolved(t, "--context", "test").inContext("production")} {
		s := o.screen()
		if s.theme != "contrast" || !slices.Equal(s.columns, []string{"election", "leader"}) || !slices.Equal(s.contexts, []string{"production", "test"}) {
			t.Errorf("%+v", s)
		}
		if s.context != o.context {
			t.Errorf("context %q, want %q", s.context, o.context)
		}
	}
	if got := resolved(t, "--theme", "high-contrast").screen().theme; got != "contrast" {
		t.Errorf("high-contrast is the theme %q", got)
	}
	if got := resolved(t, "--theme", "dark").screen().theme; got != "dark" {
		t.Errorf("theme %q: the flag does not override the file", got)
	}
}

func TestWarningAboutATokenInAContext(t *testing.T) {
	a := onMemory(t)
	path := twoContexts(t, a.addr, a.addr, "")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	has(t, runPlain(t, "list", "--context", "production", "-k", "x/*").errOut, "other users can read")
}

func TestCompletionOfSettings(t *testing.T) {
	path := twoContexts(t, "a:1", "b:2", "")
	for _, args := range [][]string{{"list", "--context", "pro"}, {"--config", path, "list", "--context", "pro"}, {"list", "--context=pro"}} {
		if got := offered(t, args...); !slices.Equal(got, []string{"production", noFiles}) {
			t.Errorf("%q: %q", args, got)
		}
	}
	t.Setenv(contextEnv, "unknown")
	if got := offered(t, "list", "--context", ""); !slices.Equal(got, []string{"production", "test", noFiles}) {
		t.Errorf("with an unknown context in the environment, completion offers %q", got)
	}
	if got := offered(t, "--theme", ""); !slices.Equal(got, append(ui.Themes(), noFiles)) {
		t.Errorf("completion of --theme offers %q", got)
	}
	if err := os.WriteFile(path, []byte("contexts: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := offered(t, "list", "--context", ""); !slices.Equal(got, []string{noFiles}) {
		t.Errorf("with an invalid config file, completion offers %q", got)
	}
}

// Names come from the cluster of the context, and a warning about the file would appear in the command line.
func TestCompletionOfNamesInAContext(t *testing.T) {
	a, b := onMemory(t), onMemory(t)
	a.acquire("service/web/leader", a.session(nil), "web-1")
	b.acquire("vault/core/lock", b.session(nil), "vault-1")
	path := twoContexts(t, a.addr, b.addr, "")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for context, want := range map[string]string{"production": "web", "test": "vault/core/lock"} {
		t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:2") // each context removes it
		var got result
		want += "\n" + noFiles + "\n"
		if !completes(func() bool {
			got = runPlain(t, "__complete", "show", "--context", context, "")
			return got.out == want
		}) || strings.Contains(got.errOut, "warning") {
			t.Errorf("%s: %q, want %q; %s", context, got.out, want, got.errOut)
		}
	}
	if got := offered(t, "show", "--context", "unknown", ""); !slices.Equal(got, []string{noFiles}) {
		t.Errorf("with an unknown context, completion offers %q", got)
	}
}
