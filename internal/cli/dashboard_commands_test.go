package cli

import (
	"fmt"
	"strings"
	"testing"

	"electop/consulx"
	"electop/etcdx"
	"electop/ui/shell"
)

// The output of a command remains on the screen until the user presses Enter, even if the script calls exit.
func TestCommandWaitsForEnter(t *testing.T) {
	client, err := consulx.NewClient(consulx.Config{Address: "127.0.0.1:1"})
	must(t, err)
	b := &dashboard{options: &options{}, datacenters: []*datacenter{{lookup: lookup{store: consul{client}}}}}
	for script, want := range map[string]string{
		"echo a; exit 3": "a\n\nelectop: the command ended with exit code 3. Press Enter to return. ",
		"true":           "\nelectop: the command ended with exit code 0. Press Enter to return. ",
		"kill -INT $$":   "\nelectop: the command ended with exit code 130. Press Enter to return. ",
	} {
		cmd := b.commandRunner(t.Context())(shell.Command{Script: script}, "dc1")
		var out strings.Builder
		cmd.Stdin, cmd.Stdout = strings.NewReader("\n"), &out
		if _ = cmd.Run(); out.String() != want {
			t.Errorf("%s: %q, want %q", script, out.String(), want)
		}
	}
}

// Programs in a command connect to the Consul of the dashboard, and electop uses the same context. The environment
// gets no secret.
func TestEnvironmentOfCommands(t *testing.T) {
	for name, value := range map[string]string{
		"CONSUL_HTTP_ADDR": "http://other:8500", "CONSUL_HTTP_TOKEN": "", "CONSUL_HTTP_TOKEN_FILE": "", contextEnv: "other", "CONSUL_NAMESPACE": "kept",
	} {
		t.Setenv(name, value)
	}
	client, err := consulx.NewClient(consulx.Config{Address: "127.0.0.1:1", Token: "5ec2e7aa-0000-4000-8000-abadcafe0001"})
	must(t, err)
	one := &datacenter{lookup: lookup{store: consul{client}, of: clusterFlags{context: "prod", consul: consulx.Config{TokenFile: "/run/token"}}}}
	b := &dashboard{datacenters: []*datacenter{one}}
	env := b.commandEnvironment("dc1")
	for _, want := range []string{"CONSUL_HTTP_ADDR=http://127.0.0.1:1", "ELECTOP_CONTEXT=prod", "CONSUL_HTTP_TOKEN_FILE=/run/token", "CONSUL_NAMESPACE=kept"} {
		if got := entryOf(env, want); got != want {
			t.Errorf("%s: %q", want, got)
		}
	}
	if strings.Contains(strings.Join(env, "\n"), "5ec2e7aa") {
		t.Error("the environment of a command contains the token")
	}
	one.of.context = ""
	if got := entryOf(b.commandEnvironment("dc1"), contextEnv+"="); got != contextEnv+"=" {
		t.Errorf("without a context: %q", got)
	}
	t.Setenv("ETCDCTL_USER", "root:5ec2e7")
	e, err := newEtcd(etcdFlags{endpoints: "127.0.0.1:1", Options: etcdx.Options{User: "root:5ec2e7"}})
	must(t, err)
	t.Cleanup(e.Close)
	one.store = e
	for _, want := range []string{"CONSUL_HTTP_ADDR=", "ETCDCTL_ENDPOINTS=127.0.0.1:1", "ETCDCTL_USER=root:5ec2e7"} {
		if got := entryOf(b.commandEnvironment("dc1"), want); got != want {
			t.Errorf("etcd: %s: %q", want, got)
		}
	}
}

// entryOf returns the last entry of an environment that has the name of another entry: it applies.
func entryOf(env []string, other string) (last string) {
	name, _, _ := strings.Cut(other, "=")
	for _, entry := range env {
		if strings.HasPrefix(entry, name+"=") {
			last = entry
		}
	}
	return last
}

func TestCommandsOfTheSettings(t *testing.T) {
	const text = "commands:\n  - name: logs\n    key: l\n    description: the log\n    confirm: true\n    command: |\n      echo $ELECTOP_NODE\n      echo\n  - {name: b, command: ls}\n"
	withConfig(t, text)
	file, err := new(options).readConfig()
	must(t, err)
	all := file.commands
	if err != nil || len(all) != 2 || all[0].Name != "logs" || all[0].Key != "l" || all[0].About != "the log" || !all[0].Confirm || all[1].Confirm {
		t.Fatalf("%+v %v", all, err)
	}
	if c, err := all[0].Command.Expand(map[string]string{"ELECTOP_NODE": "n"}); err != nil || c.Script != "echo $ELECTOP_NODE\necho\n" {
		t.Errorf("%+v %v", c, err)
	}
}

// The page of :doctor has the rows of electop doctor, without the token.
func TestDoctorOfTheDashboard(t *testing.T) {
	const token = "5ec2e7aa-0000-4000-8000-abadcafe0001"
	rows, err := idle(t, "--http-addr", "127.0.0.1:1", "--token", token).Doctor(t.Context())
	if err == nil || len(rows) != 0 || strings.Contains(err.Error(), token) {
		t.Errorf("%+v %v", rows, err)
	}
	rows, err = idle(t, "--http-addr", onMemory(t).Addr, "--token", token).Doctor(t.Context())
	text := fmt.Sprint(rows, err)
	has(t, text, "address", "consensus leader", "keys service/*/leader", "ok")
	if strings.Contains(text, token) {
		t.Error("the page contains the token")
	}
}
