package shell

import (
	"fmt"
	"strings"
)

// Fields lists the variables of commands with the parts of an election or session; docs/settings.md describes them. Each has
// a second variable with the suffix _QUOTED: the value as one word for another shell, such as that of ssh.
func Fields() []string {
	return strings.Fields("ELECTOP_ELECTION ELECTOP_KEY ELECTOP_LEADER ELECTOP_SESSION ELECTOP_NODE ELECTOP_DATACENTER ELECTOP_VALUE")
}

// Template is a command for sh that uses variables of [Fields].
type Template string

// Command is a template with the values of its variables.
type Command struct {
	Script string   // the argument of sh -c
	Env    []string // every variable of Fields, with a value only if the script names it
	// Used contains the names and the quoted but not sanitized values of the variables that the script names.
	Used [][2]string
}

// Expand returns the command with these values, by the names of the variables. It returns an error if the script uses a
// value that is missing or unsafe.
func (t Template) Expand(values map[string]string) (Command, error) {
	c := Command{Script: string(t)}
	for _, name := range Fields() {
		value := values[name]
		if !strings.Contains(c.Script, name) {
			value = "" // a value that the script does not use may be unsafe
		} else if err := check(name, value); err != nil {
			return Command{}, err
		} else {
			c.Used = append(c.Used, [2]string{name, Quote(value)})
		}
		c.Env = append(c.Env, name+"="+value, name+"_QUOTED="+Quote(value))
	}
	return c, nil
}

// valueLimit is the maximum length of a value in bytes. The kernel does not start a command with a longer variable.
const valueLimit = 100_000

// check returns an error for a value that a program could misinterpret.
func check(name, value string) error {
	switch {
	case value == "":
		return fmt.Errorf("%s is empty or unknown", name)
	case unsafe(value, name == "ELECTOP_VALUE"):
		return fmt.Errorf("%s contains control or invisible characters", name)
	case strings.HasPrefix(value, "-"):
		return fmt.Errorf(`%s begins with "-": a program could read it as an option`, name)
	case len(value) > valueLimit:
		return fmt.Errorf("%s is too long for an environment variable", name)
	}
	return nil
}
