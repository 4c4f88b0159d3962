package ui

import (
	"slices"
	"strings"
	"testing"

	"electop/election/query"
	"electop/ui/prompt"
)

func TestCommandsAreCompleted(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, optionOf("contexts"))
	for typed, want := range map[string]string{
		"so": "sort ", "ath": "go auth", "node-3": "filter node:node-3", "sort prb": "sort problems", "sort for r": "sort for reverse", "go bil": "go billing",
		"drain 3": "drain node-3", "release st": "release state:", "filter state:v": "filter state:vacant",
		"unwatch lead": "unwatch service/*/leader", "watch vau": "watch vault/core/lock", "destroy node:node-3 st": "destroy node:node-3 state:",
		"theme con": "theme contrast", "ctx pro": "ctx production", "at 03": "at 03", "at -1": "at -1h", "since 7": "since 7d", "thm": "theme ",
	} {
		d.keys(":", "'"+typed, "tab")
		if got := d.m.prompt.String(); got != want {
			t.Errorf("%q becomes %q, want %q", typed, got, want)
		}
		d.keys("esc")
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
	for _, e := range s.Elections[:3] {
		if d.keys("/", "ctrl+u", "'election:"+query.Quote(e.Name)); d.m.board.Filter.Err != nil || len(d.m.board.Visible()) != 1 {
			t.Errorf("%q: %v, %d elections", e.Name, d.m.board.Filter.Err, len(d.m.board.Visible()))
		}
		d.keys("esc")
	}
	if names := prompt.Values(d.m.scene, "election"); slices.Contains(names, "evil\x1b[31m") || !slices.Contains(names, "/[/") {
		t.Errorf("completion offers %q", names)
	}
}

// A word without a value is not an error while the user is still typing it.
func TestAnUnfinishedWordIsNoError(t *testing.T) {
	d := drive(t, mixedSnapshot(), 200, 50)
	for text, failed := range map[string]bool{
		"state:": false, "web state:": false, "for:": false, "for:<": false, "changes:>": false, "state:v": false,
		"state: ": true, "state: web": true, "state:foo": true, "foo:": true, "type:": true, "for:<x": true, "state:foo node:": true,
	} {
		d.keys("/", "ctrl+u", "'"+text)
		err := d.m.list().State().Filter.Err
		if err == nil {
			if failed {
				t.Errorf("the filter %q is valid, want an error", text)
			}
			continue
		}
		if got := strings.Contains(d.text(), err.Error()); got != failed {
			t.Errorf("%q before enter: error shown %v, want %v", text, got, failed)
		}
		d.keys("enter")
		d.wants(err.Error())
	}
}
