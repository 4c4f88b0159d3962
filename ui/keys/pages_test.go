package keys_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"electop/ui"
	"electop/ui/keys"
)

var update = flag.Bool("update", false, "write docs/keys.md")

// Every key that settings can change is in the help.
func TestEachKeyIsInTheHelp(t *testing.T) {
	shown := map[string]bool{}
	for _, page := range ui.NewKeys(false, nil).Pages() {
		for _, g := range page.Groups {
			for _, b := range g.Keys {
				if b.Help().Key == "" || b.Help().Desc == "" {
					t.Errorf("%s: %v has no text", page.Title, b.Keys())
				}
				shown[strings.Join(b.Keys(), " ")] = true
			}
		}
	}
	for _, a := range ui.NewKeys(false, nil).Rows {
		if a.About == "" || !shown[a.Keys] {
			t.Errorf("%s (%v) is not in the help", a.Name, a.Keys)
		}
	}
}

// docs/keys.md is generated from the bindings: go test ./ui/keys -update.
func TestDocumentListsTheKeys(t *testing.T) {
	const path = "../../docs/keys.md"
	var b strings.Builder
	b.WriteString("# Keys\n\nThe same tables are in the dashboard: press `?`. This page is generated: `go test ./ui/keys -update`.\n\n" +
		"With the mouse: a click selects a row, sorts by a column title, opens a page of the pane or of the help, and presses buttons and the keys " +
		"that the screen shows. The wheel scrolls what is under the pointer. `M` turns the mouse off, so that the terminal selects text; in many terminals, shift does that too.\n")
	for _, page := range ui.NewKeys(false, nil).Pages() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action |\n| --- | --- |\n", page.Title)
		for _, g := range page.Groups {
			fmt.Fprintf(&b, "| **%s** | |\n", g.Title)
			for _, k := range g.Keys {
				fmt.Fprintf(&b, "| `%s` | %s |\n", k.Help().Key, k.Help().Desc)
			}
		}
	}
	b.WriteString("\n## Names\n\nThe setting [`keys`](settings.md#keys) and `:` use these names.\n\n| name | action | keys |\n| --- | --- | --- |\n")
	for _, a := range ui.NewKeys(false, nil).Rows {
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", a.Name, a.About, strings.ReplaceAll(a.Keys, " ", "` `"))
	}
	b.WriteString("\n## Commands\n\n`:` opens a line for a command; `tab` completes it.\n\n")
	b.WriteString("| command | action |\n| --- | --- |\n")
	for _, c := range ui.NewKeys(false, nil).Commands {
		fmt.Fprintf(&b, "| `:%s` | %s |\n", c.Usage, c.About)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("docs/keys.md differs from the keys (%v); go test ./ui/keys -update writes it", err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil || !strings.Contains(string(readme), "docs/keys.md") {
		t.Errorf("the README does not refer to docs/keys.md: %v", err)
	}
}

// Rebound keys have their own names in the help.
func TestKeysByTheirNames(t *testing.T) {
	for _, name := range []string{"\u00e9", "*", "ctrl+g", "ctrl+alt+b", "alt+B", "shift+f3", "f12", "ctrl++", "+", "delete", "shift+enter"} {
		if got := keys.Press(name).String(); got != name {
			t.Errorf("Press(%q) gives %q", name, got)
		}
	}
	for _, a := range ui.NewKeys(false, nil).Rows {
		for _, name := range strings.Fields(a.Keys) {
			if got := keys.Press(name).String(); got != name {
				t.Errorf("%s: Press(%q) gives %q", a.Name, name, got)
			}
		}
	}
}
