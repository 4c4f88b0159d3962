package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordTest is a run of record that serves its history.
type recordTest struct {
	*job
	url  string
	file string
}

// recordOn starts `record` on a free port with these flags.
func recordOn(w *testConsul, args ...string) *recordTest {
	w.T.Helper()
	r := &recordTest{file: historyFile(w.T)}
	address := freeAddress(w.T)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "ADDRESS", address)
	}
	r.url = "http://" + address
	r.job = w.background(append([]string{"record", "--history", r.file}, args...)...)
	eventually(w.T, "listener", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return r
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// get reads a path without a token.
func (r *recordTest) get(path string) (int, string) {
	r.t.Helper()
	response, err := http.Get(r.url + path)
	must(r.t, err)
	r.t.Cleanup(http.DefaultClient.CloseIdleConnections)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(r.t, err)
	return response.StatusCode, string(text)
}

func TestRecordIsUnhealthyWithoutConsul(t *testing.T) {
	t.Parallel()
	slow(t)
	w, agent := onMemoryThatEnds(t)
	w.acquire("service/web/leader", w.session(), "a")
	r := recordOn(w, "--metrics", "ADDRESS")
	eventually(t, "healthy recorder", func() bool { code, _ := r.get("/healthz"); return code == 200 })
	source, err := (&options{history: r.url}).historyClient()
	must(t, err)
	defer source.Close()
	warnings := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := func(ctx context.Context) string { return checkRecorder(ctx, source) }
	go watchHistory(ctx, check, warnings)
	eventually(t, "observation", func() bool { return checkRecorder(t.Context(), source) == "" })
	agent()
	if line := await(t, "warning", warnings); line != "history: the recorder does not observe elections at present" {
		t.Error(line)
	}
	eventually(t, "unhealthy recorder", func() bool {
		code, text := r.get("/healthz")
		return code == 503 && strings.HasPrefix(text, "the connection to Consul has been lost since 20") && strings.Count(text, "\n") == 1
	})
	if _, text := r.get("/metrics"); !strings.Contains(text, "electop_store_connected 0\n") || strings.Contains(text, "electop_election_has_leader{") {
		t.Error(text)
	}
}

func TestActionsAreSentToTheRecorder(t *testing.T) {
	slow(t)
	w := onMemory(t)
	a := w.session()
	w.acquire("service/web/leader", a, "a")
	token := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	r := recordOn(w, "--listen", "ADDRESS", "--bearer-token-file", token)
	eventually(t, "healthy recorder", func() bool { code, _ := r.get("/healthz"); return code == 200 })
	without := w.run("release", "web", "--yes", "--history", r.url).must(exitOK)
	without.hasErr("electop: the release of service/web/leader may be missing from the history: history at " + r.url + ": a token is required; use --history-token-file")
	b := w.session()
	w.acquire("service/web/leader", b, "b")
	eventually(t, "recorded term 2", func() bool {
		return strings.Contains(w.run("history", "--history", r.url, "--history-token-file", token).out, "b, term 2")
	})
	t.Setenv(historyTokenEnv, "wrong") // the flag takes precedence
	if with := w.run("release", "web", "--yes", "--history", r.url, "--history-token-file", token).must(exitOK); strings.Contains(with.errOut, "history") {
		t.Error(with.errOut)
	}
	w.run("history", "--history", r.url).must(exitFailed).hasErr("history at " + r.url + ": the token was rejected (HTTP 401)\n")
	t.Setenv(historyTokenEnv, "secret")
	want := "operator_release by " + userAtHost()
	eventually(t, want, func() bool { return strings.Contains(w.run("history", "--terms", "--history", r.url).out, want) })
}

func TestWatchStoresNothingLocallyWithARecorder(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	w := led(t, 1)
	events := w.background("watch", "--history", "http://127.0.0.1:1", "-k", "service/*/leader")
	events.next()
	if got := events.stop().must(exitOK).errOut; got != "" {
		t.Error(got)
	}
	if files, _ := filepath.Glob(filepath.Join(state, "*")); len(files) > 0 {
		t.Error(files)
	}
}
