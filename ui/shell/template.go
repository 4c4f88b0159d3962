package shell

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"electop/election/sanitize"
)

// Field is a part of an election or session that a template can contain as {{Name}}.
type Field struct{ Name, About string }

// Fields lists the fields of templates.
func Fields() []Field {
	return []Field{
		{"election", "the name of the election"},
		{"key", "the key of the election"},
		{"leader", "the leader as the dashboard displays it"},
		{"session", "the ID of the session"},
		{"node", "the node of the session or, without a leader, the node of the last leader"},
		{"datacenter", "the datacenter"},
		{"value", "the value of the key"},
	}
}

// FieldNames lists the fields in the form that templates use: {{election}}, {{key}}.
func FieldNames() string {
	var names []string
	for _, f := range Fields() {
		names = append(names, "{{"+f.Name+"}}")
	}
	return strings.Join(names, ", ")
}

// Template is a command for sh with fields. A shell never parses the values of the fields, because it receives them
// as positional parameters.
type Template struct {
	pieces []piece
	uses   []use
}

// piece is a text of the script or, if text is empty, the use of a field.
type piece struct {
	text string
	use  int
}

// use is a field in a template.
type use struct {
	field string
	// quoted is set for {{quote field}}: the value is a word for another shell.
	quoted bool
	// option is set if a program could read a value that begins with "-" as an option.
	option bool
}

// Command is a template with the values of its fields.
type Command struct {
	// Script is the argument of sh -c. It refers to Args as "${1}", "${2}" and so on.
	Script string
	Args   []string
	// Shown contains the parts of the command that the shell runs. Values are quoted but not sanitized.
	Shown []Part
}

// Part is a part of a command. Value is set if the part is the value of a field.
type Part struct {
	Text  string
	Value bool
}

// Expand returns the command with these values. It returns an error if the value of a used field is missing or is not
// safe as an argument.
func (t Template) Expand(values map[string]string) (Command, error) {
	var c Command
	for _, u := range t.uses {
		value := values[u.field]
		if err := u.check(value); err != nil {
			return Command{}, err
		}
		if u.quoted {
			value = Quote(value)
		}
		c.Args = append(c.Args, value)
	}
	var script strings.Builder
	for _, p := range t.pieces {
		if p.text != "" {
			script.WriteString(p.text)
			c.Shown = append(c.Shown, Part{Text: p.text})
			continue
		}
		fmt.Fprintf(&script, `"${%d}"`, p.use+1)
		c.Shown = append(c.Shown, Part{Text: Quote(c.Args[p.use]), Value: true})
	}
	c.Script = script.String()
	return c, nil
}

// check returns an error for a value that a program could misinterpret. It rejects control characters, because a
// terminal may execute them when a program prints the value.
func (u use) check(value string) error {
	plain := value
	if u.field == "value" {
		plain = strings.NewReplacer("\n", "", "\t", "").Replace(value)
	}
	switch {
	case value == "":
		return fmt.Errorf("the %s is empty or unknown", u.field)
	case sanitize.Text(plain) != plain:
		return fmt.Errorf("the %s contains control or invisible characters", u.field)
	case u.option && strings.HasPrefix(value, "-") && u.quoted:
		return fmt.Errorf(`the %s begins with "-": a program could read it as an option`, u.field)
	case u.option && strings.HasPrefix(value, "-"):
		return fmt.Errorf(`the %s begins with "-": a program could read it as an option; put -- before the field`, u.field)
	}
	return nil
}

// ParseTemplate parses a template. A template can contain {{field}}, and {{quote field}} for a program that passes its
// arguments to another shell, such as ssh. Fields are allowed only where a shell reads an argument.
func ParseTemplate(text string) (Template, error) {
	if strings.TrimSpace(text) == "" {
		return Template{}, errors.New("the command is empty")
	}
	l := &lexer{text: text, frames: []frame{{}}}
	for l.at < len(l.text) {
		if err := l.step(); err != nil {
			return Template{}, err
		}
	}
	l.keep()
	if len(l.frames) > 1 {
		return Template{}, fmt.Errorf("%s is not closed", l.top().opening())
	}
	return l.template, nil
}

// field reads the field at the start of a text that begins with "{{". size is 0 if there is no field.
func field(text string) (u use, size int) {
	inside, _, closed := strings.Cut(text[2:], "}}")
	words := strings.Fields(inside)
	if !closed || len(words) == 0 || strings.ContainsFunc(inside, func(r rune) bool {
		return !unicode.IsLetter(r) && r != '_' && r != '-' && r != ' '
	}) {
		return use{}, 0
	}
	if len(words) > 1 && words[0] == "quote" {
		u.quoted, words = true, words[1:]
	}
	u.field = strings.Join(words, " ")
	return u, len(inside) + len("{{}}")
}
