package keys_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"

	"electop/ui/keys"
	"electop/ui/prompt"
)

var update = flag.Bool("update", false, "write docs/keys.md")

// bindings returns all bindings of a map, by the name of their field.
func bindings(k keys.Map) map[string]key.Binding {
	all := map[string]key.Binding{}
	for _, v := range []reflect.Value{reflect.ValueOf(k), reflect.ValueOf(k.Fixed)} {
		for i := range v.NumField() {
			if b, ok := v.Field(i).Interface().(key.Binding); ok {
				all[v.Type().Field(i).Name] = b
			}
		}
	}
	return all
}

func TestEachKeyIsInTheHelp(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		k := keys.Default(ascii)
		shown := map[string]bool{}
		for _, page := range k.Pages() {
			for _, g := range page.Groups {
				for _, b := range g.Keys {
					if b.Help().Key == "" || b.Help().Desc == "" {
						t.Errorf("%s: %v has no text", page.Title, b.Keys())
					}
					shown[strings.Join(b.Keys(), " ")] = true
				}
			}
		}
		for name, b := range bindings(k) {
			if len(b.Keys()) == 0 || !shown[strings.Join(b.Keys(), " ")] {
				t.Errorf("%s (%v) is not in the help", name, b.Keys())
			}
		}
	}
}

// Every key of a footer is in the help.
func TestFootersShowKnownKeys(t *testing.T) {
	k := keys.Default(false)
	known := map[string]bool{}
	for _, b := range bindings(k) {
		known[b.Keys()[0]] = true
	}
	for _, footer := range [][]key.Binding{
		k.Board(), k.Vacant(), k.Past(), k.Zoom(), k.EventList(false, false), k.EventList(true, false), k.EventList(true, true), k.SessionList(true), k.SessionList(false),
		k.Prompt(true), k.Prompt(false), k.Dialog(true, true), k.Dialog(false, true), k.Menu(), k.ResultList(true), k.ResultList(false), k.Empty(),
		k.RunMenu(), k.RunConfirmation(),
	} {
		for _, b := range footer {
			if !known[b.Keys()[0]] {
				t.Errorf("%v is not a known key", b.Keys())
			}
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
	for _, page := range keys.Default(false).Pages() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | action |\n| --- | --- |\n", page.Title)
		for _, g := range page.Groups {
			fmt.Fprintf(&b, "| **%s** | |\n", g.Title)
			for _, k := range g.Keys {
				fmt.Fprintf(&b, "| `%s` | %s |\n", k.Help().Key, k.Help().Desc)
			}
		}
	}
	b.WriteString("\n## Commands\n\n`:` opens a line for a command; `tab` completes it.\n\n")
	b.WriteString("| command | action |\n| --- | --- |\n")
	for _, c := range prompt.Commands() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c, c.About)
		if c.About == "" {
			t.Errorf("%s has no description", c)
		}
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
func TestReboundKeysAreInTheHelp(t *testing.T) {
	custom, err := keys.Parse(map[string][]string{"release": {"ctrl+r"}, "down": {"e"}, "up": {"d"}, "mouse": {"f5"}, "open": {"o"}})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, page := range keys.Default(false).With(custom).Pages() {
		for _, g := range page.Groups {
			for _, b := range g.Keys {
				fmt.Fprintf(&text, "%s %s\n", b.Help().Key, b.Help().Desc)
			}
		}
	}
	for _, line := range []string{"ctrl-r release", "e down", "d up", "f5 turn the mouse on or off", "o open", "\u23ce press the button"} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("the help lacks %q:\n%s", line, text.String())
		}
	}
}

func TestKeysByTheirNames(t *testing.T) {
	for _, name := range []string{"\u00e9", "*", "ctrl+g", "ctrl+alt+b", "alt+B", "shift+f3", "f12", "ctrl++", "+", "delete", "shift+enter"} {
		if got := keys.Press(name).String(); got != name {
			t.Errorf("Press(%q) gives %q", name, got)
		}
	}
	for field, b := range bindings(keys.Default(false)) {
		for _, name := range b.Keys() {
			if got := keys.Press(name).String(); got != name {
				t.Errorf("%s: Press(%q) gives %q", field, name, got)
			}
		}
	}
}
