package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// refuse returns why no field is allowed here.
func (l *lexer) refuse() error {
	switch script := strings.ReplaceAll(l.text, "\\\n", ""); {
	case strings.Contains(script, "(("), strings.Contains(script, "$["):
		return errors.New("a command with (( or $[ must not have fields: shells execute values in arithmetic")
	case l.barred != "":
		return errors.New("a field " + l.barred)
	case l.top().kind == single, l.top().kind == double:
		return errors.New("a field must not be in quotes; electop quotes its value")
	}
	for i := range l.frames {
		if err := l.refuseIn(&l.frames[i], i == len(l.frames)-1); err != nil {
			return err
		}
	}
	return nil
}

// refuseIn returns why no field is allowed in an open construct. A field that is not directly in a command is in a
// substitution in the current word, or in a subshell.
func (l *lexer) refuseIn(f *frame, direct bool) error {
	switch f.kind {
	case backquote:
		return errors.New("a field must not be in backquotes; use $(…)")
	case parameter:
		return errors.New("a field must not be in ${…}: shells execute values in some of its forms")
	case single, double:
		return nil
	default:
	}
	name := f.evaluator(l.text[f.start:l.at])
	switch {
	case f.redirected:
		return errors.New("a field must not follow < or > in a command; move it before them")
	case len(f.words) == 0 && (direct || f.inWord) && !l.assigns(f):
		return errors.New("a field must not be the program to run")
	case len(f.words) > 0 && strings.Contains(strings.TrimLeft(f.words[0], "["), "["):
		return errors.New("a field must not be in a subscript, which shells evaluate")
	case name != "":
		return fmt.Errorf("a field must not be an argument of %s, which evaluates it", name)
	}
	return nil
}

// evaluators are words that execute an argument, or the subscript of a variable in it: a[$(command)]. If the option is
// not empty, they do so only with this option.
func evaluators() []struct{ word, option string } {
	return []struct{ word, option string }{
		{"eval", ""}, {"let", ""}, {"[[", ""}, {"trap", ""}, {"unset", ""}, {"read", ""}, {"alias", ""}, {"mapfile", ""}, {"readarray", ""}, {"getopts", ""}, {"compgen", ""}, {"complete", ""},
		{"printf", "v"}, {"test", "v"}, {"[", "v"}, {"wait", "p"},
	}
}

// evaluator returns the word of the simple command that evaluates its arguments, empty for none. It may be any word,
// because command and builtin run their argument.
func (f *frame) evaluator(current string) string {
	words := f.words
	if f.inWord {
		words = append(slices.Clone(words), unquote(current))
	}
	for _, e := range evaluators() {
		hasOption := func(word string) bool { return strings.HasPrefix(word, "-") && strings.Contains(word, e.option) }
		if slices.Contains(f.words, e.word) && (e.option == "" || slices.ContainsFunc(words, hasOption)) {
			return strings.TrimSuffix(e.word+" -"+e.option, " -")
		}
	}
	return ""
}

// unquote removes quotes, backslashes and continued lines from a word.
func unquote(word string) string {
	return strings.NewReplacer("\\\n", "", "\\", "", `$"`, "", "'", "", `"`, "").Replace(word)
}

// changesParameters reports whether a simple command replaces the positional parameters. set with
// options only does not.
func changesParameters(words []string) bool {
	if len(words) == 0 || words[0] != "set" {
		return len(words) > 0 && words[0] == "shift"
	}
	for i, word := range words[1:] {
		option := strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+") || words[i] == "-o" || words[i] == "+o"
		if !option || word == "--" || word == "-" {
			return true
		}
	}
	return false
}
