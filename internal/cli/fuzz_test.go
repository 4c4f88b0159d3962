package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/consul/api"

	"electop/election/sanitize"
	"electop/internal/memconsul"
)

// commandTime bounds one command.
const commandTime = 500 * time.Millisecond

// hostile returns the seeds of the fuzz tests in this file.
func hostile() []string {
	return []string{
		"\x1b[2J\x1b]0;owned\x07", "\u009b31m\u202e", "a\nb\r\tc", "\xff\xfe\x00", "e\u0301\u0302\u0303", "👨\u200d👩🏽🇩🇪\ufe0f", "ᄀ\u1161क\u094dषก\u0e33", "\u2028\u00ad\ue000\U000e0041",
		`{"Limit":2,"Holders":{"\u001b[2J":true}}`, `{"name":"\u009b\u202e"}`, "%s%n\x1b[31m", "-\x1b", "`\u202e`", "//..//.", "\"\x7f\"",
	}
}

// checkOutput fails if the output contains control characters other than line feeds.
func checkOutput(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		for _, r := range line {
			if s := "a" + string(r); sanitize.Text(s) != s {
				t.Errorf("%s: the output contains %U: %q", what, r, line)
				return
			}
		}
		if !utf8.ValidString(line) {
			t.Errorf("%s: not UTF-8: %q", what, line)
		}
	}
}

// firstLine cancels a command after its first line.
type firstLine struct {
	buffer
	end context.CancelFunc
}

func (f *firstLine) Write(p []byte) (int, error) {
	defer f.end()
	return f.buffer.Write(p)
}

// commandLines are commands that show data of Consul. "then" separates two commands that run one after the other.
func commandLines(key, node string) [][]string {
	return [][]string{
		{"list"}, {"list", "-o", "json"}, {"list", "--advice"}, {"list", "--advice", "-o", "json"}, {"show", key}, {"show", key, "-o", "json"},
		{"doctor"}, {"doctor", "-o", "json"}, {"watch"}, {"watch", "-o", "json"}, {"release", key}, {"destroy", key},
		{"__complete", "show", ""}, {"__complete", "list", key}, {"list", "nothing"},
		{"wait", key, "--vacant", "--timeout", "50ms"}, {"wait", key, "--leader", node, "--timeout", "50ms", "-o", "json"},
		{"rescue", "--dry-run"}, {"rescue", "--dry-run", "-o", "json"}, {"drain", node, "--dry-run"}, {"drain", node}, {"drill", key},
		{"show", key, "--probe"}, {"watch", "then", "history"}, {"watch", "then", "history", "--terms"}, {"watch", "then", "history", "--stats"},
		{"watch", "then", "history", "--stats"}, {"watch", "then", "report", key},
	}
}

// asksFirst are the commands that request a confirmation.
var asksFirst = []string{"release", "destroy", "drain", "drill"}

// checkCommand runs a command line and checks its output.
func checkCommand(t *testing.T, addr string, args ...string) {
	t.Helper()
	if i := slices.Index(args, "then"); i > 0 {
		patterns := slices.Index(args, "-k")
		checkCommand(t, addr, append(slices.Clone(args[:i]), args[patterns:]...)...)
		args = args[i+1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	var out io.Writer = &buffer{}
	if args[0] == "watch" {
		out = &firstLine{end: cancel}
	}
	errOut := &buffer{}
	d := deps{stdin: strings.NewReader("n\n"), stdout: out, stderr: errOut, interactive: slices.Contains(asksFirst, args[0])}
	run(ctx, d, append([]string{"--http-addr", addr}, args...))
	text := strings.ReplaceAll(out.(fmt.Stringer).String(), "\t", "") // completion separates descriptions by tabs
	checkOutput(t, fmt.Sprintf("%q", args), text)
	checkOutput(t, fmt.Sprintf("%q on standard error", args), errOut.String())
	for i, arg := range args {
		if arg == "json" && args[i-1] == "-o" && args[0] != "watch" && args[0] != "rescue" && text != "" && !json.Valid([]byte(text)) {
			t.Errorf("%q: not JSON: %s", args, text)
		}
	}
}

// FuzzCommandsOnHostileConsul runs commands on arbitrary keys, values, sessions and checks.
func FuzzCommandsOnHostileConsul(f *testing.F) {
	for i, seed := range hostile() {
		f.Add(seed, seed, seed, uint64(0), uint8(i))
		f.Add(seed, seed, seed, uint64(0), uint8(len(hostile())+i))
		f.Add("web", seed, "name", uint64(api.SemaphoreFlagValue), uint8(i))
	}
	f.Fuzz(func(t *testing.T, name, value, text string, flags uint64, command uint8) {
		agent := memconsul.New(memconsul.Config{NodeName: text, Datacenter: "dc1"})
		server := httptest.NewServer(agent)
		defer server.Close()
		defer agent.Close()
		key := "service/" + name + "/leader"
		plant(t, server.Listener.Addr().String(), key, value, text, flags)
		lines := commandLines(key, text)
		checkCommand(t, server.Listener.Addr().String(), append(lines[int(command)%len(lines)], "-k", "service/**")...)
	})
}

// plant stores an election if Consul accepts it.
func plant(t *testing.T, addr, key, value, text string, flags uint64) {
	t.Helper()
	client, err := api.NewClient(&api.Config{Address: addr, HttpClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}})
	must(t, err)
	_ = client.Agent().ServiceRegister(&api.AgentServiceRegistration{
		ID: text, Name: "web", Check: &api.AgentServiceCheck{CheckID: "c" + text, Name: text, TTL: "1h", Status: api.HealthWarning},
	})
	_ = client.Agent().UpdateTTL("c"+text, text, api.HealthWarning)
	session, _, err := client.Session().Create(&api.SessionEntry{
		Name: text, NodeChecks: []string{}, ServiceChecks: []api.ServiceCheck{{ID: "c" + text}}, Behavior: "release",
	}, nil)
	if err != nil {
		if session, _, err = client.Session().CreateNoChecks(&api.SessionEntry{Name: text}, nil); err != nil {
			t.Skip("no session")
		}
	}
	verb := api.KVLock
	if flags == api.SemaphoreFlagValue {
		verb = api.KVSet
	}
	_, _, _, _ = client.Txn().Txn(api.TxnOps{{KV: &api.KVTxnOp{Verb: verb, Key: key, Value: []byte(value), Flags: flags, Session: session}}}, nil)
	_, _, _, _ = client.Txn().Txn(api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: key + "/" + session, Value: []byte(value), Flags: flags, Session: session}}}, nil)
}
