package settings_test

import (
	"errors"
	"strings"
	"testing"

	"electop/internal/settings"
)

func testSettings() []settings.Setting {
	cluster := []settings.Setting{{Name: "address", Example: `""`}, {Name: "stale", Kind: settings.Bool, Example: "false"}}
	return []settings.Setting{
		{Name: "theme", About: "The colours.", Allowed: []string{"dark", "light"}, Example: "dark"},
		{Name: "stale", About: "Stale reads.", Kind: settings.Bool, Example: "false"},
		{Name: "number", About: "A number.", Example: "7", Check: func(values []string) error {
			if values[0] != "7" {
				return errors.New("must be 7")
			}
			return nil
		}},
		{Name: "columns", About: "The columns.", Kind: settings.List, Allowed: []string{"a", "b"}, Example: "[a, b]"},
		{
			Name: "keys", About: "The keys.", Kind: settings.Section, Fields: []settings.Setting{
				{Name: "up", Kind: settings.List, Example: "k"}, {Name: "down", Kind: settings.List, Example: "[j, down]"},
			},
			CheckFields: func(fields []settings.Value) (string, error) {
				if len(fields) == 2 && fields[0].Texts[0] == fields[1].Texts[0] {
					return fields[1].Name, errors.New("down: taken")
				}
				return "", nil
			},
		},
		{Name: "contexts", About: "The clusters.", Kind: settings.Named, Fields: cluster, Example: "production"},
		{
			Name: "commands", About: "The commands.", Kind: settings.Sections,
			Fields: []settings.Setting{{Name: "name", Example: "logs", Required: true}, {Name: "stale", Kind: settings.Bool, Example: "false"}},
			CheckFields: func(items []settings.Value) (string, error) {
				if len(items) == 2 && items[0].Field("name").Texts[0] == items[1].Field("name").Texts[0] {
					return "2", errors.New("2.name: taken")
				}
				return "", nil
			},
		},
	}
}

func TestErrorsNameTheLineAndTheAllowedValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"theme: dark\n\nthme: x", `f.yaml:3: unknown setting "thme"; must be one of theme, stale, number, columns, keys, contexts, commands`},
		{"theme: blue", `f.yaml:1: theme: "blue" is not valid; must be one of dark, light`},
		{"theme: [dark]", "f.yaml:1: theme: must be a single value"},
		{"theme:", "f.yaml:1: theme: the value is missing"},
		{"stale: maybe", `f.yaml:1: stale: "maybe" is not valid; must be one of true, false`},
		{"theme: dark\nnumber: 8", "f.yaml:2: number: must be 7"},
		{"columns:\n  - a\n  - c", `f.yaml:3: columns: "c" is not valid; must be one of a, b`},
		{"columns:\n  - a\n  - [b]", "f.yaml:3: columns: each value of the list must be a string"},
		{"columns: {a: b}", "f.yaml:1: columns: must be a string or a list of strings"},
		{"theme: dark\ntheme: light", "f.yaml:2: theme: must be set only once"},
		{"keys:\n  up: k\n  down: k", "f.yaml:3: keys.down: taken"},
		{"keys:\n  left: h", `f.yaml:2: unknown setting "keys.left"; must be one of up, down`},
		{"keys: up", "f.yaml:1: keys: must contain lines"},
		{"contexts:\n  prod:\n    addr: x", `f.yaml:3: unknown setting "contexts.prod.addr"; must be one of address, stale`},
		{"contexts:\n  prod:\n    address: x\n    stale: 7", `f.yaml:4: contexts.prod.stale: "7" is not valid`},
		{"contexts:\n  \"a\\e[2J\": {}", "f.yaml:2: contexts.a"},
		{"commands: {name: a}", `f.yaml:1: commands: must be a list whose items begin with "- "`},
		{"commands:\n  - name: a\n  - b", "f.yaml:3: commands.2: must contain lines"},
		{"commands:\n  - name: a\n\n  - stale: true", "f.yaml:4: commands.2: name is missing"},
		{"commands:\n  - name: a\n    stale: 1", `f.yaml:3: commands.1.stale: "1" is not valid`},
		{"commands:\n  - name: a\n    nam: b", `f.yaml:3: unknown setting "commands.1.nam"; must be one of name, stale`},
		{"commands:\n  - name: a\n\n  - name: a", "f.yaml:4: commands.2.name: taken"},
		{"- a", "f.yaml:1: must contain lines"},
		{"theme: dark\n  stale: x", "f.yaml:2: mapping values are not allowed"},
		{"theme: 'dark", "f.yaml"},
	} {
		_, err := settings.Parse("f.yaml", []byte(c.text), testSettings())
		var problem *settings.Error
		if !errors.As(err, &problem) || !strings.Contains(err.Error(), "config file "+c.want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	const text = "theme: dark\ncolumns: [b, a]\nkeys: {down: j}\ncontexts:\n  prod: {address: x}\n  test: {stale: true}\ncommands:\n  - {name: a}\n  - {name: b}\n"
	file, err := settings.Parse("f.yaml", []byte(text), testSettings())
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Field("columns").Texts; len(got) != 2 || got[0] != "b" || got[1] != "a" {
		t.Errorf("columns %q", got)
	}
	if got := file.Field("keys").Field("down"); got == nil || got.Texts[0] != "j" || got.Line != 3 {
		t.Errorf("down %+v", got)
	}
	if got := file.Field("contexts").Field("test").Field("stale"); got.Texts[0] != "true" || got.Line != 6 {
		t.Errorf("stale %+v", got)
	}
	if got := file.Field("commands").Fields; len(got) != 2 || got[1].Field("name").Texts[0] != "b" || got[1].Line != 9 {
		t.Errorf("commands %+v", got)
	}
	if file.Field("number") != nil {
		t.Error("Field returned a setting that the file does not contain")
	}
	for _, empty := range []string{"", "# nothing\n", "---\n"} {
		if file, err := settings.Parse("f.yaml", []byte(empty), testSettings()); err != nil || len(file.Fields) > 0 {
			t.Errorf("%q: %+v, %v", empty, file, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("theme: dark\nkeys: {up: k}\ncontexts: {a: {stale: true}}")
	f.Add("a: &a [*a]")
	f.Add("<<: &x {theme: dark}\ncolumns: *x")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := settings.Parse("f", []byte(text), testSettings())
		if problem := new(settings.Error); err != nil && !errors.As(err, &problem) {
			t.Errorf("%T", err)
		}
	})
}

func TestTemplateIsValidWithAndWithoutItsSettings(t *testing.T) {
	text := settings.Template("A head.", testSettings())
	if file, err := settings.Parse("f", []byte(text), testSettings()); err != nil || len(file.Fields) > 0 {
		t.Errorf("%+v, %v", file, err)
	}
	file, err := settings.Parse("f", []byte(uncommented(text)), testSettings())
	if err != nil || len(file.Fields) != len(testSettings()) {
		t.Errorf("%v\n%s", err, uncommented(text))
	}
}

// uncommented removes the # before each setting of a template.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, "#"); found && (rest[0] != ' ' || strings.HasPrefix(rest, "  ")) {
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}
