package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"electop/internal/settings"
	"electop/ui"
)

// withoutConfig gives a test an empty folder for config files and returns the path of the default
// file.
func withoutConfig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	return filepath.Join(dir, "electop", "config.yaml")
}

func TestConfigCommands(t *testing.T) {
	path := withoutConfig(t)
	w := &testConsul{t: t, addr: "127.0.0.1:1"}
	has(t, w.run("config", "path").must(t, exitOK).out, path)
	has(t, w.run("config", "check").must(t, exitFailed).errOut, path, "no such file")
	has(t, w.run("config", "init").must(t, exitOK).out, "Wrote "+path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	has(t, w.run("config", "check").must(t, exitOK).out, path+" is valid")
	has(t, w.run("config", "init").must(t, exitFailed).errOut, path+" exists; it was not changed")
	if err := os.WriteFile(path, []byte("theme: dark\n\nthem: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	has(t, w.run("config", "check").must(t, exitUsage).errOut, path+`:3: unknown setting "them"; must be one of `)
	has(t, w.run("config", "path", "--config", "x.yaml").must(t, exitOK).out, "x.yaml\n")
	has(t, w.run("config", "chek").must(t, exitUsage).errOut, `unknown command "chek"`)
}

func TestErrorsInTheConfigFile(t *testing.T) {
	path := withoutConfig(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	w := &testConsul{t: t, addr: "127.0.0.1:1"}
	for _, c := range []struct{ text, want string }{
		{"theme: blue", `:1: theme: "blue" is not valid; must be one of auto, dark, light, contrast, terminal`},
		{"read-only: ja", `:1: read-only: "ja" is not valid; must be one of true, false`},
		{"max-watches: 7", ":1: max-watches: 7: must be from 24 to 150"},
		{"keep: soon", ":1: keep: "},
		{"preset: [vault, nothing]", `:1: preset: --preset "nothing" is unknown; the presets are `},
		{"columns: [election, colour]", `:1: columns: "colour" is not valid; must be one of election, dc, leader, node, `},
		{"keys:\n  wide: f", `:2: keys.wide: "f" is already bound to fix`},
		{"keys:\n  down: n\n  next-problem: N", `:2: keys.down: "n" has a fixed meaning in dialogs`},
		{"keys:\n  release: ctrl+q\n  destroy: ctrl+q", `"ctrl+q" is already bound to release`},
		{"keys:\n  release: ctl+q", `:2: keys.release: "ctl+q" is not a key`},
		{"keys:\n  release: esc", `:2: keys.release: "esc" is already bound to back`},
		{"keys:\n  jump: x", `:2: unknown setting "keys.jump"; must be one of up, down, `},
		{"contexts:\n  prod:\n    theme: dark", `:3: unknown setting "contexts.prod.theme"; must be one of ca-file, `},
		{"commands:\n  - name: a", ":2: commands.1: command is missing"},
		{"commands:\n  - name: a\n    command: echo {{nod}}", ":3: commands.1.command: {{nod}} is not a field; use one of {{election}}, "},
		{"commands:\n  - name: a\n    command: echo '{{node}}'", ":3: commands.1.command: {{node}}: a field must not be in quotes"},
		{"commands:\n  - name: a\n    command: \"{{value}}\"", ":3: commands.1.command: {{value}}: a field must not be the program"},
		{"commands:\n  - name: a\n    command: echo\n    key: ctrl+a", ":4: commands.1.key: must be one letter"},
		{"commands:\n  - name: \"a\\e[2J\"\n    command: echo", ":2: commands.1.name: must have 1 to 100 visible characters"},
		{"commands:\n  - {name: a, command: echo}\n  - {name: a, command: ls}", `:3: commands.2.name: another command has the same name: "a"`},
		{"commands:\n  - {name: a, key: x, command: echo}\n  - {name: b, key: x, command: ls}", `:3: commands.2.key: another command has the same key: "x"`},
		{"context: prod", `:1: unknown setting "context"`},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		has(t, w.run("list").must(t, exitUsage).errOut, "config file "+path, c.want)
	}
}

// Each setting of the template is valid, and the documentation describes it.
func TestTemplateAndDocumentHaveEverySetting(t *testing.T) {
	var text strings.Builder
	for line := range strings.Lines(settings.Template(templateHead, allSettings())) {
		if rest, found := strings.CutPrefix(line, "#"); found && (rest[0] != ' ' || strings.HasPrefix(rest, "  ")) {
			line = rest
		}
		if !strings.HasSuffix(line, "\"\"\n") { // a setting with an empty value has no useful default
			text.WriteString(line)
		}
	}
	if _, err := settings.Parse("f", []byte(text.String()), allSettings()); err != nil {
		t.Errorf("%v\n%s", err, text.String())
	}
	doc, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range allSettings() {
		if !strings.Contains(string(doc), "`"+s.Name+"`") {
			t.Errorf("docs/settings.md lacks %s", s.Name)
		}
	}
	for _, s := range commandsSetting().Fields {
		has(t, string(doc), "| `"+s.Name+"` | ")
	}
	for _, f := range ui.TemplateFields() {
		has(t, string(doc), "| `{{"+f.Name+"}}` | "+f.About+" |")
	}
	for _, action := range ui.KeyActions() {
		if !strings.Contains(string(doc), "`"+action.Name+"`") {
			t.Errorf("docs/settings.md lacks the key of %s", action.Name)
		}
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
		{"", "", "C.UTF-8", true},
		{"", "", "C", false},
		{"", "", "en_US", false},
		{"", "", "de_DE.ISO-8859-1", false},
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
