package shell_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"electop/ui/shell"
)

func expand(script, value string) (shell.Command, error) {
	values := map[string]string{}
	for _, f := range shell.Fields() {
		values[f] = value
	}
	return shell.Template(script).Expand(values)
}

// A shell never parses a value, not even the second shell of a quoted one.
func TestNoShellExecutesAValue(t *testing.T) {
	for _, value := range []string{"$(touch x)", "`touch x`", "a;touch x", "'", `"; touch x; "`, "*", "a  b", "é"} {
		for _, script := range []string{`printf '%s' "$ELECTOP_NODE"`, `sh -c "printf %s $ELECTOP_NODE_QUOTED"`} {
			c, err := expand(script, value)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", c.Script)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), c.Env...)
			out, err := cmd.Output()
			if err != nil || string(out) != value {
				t.Errorf("%s, %q: %q %v", script, value, out, err)
			}
			if files, err := os.ReadDir(cmd.Dir); err != nil || len(files) > 0 {
				t.Errorf("%q was executed: %v %v", value, files, err)
			}
		}
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ script, value, reason string }{
		{"echo $ELECTOP_NODE", "", "ELECTOP_NODE is empty or unknown"},
		{"echo $ELECTOP_NODE", "a\nb", "ELECTOP_NODE contains control or invisible characters"},
		{"echo $ELECTOP_VALUE", "a\x1b[2J", "ELECTOP_VALUE contains control or invisible characters"},
		{"echo $ELECTOP_KEY", "-rf", `ELECTOP_KEY begins with "-"`},
		{"echo $ELECTOP_VALUE", strings.Repeat("a", 200_000), "ELECTOP_VALUE is too long"},
		{"echo $ELECTOP_VALUE", "a\n\tb", ""},
		{"echo", "\x1b", ""}, // no value is used
	} {
		cmd, err := expand(c.script, c.value)
		switch {
		case c.reason == "" && (err != nil || c.value == "\x1b" && strings.Contains(strings.Join(cmd.Env, ""), "\x1b")):
			t.Errorf("%+v: %v", c, err)
		case c.reason != "" && (err == nil || !strings.HasPrefix(err.Error(), c.reason)):
			t.Errorf("%.40q: %v, want %s", c.value, err, c.reason)
		}
	}
}
