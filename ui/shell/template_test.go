package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"electop/ui/shell"
)

func fields(with string) map[string]string {
	values := map[string]string{}
	for _, f := range shell.Fields() {
		values[f.Name] = with
	}
	return values
}

func shown(c shell.Command) string {
	var b strings.Builder
	for _, p := range c.Shown {
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestTemplatesAndWhatTheyShow(t *testing.T) {
	for _, c := range []struct{ text, script, shown string }{
		{"printf '%s' {{key}}", `printf '%s' "${1}"`, "printf '%s' 'a b'"},
		{"ssh -- {{ node }} journalctl -u {{quote election}}", `ssh -- "${1}" journalctl -u "${2}"`, `ssh -- 'a b' journalctl -u ''\''a b'\'''`},
		{"x={{value}}; printf '%s' \"$x\"", `x="${1}"; printf '%s' "$x"`, `x='a b'; printf '%s' "$x"`},
		{`echo "$(echo {{node}})" --at={{key}}:{{session}}`, `echo "$(echo "${1}")" --at="${2}":"${3}"`, `echo "$(echo 'a b')" --at='a b':'a b'`},
		{"docker ps --format '{{.Names}}' -- {{node}}", `docker ps --format '{{.Names}}' -- "${1}"`, "docker ps --format '{{.Names}}' -- 'a b'"},
		{"if true; then echo {{node}}; fi # {{node}", `if true; then echo "${1}"; fi # {{node}`, "if true; then echo 'a b'; fi # {{node}"},
		{`echo \{{node}}`, `echo \{{node}}`, `echo \{{node}}`},
		{"echo it", "echo it", "echo it"},
		{"(cd /tmp && ls {{key}})", `(cd /tmp && ls "${1}")`, "(cd /tmp && ls 'a b')"},
		{"printf -- '-%s' {{key}} | grep -v x | tee -a f 2>&1", `printf -- '-%s' "${1}" | grep -v x | tee -a f 2>&1`, "printf -- '-%s' 'a b' | grep -v x | tee -a f 2>&1"},
		{"while read -r x 2>/dev/null; do echo \\\n{{key}} >f; done", "while read -r x 2>/dev/null; do echo \\\n\"${1}\" >f; done", "while read -r x 2>/dev/null; do echo \\\n'a b' >f; done"},
		{`(x=$(echo {{key}}); [ "$x" = {{key}} ])`, `(x=$(echo "${1}"); [ "$x" = "${2}" ])`, `(x=$(echo 'a b'); [ "$x" = 'a b' ])`},
		{`echo "$(( (1+(2)) << 2 )) $((16#ff))"`, `echo "$(( (1+(2)) << 2 )) $((16#ff))"`, `echo "$(( (1+(2)) << 2 )) $((16#ff))"`},
		{"set -eu -o pipefail; echo {{key}}", `set -eu -o pipefail; echo "${1}"`, "set -eu -o pipefail; echo 'a b'"},
		{"case {{node}} in a) echo {{key}};; esac", `case "${1}" in a) echo "${2}";; esac`, "case 'a b' in a) echo 'a b';; esac"},
	} {
		parsed, err := shell.ParseTemplate(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, err := parsed.Expand(fields("a b"))
		if err != nil || got.Script != c.script || shown(got) != c.shown {
			t.Errorf("%s: %v\n%s\n%s\nwant\n%s\n%s", c.text, err, got.Script, shown(got), c.script, c.shown)
		}
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"", "is empty"},
		{" \n", "is empty"},
		{"echo {{nod}}", "{{nod}} is not a field; use one of {{election}}, {{key}}"},
		{"echo {{Node}}", "{{Node}} is not a field"},
		{"echo {{quote}}", "{{quote}} is not a field"},
		{"echo {{raw node}}", "{{raw node}} is not a field"},
		{"echo {{node", "{{node is not a field"},
		{"echo {{.Node}}", "{{.Node}} is not a field"},
		{"echo '{{node}}'", "{{node}}: a field must not be in quotes"},
		{`echo "at {{node}}"`, "must not be in quotes"},
		{`echo "$(echo "{{node}}")"`, "must not be in quotes"},
		{"echo '{{nod}}'", "{{nod}} is not a field"},
		{"echo `echo {{node}}`", "use $(…)"},
		{"echo ${x:-{{node}}}", "must not be in ${…}"},
		{"echo $(( {{value}} + 1 ))", "a command with (( or $[ must not contain fields"},
		{"((x={{value}}))", "with (( or $["},
		{"x={{value}}; echo $((x+1))", "with (( or $["},
		{"echo $(( (1+(2)) + {{value}} ))", "with (( or $["},
		{"echo $(\\\n( {{value}} ))", "with (( or $["},
		{"echo $[ {{value}} ]", "with (( or $["},
		{"echo ${x:$(echo {{value}})}", "must not be in ${…}"},
		{"echo `echo $(echo {{value}})`", "use $(…)"},
		{"{{value}} now", "must not be the program"},
		{"A=1 {{value}}", "must not be the program"},
		{"true && {{value}}", "must not be the program"},
		{"if {{value}}; then :; fi", "must not be the program"},
		{"./{{node}}.sh", "must not be the program"},
		{"echo $({{value}})", "must not be the program"},
		{"eval {{value}}", "an argument of eval"},
		{`"eval" {{value}}`, "an argument of eval"},
		{`\eval {{value}}`, "an argument of eval"},
		{`e'v'a"l" {{value}}`, "an argument of eval"},
		{"ev\\\nal {{value}}", "an argument of eval"},
		{`$"eval" {{value}}`, "an argument of eval"},
		{`$'eval' {{value}}`, "must not follow $'"},
		{"eval >|f {{value}}", "must not follow < or >"},
		{"eval <(echo) x {{value}}", "must not follow < or >"},
		{"unset x=(a) y {{value}}", "must not follow a function or an array"},
		{"f() { echo {{value}}; }; f", "must not follow a function or an array"},
		{"command eval {{value}}", "an argument of eval"},
		{"time -p eval {{value}}", "an argument of eval"},
		{`eval "$(echo {{value}})"`, "an argument of eval"},
		{"eval 2>&1 {{value}}", "must not follow < or >"},
		{"eval &>f {{value}}", "must not follow < or >"},
		{">f eval {{value}}", "must not follow < or >"},
		{">f {{value}}", "must not follow < or >"},
		{"echo >&{{value}}", "must not follow < or >"},
		{"echo >&$(echo {{value}})", "must not follow < or >"},
		{"eval $(case x in a) :;; esac) x {{value}}", "must not follow a case in parentheses"},
		{"eval $(f() { :; }; f) x {{value}}", "must not follow a function or an array"},
		{"printf -v {{value}} x", "an argument of printf -v"},
		{"printf -v{{value}} x", "an argument of printf -v"},
		{"[ -v {{value}} ]", "an argument of [ -v"},
		{"test ! -v {{value}}", "an argument of test -v"},
		{"wait -n -p {{value}}", "an argument of wait -p"},
		{"local {{value}}", "must not follow local"},
		{"declare -i x; x={{value}}", "must not follow declare"},
		{"set -- a; echo {{node}}", "must not follow set"},
		{"shift\necho {{node}}", "must not follow shift"},
		{"a[ {{value}} ]=1", "must not be in a subscript"},
		{"alias x={{value}}", "an argument of alias"},
		{"mapfile -C {{value}} x", "an argument of mapfile"},
		{"if (true) then {{value}}; fi", "must not be the program"},
		{"case x in (x) {{value}};; esac", "must not be the program"},
		{"$(echo {{value}})", "must not be the program"},
		{`"x"={{value}}`, "must not be the program"},
		{"[[ {{value}} -eq 1 ]]", "an argument of [["},
		{"unset {{value}}", "an argument of unset"},
		{"trap {{value}} EXIT", "an argument of trap"},
		{"cat <<END\n{{value}}\nEND", "must not follow <<"},
		{"echo 'it", "' is not closed"},
		{`echo "$(date`, "( is not closed"},
	} {
		if _, err := shell.ParseTemplate(c.text); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v, want %s", c.text, err, c.problem)
		}
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ template, value, problem string }{
		{"echo {{node}}", "", "the node is empty or unknown"},
		{"echo {{node}}", "a\x1b]52;c;aGk=\x07", "the node contains control or invisible characters"},
		{"echo {{node}}", "a\nb", "control or invisible"},
		{"echo {{node}}", "a\u202eb", "control or invisible"},
		{"echo {{value}}", "a\x00", "control or invisible"},
		{"echo {{value}}", "\xff", "control or invisible"},
		{"ssh {{node}}", "-oProxyCommand=id", "put -- before the field"},
		{"ssh x -- a | ssh {{node}}", "-oProxyCommand=id", "put -- before the field"},
		{"ssh \\\n{{node}}", "-oProxyCommand=id", "put -- before the field"},
		{"ssh -- x {{quote node}}", "-a", "could read it as an option"},
		{"ssh -- {{node}}", "-oProxyCommand=id", ""},
		{"ssh --host={{node}}", "-oProxyCommand=id", ""},
		{"echo {{value}}", "{\n\t\"a\": 1\n}", ""},
	} {
		parsed, err := shell.ParseTemplate(c.template)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parsed.Expand(fields(c.value))
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s with %q: %v, want %q", c.template, c.value, err, c.problem)
		}
	}
}

// shells returns the installed shells that may be sh.
func shells(t *testing.T) (paths []string) {
	t.Helper()
	for _, name := range []string{"sh", "dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// run returns what a command prints in a shell, and whether it created the file canary.
func run(t *testing.T, program string, c shell.Command) (out string, canary bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-c", c.Script, "electop"}, c.Args...)...)
	cmd.Dir = t.TempDir()
	text, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %s: %v", program, c.Script, err)
	}
	_, err = os.Stat(filepath.Join(cmd.Dir, "canary"))
	return string(text), err == nil
}

// No shell executes a value, whatever it contains. {{quote}} has the same property for a second shell.
func TestNoShellExecutesAValue(t *testing.T) {
	templates := []string{
		`printf '%s\0' {{value}} {{node}}`,
		`x={{value}} y={{node}}; printf '%s\0' "$x" "$y"`,
		`printf '%s\0' "$(printf '%s' {{value}})" {{node}}`,
		`set -- {{value}} {{node}}; printf '%s\0' "$@"`,
		`for v in {{value}} {{node}}; do printf '%s\0' "$v"; done`,
		`sh -c "printf '%s\0' $(printf '%s ' {{quote value}} {{quote node}})"`,
	}
	values := []string{
		"$(touch canary)", "`touch canary`", "; touch canary", "a\ntouch canary", "'; touch canary; '", `"; touch canary; "`, "| touch canary",
		"&& touch canary", "a[$(touch canary)]", "${x:=$(touch canary)}", "\\", "'", `"`, "*", "~", "# x", "a  b", "!!", "%s%n", "$0 $1 $@", "{{node}}", "é",
	}
	for _, text := range templates {
		parsed, err := shell.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			c, err := parsed.Expand(map[string]string{"value": value, "node": "node-1"})
			if err != nil {
				t.Fatal(err)
			}
			for _, program := range shells(t) {
				if out, canary := run(t, program, c); canary || out != value+"\x00node-1\x00" {
					t.Errorf("%s: %s with %q printed %q, executed %v", program, text, value, out, canary)
				}
			}
		}
	}
}

// What the user sees is the command that runs.
func TestShownCommandIsTheOneThatRuns(t *testing.T) {
	parsed, err := shell.ParseTemplate(`printf '%s,' {{value}} x{{key}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"a b", "it's", "$(id)", "é", "*"} {
		c, err := parsed.Expand(fields(value))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := run(t, "sh", c)
		want, _ := run(t, "sh", shell.Command{Script: shown(c)})
		if got != want || got != value+",x"+value+"," {
			t.Errorf("%q: %q, shown %q", value, got, want)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"echo {{node}}", `echo "$(echo {{node}})" 'a' ${x} $((1)) # x`, "cat <<x\n", "`", "\\", "{{quote node}}"} {
		f.Add(seed, "$(touch canary)")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		parsed, err := shell.ParseTemplate(text)
		if err != nil {
			t.Skip()
		}
		c, err := parsed.Expand(fields(value))
		if err != nil {
			t.Skip()
		}
		for i, arg := range c.Args {
			if arg != value && arg != shell.Quote(value) {
				t.Errorf("argument %d of %q is %q, not %q", i, text, arg, value)
			}
		}
	})
}
