package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// refuse returns an error if a field is not allowed at the current position.
func (l *lexer) refuse() error {
	switch script := strings.ReplaceAll(l.text, "\\\n", ""); {
	case strings.Contains(script, "(("), strings.Contains(script, "$["):
		return errors.New("a command with (( or $[ must not contain fields: shells execute values in arithmetic expressions")
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

// refuseIn returns an error if a field is not allowed in an open construct. direct is false if the field is in a
// nested construct: a substitution in the current word, or a subshell.
func (l *lexer) refuseIn(f *frame, direct bool) error {
	switch f.kind {
	case backquote:
		return errors.New("a field must not be in backquotes; use $(…)")
	case parameter:
		return errors.New("a field must not be in ${…}: some forms of ${…} execute the value")
	case single, double:
		return nil
	default:
	}
	name := f.evaluator(l.text[f.start:l.at])
	switch {
	case f.redirected:
		return errors.New("a field must not follow < or > in a command; move the field before the redirection")
	case len(f.words) == 0 && (direct || f.inWord) && !l.assigns(f):
		return errors.New("a field must not be the program to run")
	case len(f.words) > 0 && strings.Contains(strings.TrimLeft(f.words[0], "["), "["):
		return errors.New("a field must not be in a subscript: shells evaluate subscripts")
	case name != "":
		return fmt.Errorf("a field must not be an argument of %s, which evaluates its arguments", name)
	}
	return nil
}

// evaluators lists the words that execute an argument, or the subscript of a variable in an argument: a[$(command)].
// If option is not empty, a word does so only with this option.
func evaluators() []struct{ word, option string } {
	return []struct{ word, option string }{
		{"eval", ""}, {"let", ""}, {"[[", ""}, {"trap", ""}, {"unset", ""}, {"read", ""}, {"alias", ""}, {"mapfile", ""}, {"readarray", ""}, {"getopts", ""}, {"compgen", ""}, {"complete", ""},
		{"printf", "v"}, {"test", "v"}, {"[", "v"}, {"wait", "p"},
	}
}

// evaluator returns the word of the simple command that evaluates its arguments, or "" if there is none. The word may
// be at any position, because the words "command" and "builtin" run their arguments.
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

// unquote removes quotes, backslashes and line continuations from a word.
func unquote(word string) string {
	return strings.NewReplacer("\\\n", "", "\\", "", `$"`, "", "'", "", `"`, "").Replace(word)
}

// changesParameters reports whether a simple command replaces the positional parameters. The command set does not
// replace them if all its arguments are options.
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
