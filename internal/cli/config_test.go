package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"electop/ui/kit"
)

// withoutConfig gives a test an empty folder for config files and returns the path of the default
// file.
func withoutConfig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	return filepath.Join(dir, "electop", "config.yaml")
}

// withConfig writes the default config file of a test and returns its path.
func withConfig(t *testing.T, text string) string {
	t.Helper()
	path := withoutConfig(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rewrite(t, path, text)
	return path
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// Each setting of the template is valid, and the documentation describes it.
func TestConfigCommands(t *testing.T) {
	path := withoutConfig(t)
	w := newTestConsul(t, "127.0.0.1:1")
	w.run("config", "path").must(exitOK).has(path)
	w.run("config", "check").must(exitFailed).hasErr(path, "no such file")
	w.run("config", "init").must(exitOK).has("Wrote " + path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	w.run("config", "check").must(exitOK).has(path + " is valid")
	w.run("config", "init").must(exitFailed).hasErr(path + " exists; it was not changed")
	w.run("config", "path", "--config", "x.yaml").must(exitOK).has("x.yaml\n")
	w.run("config", "chek").must(exitUsage).hasErr(`unknown command "chek"`)
	template, err := os.ReadFile(path)
	must(t, err)
	var doc []byte
	for _, page := range []string{"settings", "keys"} {
		text, err := os.ReadFile("../../docs/" + page + ".md")
		must(t, err)
		doc = append(doc, text...)
	}
	var text strings.Builder
	for line := range strings.Lines(string(template)) {
		if rest, found := strings.CutPrefix(line, "#"); found && (rest[0] != ' ' || strings.HasPrefix(rest, "  ")) {
			line = rest
			name, _, _ := strings.Cut(strings.TrimLeft(rest, " -"), ":")
			if name != "production" {
				has(t, string(doc), "`"+name+"`")
			}
		}
		if !strings.HasSuffix(line, "\"\"\n") { // a setting with an empty value has no useful default
			text.WriteString(line)
		}
	}
	rewrite(t, path, text.String())
	w.run("config", "check").must(exitOK).has("valid")
}

func TestErrorsInTheConfigFile(t *testing.T) {
	path := withConfig(t, "")
	w := newTestConsul(t, "127.0.0.1:1")
	for _, c := range []struct{ text, want string }{
		{"theme: dark\n\nthme: x", `line 3: unknown setting "thme"; must be one of ascii, ca-file, `},
		{"theme: blue", `line 1: theme: must be one of [auto dark light contrast terminal`},
		{"theme: [dark, light]", "line 1: theme: must have one value"},
		{"theme:", "theme: must have one value"},
		{"theme: {dark: x}", "line 1: cannot unmarshal !!map"},
		{"theme: dark\ntheme: light", `line 2: mapping key "theme" already defined at line 1`},
		{"theme: dark\n  stale: x", "line 2: mapping values are not allowed"},
		{"- a", "line 1: cannot unmarshal !!seq"},
		{"keys: up", "line 1: cannot unmarshal !!str"},
		{"read-only: ja", `line 1: read-only: strconv.ParseBool: parsing "ja": invalid syntax`},
		{"max-watches: 7", "line 1: max-watches: --max-watches 7: must be from 8 to 150"},
		{"log-level: loud", `line 1: log-level: must be one of [debug info warn error]`},
		{"keep: soon", "line 1: keep: "},
		{"filter: state:foo", `unknown state "foo"`},
		{"sort: bogus", `unknown order "bogus"`},
		{"preset: [vault, nothing]", `line 1: preset: must be one of [patroni `},
		{"key: ['service/*/leader', '[a']", `line 1: key: pattern "[a": [ is not supported`},
		{"columns: [election, colour]", `line 1: columns: "colour" is not valid; must be one of election, dc, leader, node, `},
		{"keys:\n  release: f", `line 2: keys.release: "f" is already bound to fix`},
		{"keys:\n  release: ctl+q", `line 2: keys.release: "ctl+q" is not a key`},
		{"keys:\n  jump: x", "line 2: keys.jump: unknown action"},
		{"contexts:\n  prod:\n    theme: dark", `line 3: unknown setting "contexts.prod.theme"; must be one of ca-file, `},
		{"contexts:\n  prod:\n    http-addr: x\n    stale: 7", `line 4: contexts.prod.stale: `},
		{"endpoints: a\nhttp-addr: x", `line 1: endpoints: excludes http-addr`},
		{"contexts:\n  prod:\n    http-addr: x\n    endpoints: a", `line 4: contexts.prod.endpoints: excludes http-addr`},
		{"contexts:\n  \"a\\e[2J\": {}", "the name must have 1 to 40 visible characters"},
		{"contexts:\n  a,b: {}", "contexts.a,b: the name must have 1 to 40 visible characters, and no comma"},
		{"commands: {name: a}", "line 1: cannot unmarshal !!map"},
		{"commands:\n  - name: a", "line 2: commands.1: name or command is missing"},
		{"commands:\n  - name: a\n    command: echo\n    key: ctrl+a", "line 2: commands.1: key must be one letter"},
		{"commands:\n  - name: a\n    command: echo\n    confirm: 1", "line 4: cannot unmarshal !!int `1` into bool"},
		{"commands:\n  - name: a\n    command: [a, b]", "line 3: cannot unmarshal !!seq"},
		{"commands:\n  - name: a\n    nam: b", `line 2: commands.1: unknown setting "nam"; must be one of name, command, `},
		{"commands:\n  - name: \"a\\e[2J\"\n    command: echo", "line 2: commands.1: name and description must have at most 100 visible characters"},
		{"commands:\n  - {name: a, command: echo}\n  - {name: a, command: ls}", "line 3: commands.2: another command has the same name or key"},
		{"commands:\n  - {name: a, key: x, command: echo}\n  - {name: b, key: x, command: ls}", "line 3: commands.2: another command has the same name or key"},
		{"context: prod", `line 1: unknown setting "context"`},
	} {
		rewrite(t, path, c.text)
		r := w.run("list").must(exitUsage)
		r.hasErr("config file "+path+": ", c.want)
		if strings.Contains(r.errOut, "\x1b") {
			t.Errorf("%q", r.errOut)
		}
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		rewrite(t, path, empty)
		w.run("config", "check").must(exitOK)
	}
	rewrite(t, path, "thme: x")
	for _, args := range [][]string{{"watch"}, {"doctor"}, {}} {
		w.run(args...).must(exitUsage)
	}
	w.run("version").must(exitOK)
}

func TestWarningAboutAReadableConfigFileWithASecret(t *testing.T) {
	w := onMemory(t)
	const context = "contexts: {prod: {token: secret}}"
	for _, c := range []struct {
		text string
		mode os.FileMode
		args string
		want int // number of warnings
	}{
		{"token: secret", 0o644, "list", 1},
		{"token: secret", 0o640, "list", 1},
		{"token: secret", 0o600, "list", 0},
		{"{stale: true, 'token' : secret}", 0o644, "list", 1},
		{"token: ''\nuser: root # see: x", 0o644, "list", 0},
		{"token-file: " + os.DevNull, 0o644, "list", 0},
		{"token: secret", 0o644, "list --token x", 1}, // the flag overrides the file, which remains readable
		{"http-addr: me:secret@127.0.0.1:1", 0o644, "list", 1},
		{context, 0o644, "list", 1},
		{"token: secret", 0o644, "version", 0},
		{"token: secret", 0o644, "completion bash", 0},
		{"token: secret", 0o644, "__complete show ", 0},
	} {
		path := withConfig(t, c.text)
		must(t, os.Chmod(path, c.mode))
		r := w.run(strings.Split(c.args, " ")...)
		if got := strings.Count(r.errOut, "other users can read"); got != c.want || strings.Contains(r.out+r.errOut, "secret") {
			t.Errorf("%q %o %s: %d warnings, want %d: %s", c.text, c.mode, c.args, got, c.want, r.errOut)
		}
	}
}

// A flag overrides the environment, which overrides the file. A token and a token file are one setting.
func TestPrecedenceOfFlagsEnvironmentAndConfigFile(t *testing.T) {
	var token atomic.Value
	w := intercept(t, onMemory(t), func(_ http.ResponseWriter, r *http.Request) bool {
		token.Store(r.Header.Get("X-Consul-Token"))
		return false
	})
	file := filepath.Join(t.TempDir(), "token")
	rewrite(t, file, "of-a-file")
	for _, tt := range []struct{ config, env, value, args, want string }{
		{"token: of-the-config", "", "", "", "of-the-config"},
		{"token-file: " + file, "", "", "", "of-a-file"},
		{"token: of-the-config", "CONSUL_HTTP_TOKEN", "of-the-environment", "", "of-the-environment"},
		{"token-file: " + file, "CONSUL_HTTP_TOKEN", "of-the-environment", "", "of-the-environment"},
		{"token: of-the-config", "CONSUL_HTTP_TOKEN_FILE", file, "", "of-a-file"},
		{"token-file: " + file, "CONSUL_HTTP_TOKEN", "of-the-environment", "--token of-the-flag", "of-the-flag"},
	} {
		if tt.env != "" {
			t.Setenv(tt.env, tt.value)
		}
		path := withConfig(t, tt.config)
		w.run(append([]string{"list", "--config", path}, strings.Fields(tt.args)...)...).must(exitOK)
		if got := token.Load(); got != tt.want {
			t.Errorf("%+v: token %q", tt, got)
		}
		_ = os.Unsetenv(tt.env)
	}
}

func TestLocaleDecidesAboutASCII(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		utf8             bool
	}{
		{"", "", "", true},
		{"", "", "en_US.UTF-8", true},
		{"", "", "de_DE.utf8@euro", true},
		{"", "", "C", false},
		{"", "de_DE.ISO-8859-1", "en_US.UTF-8", false},
		{"en_US.UTF-8", "C", "C", true},
		{"POSIX", "en_US.UTF-8", "en_US.UTF-8", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := isUTF8(func(name string) string { return env[name] }); got != c.utf8 {
			t.Errorf("%v: %v", env, got)
		}
	}
}

// twoContexts writes a config file with two contexts, each for another agent, and returns its path.
func twoContexts(t *testing.T, a, b, more string) string {
	t.Helper()
	return withConfig(t, "http-addr: 127.0.0.1:1\ntoken: top\nkey: top/*\nread-only: true\n"+more+`
contexts:
  production:
    http-addr: `+a+`
    key: [service/*/leader]
    datacenter: dc1
  test:
    http-addr: `+b+`
    token: of-test
    preset: vault
    read-only: false
`)
}

// runPlain executes a command line without the flag --http-addr.
func runPlain(t *testing.T, args ...string) result {
	t.Helper()
	return withoutConsul(t).run(args...)
}

func TestContextSelectsACluster(t *testing.T) {
	a, b := onMemory(t), onMemory(t)
	a.acquire("service/web/leader", a.session(), "web-1")
	b.acquire("vault/core/lock", b.session(), "vault-1")
	twoContexts(t, a.Addr, b.Addr, "")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:2") // the context overrides this variable
	runPlain(t, "list", "--context", "production").must(exitOK).has("web-1")
	t.Setenv("CONSUL_HTTP_ADDR", "127.0.0.1:2") // the first command has removed the variable
	runPlain(t, "list", "--context", "test").must(exitOK).has("vault-1")
	t.Setenv(contextEnv, "production")
	runPlain(t, "list").must(exitOK).has("web-1")
	runPlain(t, "list", "--context", "test").must(exitOK).has("vault-1")
	runPlain(t, "list", "--http-addr", b.Addr, "-k", "vault/core/lock").must(exitOK).has("vault-1")
	runPlain(t, "list", "--context", "prod").must(exitUsage).hasErr(`context "prod" is unknown; the config file has the contexts production, test`)
}

// resolved returns the options of a command line after the config file was applied.
func resolved(t *testing.T, args ...string) *options {
	t.Helper()
	o := &options{}
	cmd := &cobra.Command{Use: "electop", RunE: func(cmd *cobra.Command, _ []string) error { return applyConfig(cmd, o) }}
	o.register(cmd.PersistentFlags())
	o.view.flags(cmd.Flags())
	cmd.SetArgs(args)
	must(t, cmd.Execute())
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

func TestCompletionOfSettings(t *testing.T) {
	path := twoContexts(t, "a:1", "b:2", "")
	for _, args := range [][]string{{"list", "--context", "pro"}, {"--config", path, "list", "--context", "pro"}, {"list", "--context=pro"}} {
		if got := offered(t, args...); !slices.Equal(got, []string{"production", ":4"}) {
			t.Errorf("%q: %q", args, got)
		}
	}
	t.Setenv(contextEnv, "unknown")
	if got := offered(t, "list", "--context", ""); !slices.Equal(got, []string{"production", "test", ":4"}) {
		t.Errorf("with an unknown context in the environment, completion offers %q", got)
	}
	if got := offered(t, "--theme", ""); !slices.Equal(got, append(kit.Themes(), ":4")) {
		t.Errorf("completion of --theme offers %q", got)
	}
	rewrite(t, path, "contexts: {a: {http-addr: '127.0.0.1:1'}, b: {endpoints: '127.0.0.1:1,'}}")
	if got := offered(t, "list", "--context", "a,b", ""); !slices.Equal(got, []string{":4"}) {
		t.Errorf("with a context that cannot be opened, completion offers %q", got)
	}
	rewrite(t, path, "contexts: [")
	if got := offered(t, "list", "--context", ""); !slices.Equal(got, []string{":4"}) {
		t.Errorf("with an invalid config file, completion offers %q", got)
	}
}
