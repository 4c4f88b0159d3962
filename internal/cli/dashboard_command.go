package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode"

	"electop/consulx"
	"electop/election/sanitize"
	"electop/internal/crash"
	"electop/internal/supervise"
	"electop/ui"
)

const commandsTemplate = `
# Commands that the key ! of the dashboard runs for the selected election or session. command is the command for sh -c;
# docs/settings.md lists its variables.
#commands:
#  - name: logs
#    command: ssh -- "$ELECTOP_NODE" journalctl -n 50 -u "$ELECTOP_ELECTION_QUOTED"
#    key: l
#    description: the leader's latest log lines
#    confirm: false
`

// commandTextLength is the maximum length of a command's name, description and start error, in runes.
const commandTextLength = 100

// commandFields are the settings of a command. The first two are required.
func commandFields() []string { return []string{"name", "command", "key", "description", "confirm"} }

// parseCommands returns the commands of the config file.
func parseCommands(all []settings) (commands []ui.Command, err error) {
	seen := map[string]bool{}
	for i, s := range all {
		text := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(s)) {
			v := s[name]
			fail := func(format string, args ...any) error {
				return v.errorf("commands.%d.%s: %s", i+1, name, fmt.Sprintf(format, args...))
			}
			text[name] = strings.Join(v.values, "")
			switch runes := []rune(text[name]); {
			case !slices.Contains(commandFields(), name):
				return nil, fail("unknown setting; must be one of %s", strings.Join(commandFields(), ", "))
			case len(v.values) != 1:
				return nil, fail("must have one value")
			case (name == "name" || name == "description") && (text[name] == "" || sanitize.Line(text[name], commandTextLength) != text[name]):
				return nil, fail("must have 1 to %d visible characters on one line", commandTextLength)
			case name == "key" && (len(runes) != 1 || !unicode.IsLetter(runes[0])):
				return nil, fail("must be one letter")
			case name == "confirm" && text[name] != "true" && text[name] != "false":
				return nil, fail("must be true or false")
			case (name == "name" || name == "key") && seen[name+text[name]]:
				return nil, fail("another command has the same %s: %q", name, text[name])
			}
			seen[name+text[name]] = true
		}
		for _, name := range commandFields()[:2] {
			if strings.TrimSpace(text[name]) == "" {
				return nil, fmt.Errorf("commands.%d: %s is missing", i+1, name)
			}
		}
		commands = append(commands, ui.Command{
			Name: text["name"], About: text["description"], Key: text["key"], Confirm: text["confirm"] == "true", Command: ui.Template(text["command"]),
		})
	}
	return commands, nil
}

// commandEnvironment returns the environment of a command, with which programs connect to the Consul agent of the
// dashboard. It never adds the token: the token stays in the variables, files and contexts that the user chose.
func (b *dashboard) commandEnvironment() []string {
	e := b.datacenters[0].client.Endpoint() // electop uses the same agent for all datacenters
	set := map[string]string{contextEnv: b.o.context, environment("token-file"): b.o.consul.TokenFile}
	for name, value := range map[string]string{
		"http-addr": e.URL, "namespace": e.Namespace, "partition": e.Partition, "ca-file": e.CAFile, "ca-path": e.CAPath,
		"client-cert": e.ClientCert, "client-key": e.ClientKey, "tls-server-name": e.TLSServerName,
	} {
		set[environment(name)] = value
	}
	all := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		value, found := set[name]
		return found && (value != "" || name == contextEnv)
	})
	for name, value := range set {
		if value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// returnPrompt makes sh wait at the end of a script, so that the user can read the output. ctrl-c ends the script or the
// wait, and not both.
const returnPrompt = `trap 'exit 130' INT; trap 'exit 131' QUIT
trap 'electop=$?; trap : INT; printf "\nelectop: the command ended with exit code %s. Press Enter to return. " $electop; read -r REPLY; exit $electop' EXIT
`

// commandRunner returns the function that makes the process of a command. It returns nil if the system has no process
// groups.
func (b *dashboard) commandRunner(ctx context.Context) func(ui.ShellCommand) *exec.Cmd {
	if !supervise.Supported {
		return nil
	}
	return func(c ui.ShellCommand) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sh", "-c", returnPrompt+c.Script, "electop")
		cmd.Env, cmd.Stderr = append(b.commandEnvironment(), c.Env...), os.Stdout
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = execGrace
		return cmd
	}
}

// Doctor checks what the address and the token can read and do. It names the datacenters if there are several. It
// checks them concurrently, so that a datacenter that does not respond does not delay the others.
func (b *dashboard) Doctor(ctx context.Context) ([]ui.DoctorRow, error) {
	rows, failed := make([][]ui.DoctorRow, len(b.datacenters)), make([]error, len(b.datacenters))
	var checks sync.WaitGroup
	for i, c := range b.datacenters {
		crash.Go(&checks, func() { rows[i], failed[i] = c.doctor(ctx) })
	}
	checks.Wait()
	if len(b.datacenters) == 1 {
		return rows[0], failed[0]
	}
	var problems []string
	for i, c := range b.datacenters {
		for j := range rows[i] {
			rows[i][j].Subject = sanitize.Line(c.Datacenter(), 40) + ": " + rows[i][j].Subject
		}
		if failed[i] != nil {
			problems = append(problems, c.fail(failed[i]).Error())
		}
	}
	if len(problems) > 0 {
		return slices.Concat(rows...), errors.New(strings.Join(problems, "; "))
	}
	return slices.Concat(rows...), nil
}

// doctor checks one datacenter. Its error is one line without secrets.
func (c *datacenter) doctor(ctx context.Context) ([]ui.DoctorRow, error) {
	report, err := consulx.Doctor(ctx, c.client, c.Patterns())
	if err != nil {
		err = errors.New(c.client.Redact(consulx.Describe(err)))
	}
	return doctorRows(report), err
}
