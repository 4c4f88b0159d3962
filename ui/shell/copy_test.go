package shell_test

import (
	"os/exec"
	"strings"
	"testing"

	"electop/ui/shell"
)

func full() shell.Cluster {
	return shell.Cluster{Context: "prod", Flags: [][2]string{
		{"http-addr", "https://consul.example:8501"}, {"datacenter", "dc1"}, {"namespace", "team a"}, {"partition", "p"}, {"ca-file", "/etc/my ca.pem"},
		{"tls-server-name", "s"},
	}}
}

func at(url string) shell.Cluster {
	return shell.Cluster{Flags: [][2]string{{"http-addr", url}, {"datacenter", ""}}}
}

func plain() shell.Cluster { return at("http://127.0.0.1:8500") }

func TestCommandsOfAKey(t *testing.T) {
	for _, c := range []struct {
		cluster       shell.Cluster
		key, dc, want string
	}{
		{plain(), "service/web/leader", "dc1", "consul kv get -http-addr=http://127.0.0.1:8500 -datacenter=dc1 -detailed service/web/leader"},
		{plain(), "-a b/", "", "consul kv get -http-addr=http://127.0.0.1:8500 -detailed -- '-a b/'"},
		{
			full(), "it's?#%\n{a,b}[1]\x1b", "dc2",
			"consul kv get -http-addr=https://consul.example:8501 -datacenter=dc2 -namespace='team a' -partition=p -ca-file='/etc/my ca.pem' -tls-server-name=s -detailed 'it'\\''s?#%\n{a,b}[1]\x1b'",
		},
		{at("unix:///run/my consul.sock"), "a", "", "consul kv get -http-addr='unix:///run/my consul.sock' -detailed a"},
		// Consul normalizes the paths of these keys.
		{plain(), "", "", ""}, {plain(), "/a", "", ""}, {plain(), "a//b", "", ""}, {plain(), "a/../b", "", ""}, {plain(), "a/.", "", ""},
		{plain(), "\ufffd", "", ""}, {plain(), "\xff", "", ""}, {plain(), "//", "", ""},
	} {
		if got := c.cluster.KVGet(c.key, c.dc); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

func TestCommandsOfActions(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{plain().Electop([]string{"electop", "release"}, "service/a b/leader"), "electop release --http-addr=http://127.0.0.1:8500 'service/a b/leader'"},
		{plain().Electop([]string{"electop", "release", "-k", "**"}, "a", "-b"), "electop release --http-addr=http://127.0.0.1:8500 -k '**' -- a -b"},
		{
			shell.Cluster{Flags: [][2]string{{"http-addr", "http://h"}, {"datacenter", "dc2"}}, Context: "my c"}.Electop([]string{"electop", "destroy", "-k", "**", "-k", "!x/*", "a"}),
			"electop destroy --context='my c' --http-addr=http://h --datacenter=dc2 -k '**' -k '!x/*' a",
		},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// A shell splits each command into the intended words, and runs nothing else.
func FuzzCommands(f *testing.F) {
	f.Add("service/a b/leader", "dc'1")
	f.Add("$(id)`id`", "\n;id")
	f.Fuzz(func(t *testing.T, key, datacenter string) {
		if strings.Contains(key+datacenter, "\x00") {
			t.Skip()
		}
		command := plain().KVGet(key, datacenter)
		if command == "" {
			t.Skip()
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", `consul() { printf '%s\0' "$@"; }; `+command).Output()
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err != nil || words[len(words)-1] != key || datacenter != "" && words[3] != "-datacenter="+datacenter {
			t.Errorf("%s is read as %q (%v)", command, words, err)
		}
	})
}
