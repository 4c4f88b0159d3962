package cli

import (
	"context"
	"errors"
	"fmt"
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
	"electop/internal/procgroup"
	"electop/internal/settings"
	"electop/ui"
)

// commandsSetting describes the setting that contains the user's commands for the dashboard.
func commandsSetting() settings.Setting {
	return settings.Setting{
		Name: "commands", Kind: settings.Sections, CheckFields: repeatedCommand,
		About: "Commands that the key ! of the dashboard runs for the selected election or session.",
		Fields: []settings.Setting{
			{Name: "name", About: "The name in the menu.", Required: true, Example: "logs", Check: oneLine},
			{
				Name: "command", Required: true, Example: "ssh -- {{node}} journalctl -n 50 -u {{quote election}}",
				About: "The command for sh -c. Fields: " + ui.TemplateFieldNames() + ". Use {{quote FIELD}} for a second shell, such as the shell of ssh.",
				Check: func(values []string) error { _, err := ui.ParseTemplate(values[0]); return err },
			},
			{Name: "key", About: "A letter that selects the command in the menu.", Example: "l", Check: oneLetter},
			{Name: "description", About: "The text that the menu shows next to the name.", Example: "the leader's latest log lines", Check: oneLine},
			{Name: "confirm", Kind: settings.Bool, About: "Whether the user must confirm the command.", Example: "false"},
		},
	}
}

// commandTextLength is the maximum length of a command's name, description and start error, in runes.
const commandTextLength = 100

func oneLine(values []string) error {
	if text := values[0]; text == "" || sanitize.Line(text, commandTextLength) != text {
		return fmt.Errorf("must have 1 to %d visible characters on one line", commandTextLength)
	}
	return nil
}

func oneLetter(values []string) error {
	r := []rune(values[0])
	if len(r) != 1 || !unicode.IsLetter(r[0]) {
		return errors.New("must be one letter")
	}
	return nil
}

// repeatedCommand returns an error if two commands have the same name or key.
func repeatedCommand(items []settings.Value) (string, error) {
	seen := map[[2]string]bool{}
	for _, item := range items {
		for _, name := range []string{"name", "key"} {
			field := item.Field(name)
			if field == nil {
				continue
			}
			value := [2]string{name, field.Texts[0]}
			if seen[value] {
				return item.Name, fmt.Errorf("%s.%s: another command has the same %s: %q", item.Name, name, name, field.Texts[0])
			}
			seen[value] = true
		}
	}
	return "", nil
}

// commandsOf returns the commands of the settings, which Parse has checked.
func commandsOf(items []settings.Value) ([]ui.Command, error) {
	var all []ui.Command
	for _, item := range items {
		text := func(name string) string {
			if field := item.Field(name); field != nil {
				return field.Texts[0]
			}
			return ""
		}
		template, err := ui.ParseTemplate(text("command"))
		if err != nil {
			return nil, err
		}
		all = append(all, ui.Command{
			Name: text("name"), About: text("description"), Key: text("key"), Confirm: text("confirm") == "true", Command: template,
		})
	}
	return all, nil
}

// commandEnvironment returns the environment of a command, with which programs connect to the Consul agent of the
// dashboard. It never adds the token: the token stays in the variables, files and contexts that the user chose.
func (b dashboard) commandEnvironment() []string {
	e := b.datacenters[0].client.Endpoint() // electop uses the same agent for all datacenters
	set := map[string]string{contextEnv: b.screen.context, environment("token-file"): b.screen.tokenFile}
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
func (b dashboard) commandRunner(ctx context.Context) func(ui.ShellCommand) *exec.Cmd {
	if !procgroup.Supported {
		return nil
	}
	return func(c ui.ShellCommand) *exec.Cmd {
		cmd := shellCommand(ctx, ui.ShellCommand{Script: returnPrompt + c.Script, Args: c.Args}, b.commandEnvironment())
		cmd.Stderr = os.Stdout
		return cmd
	}
}

// shellCommand returns the process that runs a command. The arguments are positional parameters, which sh does not
// parse as code.
func shellCommand(ctx context.Context, c ui.ShellCommand, env []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", c.Script, "electop"}, c.Args...)...)
	cmd.Env = env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = execGrace
	return cmd
}

// doctor checks what the address and the token can read and do. It names the datacenters if there are several. It
// checks them concurrently, so that a datacenter that does not respond does not delay the others.
func (b dashboard) doctor(ctx context.Context) ([]ui.DoctorRow, error) {
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
	report, err := consulx.Doctor(ctx, c.client, c.observer.Patterns())
	rows := make([]ui.DoctorRow, len(report.Rows))
	for i, r := range report.Rows {
		rows[i] = ui.DoctorRow{Subject: r.Subject, Status: ui.DoctorStatus(r.Status), Detail: r.Detail, Rule: r.Rule}
	}
	if err != nil {
		err = errors.New(c.client.Redact(consulx.Describe(err)))
	}
	return rows, err
}
