package cli

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

// complete returns the words that a shell offers for the last argument, and cobra's directive.
func (w *testConsul) complete(args ...string) (offered []string, directive string) {
	w.t.Helper()
	// The address must follow __complete, because cobra completes the arguments after __complete.
	var out, errOut buffer
	d := deps{stdin: strings.NewReader(""), stdout: &out, stderr: &errOut}
	if code := run(w.t.Context(), d, slices.Concat([]string{"__complete", "--http-addr", w.addr}, args)); code != exitOK {
		w.t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		offered = append(offered, word)
	}
	last := len(offered) - 1
	if text := errOut.String(); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "Completion ended with directive: ") {
		w.t.Errorf("stderr: %s", text)
	}
	return offered[:last], offered[last]
}

const noFiles, files = ":4", ":0"

func (w *testConsul) offers(want []string, directive string, args ...string) {
	w.t.Helper()
	var got []string
	var d string
	if !completes(func() bool {
		got, d = w.complete(args...)
		return slices.Equal(got, want) && d == directive
	}) {
		w.t.Errorf("%q: %q %s, want %q %s", args, got, d, want, directive)
	}
}

// completes tries a completion several times, because it offers nothing if Consul responds too late.
func completes(offered func() bool) bool {
	for range 20 {
		if offered() {
			return true
		}
	}
	return false
}

func TestCompletionOfElections(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	s := w.session(nil)
	for _, name := range []string{"mail", "web", "web-2", "$(reboot)", "a b", "-rf", "x;y"} {
		w.acquire(p+"/"+name+"/leader", s, "x")
	}
	key := "--key=" + p + "/*/leader"
	for _, command := range []string{"list", "show", "watch", "release", "destroy", "campaign", "wait", "drill", "rescue"} {
		w.offers([]string{"web", "web-2"}, noFiles, key, command, "w")
	}
	w.offers([]string{"mail", "web", "web-2"}, noFiles, key, "list", "")
	w.offers([]string{"mail", "web-2"}, noFiles, key, "list", "web", "")
	w.offers(nil, noFiles, key, "show", "web", "")
	w.offers(nil, files, key, "campaign", "web", "--", "./ba")
	w.offers([]string{"web", "web-2"}, noFiles, key, "drain", "node-1", "--exclude", "w")
	w.offers([]string{"web", "web-2"}, noFiles, key, "drain", "--include", "w")
}

func TestCompletionOfNodes(t *testing.T) {
	w := onMemory(t)
	p := prefix(t) + "-"
	for _, name := range []string{p + "b", p + "a", p + "`c`"} {
		if _, err := w.client.Catalog().Register(&api.CatalogRegistration{Node: name, Address: "127.0.0.1"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.offers([]string{p + "a", p + "b"}, noFiles, "drain", p)
	w.offers([]string{p + "b"}, noFiles, "drain", p+"a", p)
	w.offers([]string{p + "a", p + "b"}, noFiles, "release", "--node", p)
	w.offers([]string{p + "a", p + "b"}, noFiles, "destroy", "--node", p)
}

func TestCompletionReadsTheConfigFile(t *testing.T) {
	w := onMemory(t)
	w.acquire("jobs/night/lock", w.session(nil), "x")
	config := writeConfig(t, "key: ['jobs/*/lock']")
	w.offers([]string{"night"}, noFiles, "--config", config, "show", "")
	w.offers(nil, noFiles, "--config", writeConfig(t, "key: ["), "show", "")
}

// A shell must neither wait for a Consul that does not respond nor print its error.
func TestCompletionWithoutConsul(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, end := onMemoryThatEnds(t)
	end()
	for _, addr := range []string{silent.Addr().String(), closed.addr} {
		w := &testConsul{t: t, addr: addr}
		w.offers(nil, noFiles, "show", "")
		w.offers(nil, noFiles, "drain", "")
		w.offers(nil, noFiles, "history", "--history", "http://"+addr, "")
	}
}

func TestCompletionOfFixedValues(t *testing.T) {
	w := onMemory(t)
	w.offers([]string{"table", "json"}, noFiles, "history", "--output", "")
	w.offers([]string{"release", "delete"}, noFiles, "campaign", "--behavior", "")
	for _, list := range [][]string{{"watch", "--type", "elected", "vacated"}, {"history", "--cause", "released", "key_deleted"}, {"--preset", "vault", "patroni"}} {
		args, given, other := list[:len(list)-2], list[len(list)-2], list[len(list)-1]
		got, _ := w.complete(append(args, given+",")...)
		if !slices.Contains(got, given+","+other) || slices.Contains(got, given+","+given) {
			t.Errorf("%q: %q", args, got)
		}
	}
	w.offers(nil, files, "--ca-file", "")
	if got, _ := w.complete("list", "--filter", "web st"); !slices.Contains(got, "web state:") {
		t.Errorf("--filter: %q", got)
	}
	for _, flag := range []string{"--ca-path", "--token-file"} {
		if got, _ := w.complete("list", flag); !slices.Contains(got, flag) {
			t.Errorf("%s: %q", flag, got)
		}
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
