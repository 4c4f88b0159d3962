package shell

import (
	"fmt"
	"slices"
	"strings"
)

// lexer finds the fields of a template and the shell constructs around them. It recognises a part of the syntax of sh.
// It refuses a field where it may fail to recognise a command that evaluates the value.
type lexer struct {
	text     string
	at       int
	kept     int // the text before this offset is in the template
	frames   []frame
	barred   string // reason why no field may follow, or empty if a field may follow
	template Template
}

// kind is the kind of construct that encloses a part of a script.
type kind uint8

const (
	commands  kind = iota // the script itself, ( ) or $( )
	single                // ' '
	double                // " "
	parameter             // ${ }
	backquote             // ` `
)

// frame is an open construct and the position in its current command.
type frame struct {
	kind kind
	// inWord is set inside a word. The word begins at start.
	inWord bool
	start  int
	// words are the words of the simple command, without assignments and keywords before the program.
	words []string
	// redirected is set after < or >.
	redirected bool
}

func (f *frame) opening() string {
	return [...]string{commands: "(", single: "'", double: `"`, parameter: "${", backquote: "`"}[f.kind]
}

func (l *lexer) top() *frame { return &l.frames[len(l.frames)-1] }

// push opens a construct. Its opening characters are n bytes long.
func (l *lexer) push(k kind, n int) {
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
	case l.starts("\\\n"): // a shell removes an escaped newline
		l.at += 2
		return nil
	case l.starts("\\") && l.at+1 < len(l.text):
		l.literal(2)
		return nil
	case f.kind == double && l.starts(`"`), f.kind == parameter && l.starts("}"), f.kind == backquote && l.starts("`"):
		l.pop(1)
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

// open opens the construct that begins at the current position of a word. It returns false if no construct begins
// there.
func (l *lexer) open() bool {
	f, k, size := l.top(), commands, 2
	switch {
	case l.starts("$("):
	case l.starts("${"):
		k = parameter
	case l.starts("`"):
		k, size = backquote, 1
	case l.starts(`"`) && f.kind != double:
		k, size = double, 1
	case l.starts("'") && f.kind != double:
		if k, size = single, 1; strings.HasSuffix(l.text[:l.at], "$") { // bash interprets backslashes in $'…'
			l.barred = "must not follow $'…'"
		}
	default:
		return false
	}
	l.begin()
	l.push(k, size)
	return true
}

// inCommand reads a character of a command outside of quotes.
func (l *lexer) inCommand() {
	f, c := l.top(), l.text[l.at]
	redirects := strings.HasSuffix(l.text[:l.at], "<") || strings.HasSuffix(l.text[:l.at], ">")
	switch {
	case c == '#' && !f.inWord:
		comment, _, _ := strings.Cut(l.text[l.at:], "\n")
		l.at += len(comment)
	case redirects && (c == '&' || c == '|'), l.starts("&>"):
		f.redirected = true
		l.at++
	case c == '(' && redirects:
		l.push(commands, 1)
	case c == '(' && f.inWord:
		l.barred = "must not follow a function or an array"
		l.at++
	case c == '(':
		*f = frame{}
		l.push(commands, 1)
	case c == ')' && len(l.frames) > 1:
		l.pop(1)
	case strings.IndexByte(";|&()\n", c) >= 0:
		if l.endWord(); changesParameters(f.words) {
			l.barred = "must not follow " + f.words[0] + ": this command changes the parameters that contain the fields"
		}
		*f = frame{}
		l.at++
	case strings.IndexByte(" \t\r<>", c) >= 0:
		l.endWord()
		f.redirected = f.redirected || c == '<' || c == '>'
		if l.starts("<<") {
			l.barred = "must not follow <<; use printf and a pipe"
		}
		l.at++
	default:
		l.literal(1)
	}
}

// begin begins a word, unless the position is inside a word.
func (l *lexer) begin() {
	if f := l.top(); !f.inWord {
		f.inWord, f.start = true, l.at
	}
}

// literal reads n bytes of a word.
func (l *lexer) literal(n int) {
	l.begin()
	l.at += n
}

// keywords lists the words after which a command begins.
func keywords() []string {
	return []string{"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"}
}

// endWord ends the current word. The word may be the name of the program.
func (l *lexer) endWord() {
	f := l.top()
	if !f.inWord {
		return
	}
	word := unquote(l.text[f.start:l.at])
	if len(f.words) > 0 || !slices.Contains(keywords(), word) && !l.assigns(f) {
		f.words = append(f.words, word)
	}
	switch {
	case word == "case" && len(l.frames) > 1: // the patterns of a case end with an unpaired parenthesis
		l.barred = "must not follow a case in parentheses"
	case slices.Contains([]string{"declare", "typeset", "local", "integer"}, word):
		l.barred = "must not follow " + word + ": shells execute the values of integer variables"
	}
	f.inWord = false
}

// assigns reports whether the current word of a command is an assignment.
func (l *lexer) assigns(f *frame) bool {
	if !f.inWord {
		return false
	}
	name, _, found := strings.Cut(l.text[f.start:l.at], "=")
	return found && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// field reads a field, which begins with "{{".
func (l *lexer) field() error {
	u, size := field(l.text[l.at:])
	if size == 0 && l.top().kind != commands { // text in quotes, such as a Go template
		l.at += 2
		return nil
	}
	if size == 0 || !slices.ContainsFunc(Fields(), func(f Field) bool { return f.Name == u.field }) {
		name, _, _ := strings.Cut(l.text[l.at:]+"\n", "\n")
		if size > 0 {
			name = l.text[l.at : l.at+size]
		}
		return fmt.Errorf("%s is not a field; use one of %s", name, FieldNames())
	}
	if err := l.refuse(); err != nil {
		return fmt.Errorf("%s: %w", l.text[l.at:l.at+size], err)
	}
	f := l.top()
	u.option = !f.inWord && (!slices.Contains(f.words, "--") || u.quoted)
	l.begin()
	l.keep()
	l.template.pieces = append(l.template.pieces, piece{use: len(l.template.uses)})
	l.template.uses = append(l.template.uses, u)
	l.at += size
	l.kept = l.at
	return nil
}

// keep adds the text before the current position to the template.
func (l *lexer) keep() {
	if l.at > l.kept {
		l.template.pieces = append(l.template.pieces, piece{text: l.text[l.kept:l.at]})
	}
	l.kept = l.at
}
