package ui

import (
	"slices"
	"strings"
	"testing"

	"electop/election/query"
	"electop/ui/prompt"
)

// A release refuses an invalid filter, which could match more elections than the user intended.
func TestReleaseRefusesAnInvalidFilter(t *testing.T) {
	for text, want := range map[string]string{
		"release state:foo": `Unknown state "foo"`, "release !": "The filter is empty.", "destroy /[/": "Regex: missing closing ]",
	} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys(":", "'"+text, "enter")
		d.wants(want)
		if d.m.overlay != nil {
			t.Errorf("%s opens a dialog", text)
		}
	}
}

func TestTabCompletesAFilter(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	for _, step := range []struct{ keys, text string }{
		{"'st", "st"}, {"tab", "state:"}, {"tab", "state:vacant"}, {"tab", "state:lock-delay"}, {"shift+tab", "state:vacant"},
		{"' no", "state:vacant no"}, {"tab", "state:vacant node:"}, {"'3", "state:vacant node:3"}, {"tab", "state:vacant node:node-3"},
		{"tab", "state:vacant node:node-3"},
	} {
		if d.m.prompt == nil {
			d.keys("/")
		}
		if d.keys(step.keys); d.m.prompt.Text() != step.text {
			t.Fatalf("after %s: %q, want %q", step.keys, d.m.prompt.Text(), step.text)
		}
	}
	if got := d.m.board.Filter().Text; got != "state:vacant node:node-3" {
		t.Errorf("the filter is %q, want that of the prompt", got)
	}
}

func TestCommandsAreCompleted(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) { o.Contexts = []string{"production", "test"} })
	for typed, want := range map[string]string{
		"so": "sort ", "ath": "go auth", "node-3": "filter node:node-3", "sort prb": "sort problems", "sort for r": "sort for reverse", "go bil": "go billing",
		"drain 3": "drain node-3", "release st": "release state:", "filter state:v": "filter state:vacant",
		"unwatch lead": "unwatch service/*/leader", "watch vau": "watch vault/core/lock", "destroy node:node-3 st": "destroy node:node-3 state:",
		"theme con": "theme contrast", "ctx pro": "ctx production", "at 03": "at 03", "at -1": "at -1h", "since 7": "since 7d", "thm": "theme ",
	} {
		d.keys(":", "'"+typed, "tab")
		if got := d.m.prompt.Text(); got != want {
			t.Errorf("%q becomes %q, want %q", typed, got, want)
		}
		d.keys("esc")
	}
}

func TestTheDashboardStartsFilteredAndSorted(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		o.Filter, o.Sort = "!node:node-1", query.Order{Key: query.ByProblems}
	})
	d.wants("/ !node:node-1", "esc clears")
	visible := d.m.board.Visible()
	if len(visible) == 0 || visible[0].Name != "mail" && visible[0].Name != "search" {
		t.Errorf("the visible elections are %v, want mail or search first", visible)
	}
}

// A name from Consul that looks like a word of a filter is completed in quotes or after its field, and matches itself.
func TestNamesFromConsulAreNoFilterLanguage(t *testing.T) {
	s := mixedSnapshot()
	for i, name := range []string{"!state:led", `"a b`, "/[/", "evil\x1b[31m"} {
		e := *s.Elections[i]
		e.Name, e.Leader = name, name
		s.Elections[i] = &e
	}
	d := drive(t, s, 120, 36)
	for _, e := range slices.Clone(s.Elections[:3]) {
		if d.keys("/", "ctrl+u", "'election:"+query.Quote(e.Name)); d.m.board.Filter().Err != nil || len(d.m.board.Visible()) != 1 {
			t.Errorf("%q: %v, %d elections", e.Name, d.m.board.Filter().Err, len(d.m.board.Visible()))
		}
		d.keys("esc")
	}
	if names := prompt.Values(d.m.scene, "election"); slices.Contains(names, "evil\x1b[31m") || !slices.Contains(names, "/[/") {
		t.Errorf("completion offers %q", names)
	}
}

// A word without a value is not an error while the user is still typing it.
func TestAnUnfinishedWordIsNoError(t *testing.T) {
	for _, c := range []struct {
		text   string
		failed bool
	}{
		{"state:", false}, {"web state:", false}, {"for:", false}, {"for:<", false}, {"changes:>", false}, {"state:v", false},
		{"state: ", true}, {"state: web", true}, {"state:foo", true}, {"foo:", true}, {"type:", true}, {"for:<x", true}, {"state:foo node:", true},
	} {
		d := drive(t, mixedSnapshot(), 200, 50)
		d.keys("/", "'"+c.text)
		err := d.m.list().Filter().Err
		if err == nil {
			if c.failed {
				t.Errorf("the filter %q is valid, want an error", c.text)
			}
			continue
		}
		if got := strings.Contains(d.text(), err.Error()); got != c.failed {
			t.Errorf("%q before enter: error shown %v, want %v", c.text, got, c.failed)
		}
		d.keys("enter")
		d.wants(err.Error())
	}
}

func TestClickInsertsACompletion(t *testing.T) {
	for _, c := range []struct{ open, typed, option, want string }{
		{"/", "state:", "lock-delay", "state:lock-delay"},
		{":", "theme ", "light", "theme light"},
		{":", "sort for ", "reverse", "sort for reverse"},
		{":", "aut", "auth", "go auth"},
	} {
		d := drive(t, mixedSnapshot(), 120, 36)
		d.keys(c.open, "'"+c.typed)
		line := strings.Split(d.text(), "\n")[1]
		x := strings.LastIndex(line, c.option)
		if x < 0 {
			t.Errorf("%s is not offered: %s", c.option, line)
			continue
		}
		d.send(clickAt(len([]rune(line[:x])), 1))
		if got := d.m.prompt.Text(); got != c.want {
			t.Errorf("%q: a click on %s gives %q, want %q", c.typed, c.option, got, c.want)
		}
		if c.open == "/" && d.m.list().Filter().Text != c.want {
			t.Errorf("the filter is %q", d.m.list().Filter().Text)
		}
	}
}
