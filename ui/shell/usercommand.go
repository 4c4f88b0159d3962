package shell

import (
	"fmt"
	"strings"

	"electop/election/sanitize"
)

// Field is an environment variable with a part of an election or session. About describes it.
type Field struct{ Name, About string }

// Fields lists the variables of commands. Each has a second variable with the suffix _QUOTED: the value as one word for
// another shell, such as that of ssh.
func Fields() []Field {
	return []Field{
		{"ELECTOP_ELECTION", "the name of the election"},
		{"ELECTOP_KEY", "the key of the election"},
		{"ELECTOP_LEADER", "the leader as the dashboard displays it"},
		{"ELECTOP_SESSION", "the ID of the session"},
		{"ELECTOP_NODE", "the node of the session or, without a leader, the node of the last leader"},
		{"ELECTOP_DATACENTER", "the datacenter"},
		{"ELECTOP_VALUE", "the value of the key"},
	}
}

// FieldNames lists the variables: ELECTOP_ELECTION, ELECTOP_KEY.
func FieldNames() string {
	var names []string
	for _, f := range Fields() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// Template is a command for sh that uses variables of [Fields].
type Template string

// Command is a template with the values of its variables.
type Command struct {
	Script string   // the argument of sh -c
	Env    []string // every variable of Fields, with a value only if the script names it
	// Shown is the script, and then each variable with its quoted but not sanitized value on a line of its own.
	Shown []Part
}

// Part is a part of a command. Value is set if the part is a value.
type Part struct {
	Text  string
	Value bool
}

// Expand returns the command with these values, by the names of the variables. It returns an error if the script uses a
// value that is missing or unsafe.
func (t Template) Expand(values map[string]string) (Command, error) {
	c := Command{Script: string(t), Shown: []Part{{Text: strings.TrimRight(string(t), "\n")}}}
	for _, f := range Fields() {
		value := values[f.Name]
		if !strings.Contains(c.Script, f.Name) {
			value = "" // a value that the script does not use may be unsafe
		} else if err := check(f.Name, value); err != nil {
			return Command{}, err
		} else {
			c.Shown = append(c.Shown, Part{Text: "\n" + f.Name + "="}, Part{Text: Quote(value), Value: true})
		}
		c.Env = append(c.Env, f.Name+"="+value, f.Name+"_QUOTED="+Quote(value))
	}
	return c, nil
}

// valueLimit is the maximum length of a value in bytes. The kernel does not start a command with a longer variable.
const valueLimit = 100_000

// check returns an error for a value that a program could misinterpret. It rejects control characters, because a
// terminal may execute them when a program prints the value.
func check(name, value string) error {
	plain := value
	if name == "ELECTOP_VALUE" {
		plain = strings.NewReplacer("\n", "", "\t", "").Replace(value)
	}
	switch {
	case value == "":
		return fmt.Errorf("%s is empty or unknown", name)
	case sanitize.Text(plain) != plain:
		return fmt.Errorf("%s contains control or invisible characters", name)
	case strings.HasPrefix(value, "-"):
		return fmt.Errorf(`%s begins with "-": a program could read it as an option`, name)
	case len(value) > valueLimit:
		return fmt.Errorf("%s is too long for an environment variable", name)
	}
	return nil
}
