package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// lexer finds the fields of a template and decides where a shell reads them. It accepts a part of the syntax of sh: if
// it misreads other parts, a value may be split into words, but no shell parses it.
type lexer struct {
	text     string
	at       int
	kept     int // the text before it is in the template
	frames   []frame
	document bool // a here-document may follow
	template Template
}

// kind is what encloses a part of a script.
type kind uint8

const (
	commands   kind = iota // the script itself, ( ) or $( )
	single                 // ' '
	double                 // " "
	parameter              // ${ }
	arithmetic             // $(( )) or (( ))
	backquote              // ` `
)

// frame is an open construct, and the position in the command that it contains.
type frame struct {
	kind kind
	// inWord is set inside a word; word is its literal text.
	inWord bool
	word   string
	// program is the first word of the command, empty before its end. dashes is set after the word "--".
	program string
	dashes  bool
}

func (f *frame) opening() string {
	return [...]string{commands: "(", single: "'", double: `"`, parameter: "${", arithmetic: "((", backquote: "`"}[f.kind]
}

func (l *lexer) top() *frame { return &l.frames[len(l.frames)-1] }

// push opens a construct that is n bytes long.
func (l *lexer) push(k kind, n int) {
	l.top().inWord = true
	l.frames = append(l.frames, frame{kind: k})
	l.at += n
}

func (l *lexer) pop(n int) {
	l.frames = l.frames[:len(l.frames)-1]
	l.at += n
}

func (l *lexer) starts(with string) bool { return strings.HasPrefix(l.text[l.at:], with) }

// step reads the next token.
func (l *lexer) step() error {
	f := l.top()
	switch {
	case f.kind == single:
		if l.starts("'") {
			l.pop(1)
			return nil
		}
	case l.starts("\\") && l.at+1 < len(l.text):
		l.literal(2)
		return nil
	case f.kind == double && l.starts(`"`), f.kind == parameter && l.starts("}"), f.kind == backquote && l.starts("`"):
		l.pop(1)
		return nil
	case f.kind == arithmetic && l.starts("))"):
		l.pop(2)
		return nil
	case l.open():
		return nil
	}
	if l.starts("{{") {
		return l.field()
	}
	if f.kind == commands {
		l.inCommand()
		return nil
	}
	l.at++
	return nil
}

// open opens the construct that begins here, if one does.
func (l *lexer) open() bool {
	k := l.top().kind
	switch {
	case l.starts("$(("):
		l.push(arithmetic, 3)
	case k == commands && l.starts("(("):
		l.push(arithmetic, 2)
	case l.starts("$("):
		l.push(commands, 2)
	case l.starts("${"):
		l.push(parameter, 2)
	case l.starts("`"):
		l.push(backquote, 1)
	case l.starts(`"`) && k != double:
		l.push(double, 1)
	case l.starts("'") && k != double:
		l.push(single, 1)
	default:
		return false
	}
	return true
}

// inCommand reads a character of a command outside of quotes.
func (l *lexer) inCommand() {
	f, c := l.top(), l.text[l.at]
	switch {
	case c == '#' && !f.inWord:
		comment, _, _ := strings.Cut(l.text[l.at:], "\n")
		l.at += len(comment)
	case c == ')' && len(l.frames) > 1:
		l.pop(1)
	case c == '(' && !f.inWord:
		l.push(commands, 1)
	case strings.IndexByte(";|&()\n", c) >= 0:
		*f = frame{}
		l.at++
	case strings.IndexByte(" \t\r<>", c) >= 0:
		l.document = l.document || l.starts("<<")
		f.endWord()
		l.at++
	default:
		l.literal(1)
	}
}

// literal reads n bytes of a word.
func (l *lexer) literal(n int) {
	f := l.top()
	f.inWord = true
	f.word += l.text[l.at : l.at+n]
	l.at += n
}

// keywords are followed by a command.
func keywords() []string {
	return []string{"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"}
}

// evaluators are words that execute an argument, or the subscript of a variable in it: a[$(command)].
func evaluators() []string {
	return []string{"eval", "let", "[[", "trap", "unset", "read", "declare", "typeset"}
}

// endWord ends the current word, which may be the program.
func (f *frame) endWord() {
	if f.inWord {
		f.dashes = f.dashes || f.word == "--"
		if f.program == "" && !slices.Contains(keywords(), f.word) && !f.assigns() {
			f.program = f.word + " "
		}
	}
	f.inWord, f.word = false, ""
}

// assigns reports whether the word is an assignment.
func (f *frame) assigns() bool {
	name, _, found := strings.Cut(f.word, "=")
	return found && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// field reads "{{".
func (l *lexer) field() error {
	u, size := field(l.text[l.at:])
	if size == 0 && l.top().kind != commands { // such as the templates of Go, in quotes
		l.at += 2
		return nil
	}
	if size == 0 || !slices.ContainsFunc(Fields(), func(f Field) bool { return f.Name == u.field }) {
		name, _, _ := strings.Cut(l.text[l.at:]+"\n", "\n")
		if size > 0 {
			name = l.text[l.at : l.at+size]
		}
		return fmt.Errorf("%s is not a field; must be %s", name, FieldNames())
	}
	if err := l.refuse(); err != nil {
		return fmt.Errorf("%s: %w", l.text[l.at:l.at+size], err)
	}
	f := l.top()
	u.option = !f.inWord && (!f.dashes || u.quoted)
	f.inWord = true
	l.keep()
	l.template.pieces = append(l.template.pieces, piece{use: len(l.template.uses)})
	l.template.uses = append(l.template.uses, u)
	l.at += size
	l.kept = l.at
	return nil
}

// refuse returns why no field is allowed here.
func (l *lexer) refuse() error {
	f := l.top()
	switch f.kind {
	case single, double:
		return errors.New("a field must not be in quotes; electop quotes its value")
	case backquote:
		return errors.New("a field must not be in backquotes; use $(…)")
	case parameter, arithmetic:
		return errors.New("a field must not be in ${…} or ((…)); assign it to a variable first")
	default:
	}
	switch {
	case l.document:
		return errors.New("a field must not follow <<; use printf and a pipe")
	case f.program == "" && !f.assigns():
		return errors.New("a field must not be the program to run")
	case slices.Contains(evaluators(), strings.TrimSpace(f.program)):
		return fmt.Errorf("a field must not be an argument of %s, which evaluates it", strings.TrimSpace(f.program))
	}
	return nil
}

// keep adds the text before the current position to the template.
func (l *lexer) keep() {
	if l.at > l.kept {
		l.template.pieces = append(l.template.pieces, piece{text: l.text[l.kept:l.at]})
	}
	l.kept = l.at
}
