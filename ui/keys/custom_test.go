package keys_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"electop/ui"
	"electop/ui/keys"
)

// The default keys are valid settings, so that a user can copy them from the template.
func TestDefaultKeysAreValid(t *testing.T) {
	all := map[string][]string{}
	for _, a := range ui.NewKeys(false, nil).Rows {
		all[a.Name] = strings.Fields(a.Keys)
	}
	custom, err := ui.ParseKeys(all)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ui.NewKeys(false, custom).Release.Keys(), ui.NewKeys(false, nil).Release.Keys(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestInvalidKeys(t *testing.T) {
	for _, c := range []struct {
		custom       map[string][]string
		action, text string
	}{
		{map[string][]string{"jump": {"x"}}, "jump", "unknown action"},
		{map[string][]string{"sort": {}}, "sort", "the list of keys is empty"},
		{map[string][]string{"sort": {"q"}}, "sort", `"q" is already bound to quit`},
		{map[string][]string{"quit": {"s"}}, "quit", `"s" is already bound to sort`},
		{map[string][]string{"sort": {"ctrl+c"}}, "sort", `"ctrl+c" is already bound to quit`},
		{map[string][]string{"sort": {"esc"}}, "sort", `"esc" is already bound to back`},
		{map[string][]string{"sort": {"f"}}, "sort", `"f" is already bound to fix`},
		{map[string][]string{"down": {"y"}}, "down", `"y" has a fixed meaning in dialogs`},
		{map[string][]string{"sort": {"shift+b"}}, "sort", `"shift+b" is not a key`},
		{map[string][]string{"sort": {"ctrl+B"}}, "sort", `"ctrl+B" is not a key`},
		{map[string][]string{"sort": {"ctrl+i"}}, "sort", `"ctrl+i" is not a key`},
		{map[string][]string{"sort": {"ww"}}, "sort", `"ww" is not a key`},
		{map[string][]string{"sort": {" "}}, "sort", `is not a key`},
		{map[string][]string{"sort": {""}}, "sort", `is not a key`},
		{map[string][]string{"sort": {"\x1b"}}, "sort", `is not a key`},
		{map[string][]string{"sort": {"f13"}}, "sort", `is not a key`},
	} {
		_, err := ui.ParseKeys(c.custom)
		var problem *keys.Error
		if !errors.As(err, &problem) || problem.Action != c.action || !strings.Contains(problem.Text, c.text) {
			t.Errorf("%v: %v, want %s: %s", c.custom, err, c.action, c.text)
		}
	}
}

// Two actions may exchange their keys.
func TestValidKeys(t *testing.T) {
	if _, err := ui.ParseKeys(map[string][]string{
		"sort": {"b", "B", "é", "*", "ctrl+g", "ctrl+alt+b", "alt+B", "shift+f3", "f12", "ctrl++", "shift+enter", "0", "S"}, "reverse": {"s"},
	}); err != nil {
		t.Error(err)
	}
}

func TestQuitAndBackKeepAKey(t *testing.T) {
	custom, err := ui.ParseKeys(map[string][]string{"quit": {"Q"}, "back": {"backspace"}})
	if err != nil {
		t.Fatal(err)
	}
	k := ui.NewKeys(false, custom)
	if !slices.Equal(k.Quit.Keys(), []string{"Q", "ctrl+c"}) || !slices.Equal(k.Back.Keys(), []string{"backspace", "esc"}) {
		t.Errorf("%v %v", k.Quit.Keys(), k.Back.Keys())
	}
}
