package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"go.yaml.in/yaml/v3"

	"electop/election/sanitize"
	"electop/internal/supervise"
	"electop/ui/pages"
	"electop/ui/shell"
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

// commandTextLength is the maximum length of a command's name and description, in runes.
const commandTextLength = 100

// parseCommands returns the commands of the config file.
func parseCommands(nodes []yaml.Node) (commands []pages.Command, err error) {
	seen := map[string]bool{}
	for i := range nodes {
		var s struct {
			pages.Command `yaml:",inline"`
			Unknown       map[string]any `yaml:",inline"`
		}
		if err := nodes[i].Decode(&s); err != nil {
			return nil, err
		}
		key, problem := []rune(s.Key), ""
		switch {
		case len(s.Unknown) > 0:
			problem = fmt.Sprintf("unknown setting %q; must be one of name, command, key, description, confirm", slices.Sorted(maps.Keys(s.Unknown))[0])
		case s.Name == "" || strings.TrimSpace(string(s.Command.Command)) == "":
			problem = "name or command is missing"
		case sanitize.Line(s.Name, commandTextLength) != s.Name || sanitize.Line(s.About, commandTextLength) != s.About:
			problem = fmt.Sprintf("name and description must have at most %d visible characters", commandTextLength)
		case s.Key != "" && (len(key) != 1 || !unicode.IsLetter(key[0])):
			problem = "key must be one letter"
		case seen["name "+s.Name], seen["key "+s.Key]:
			problem = "another command has the same name or key"
		}
		if problem != "" {
			return nil, fmt.Errorf("line %d: commands.%d: %s", nodes[i].Line, i+1, problem)
		}
		seen["name "+s.Name], seen["key "+s.Key] = true, s.Key != ""
		commands = append(commands, s.Command)
	}
	return commands, nil
}

// commandEnvironment returns the environment of a command, with which programs connect to the store of the
// dashboard. It never adds the token: the token stays in the variables, files and contexts that the user chose.
func (b *dashboard) commandEnvironment(datacenter string) []string {
	// An inherited address of Consul would select Consul although the dashboard shows etcd.
	all := append(os.Environ(), environment("http-addr")+"=")
	c, err := b.find(datacenter)
	if err != nil {
		return all
	}
	all = append(all, contextEnv+"="+c.of.context)
	if file := c.of.consul.TokenFile; file != "" {
		all = append(all, environment("token-file")+"="+file)
	}
	for _, f := range c.Flags() {
		if env := environment(f[0]); env != "" && f[1] != "" {
			all = append(all, env+"="+f[1]) // of several entries with one name, the last applies
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
func (b *dashboard) commandRunner(ctx context.Context) func(c shell.Command, datacenter string) *exec.Cmd {
	if !supervise.Supported {
		return nil
	}
	return func(c shell.Command, datacenter string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sh", "-c", returnPrompt+c.Script, "electop")
		cmd.Env, cmd.Stderr = append(b.commandEnvironment(datacenter), c.Env...), os.Stdout
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = execGrace
		return cmd
	}
}
