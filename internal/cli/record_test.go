package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recordTest is a run of record that serves its history.
type recordTest struct {
	*lines
	w    *testConsul
	url  string
	file string
}

// recordOn starts `record` on a free port with these flags.
func recordOn(w *testConsul, args ...string) *recordTest {
	w.t.Helper()
	r := &recordTest{w: w, file: historyFile(w.t)}
	address := freeAddress(w.t)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "ADDRESS", address)
	}
	r.url = "http://" + address
	r.lines = w.follow(append([]string{"record", "--history", r.file}, args...)...)
	eventually(w.t, "listener", func() bool {
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
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get reads a path without a token.
func (r *recordTest) get(path string) (int, string) {
	r.w.t.Helper()
	response, err := http.Get(r.url + path)
	if err != nil {
		r.w.t.Fatal(err)
	}
	r.w.t.Cleanup(http.DefaultClient.CloseIdleConnections)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.w.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestRecordServesItsHistory(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		pattern, key := p+"/*/leader", p+"/web/leader"
		a, b := w.session(nil), w.session(nil)
		w.acquire(key, a, "a")
		r := recordOn(w, "--metrics", "ADDRESS", "-k", pattern)
		eventually(t, "healthy recorder", func() bool { code, text := r.get("/healthz"); return code == 200 && text == "ok\n" })
		w.unlock(key, a)
		w.acquire(key, b, "b\u202e")
		eventually(t, "explanation", func() bool {
			_, text := r.get("/v1/events?type=explained")
			return strings.Contains(text, `"cause":"released"`)
		})
		for _, args := range [][]string{
			{"history"}, {"history", "-o", "json"}, {"history", "web", "--type", "elected,vacated"},
			{"history", "web", "--terms", "-o", "json", "--cause", "released"}, {"history", "-k", pattern, "--stats", "-o", "json", "--until", "2200-01-01"},
		} {
			args = append(args, "--since", "2000-01-01T00:00:00Z")
			local := w.run(append(args, "--history", r.file)...).must(t, exitOK)
			remote := w.run(append(args, "--history", r.url)...).must(t, exitOK)
			if slices.Contains(args, "--stats") { // the observed time grows
				local.out, remote.out = strings.Join(strings.Split(local.out, ",")[:2], ","), strings.Join(strings.Split(remote.out, ",")[:2], ",")
			}
			if local.out != remote.out || remote.errOut != "" || len(local.out) < 8 {
				t.Errorf("%v: from the recorder:\n%s\nfrom the file:\n%s%s", args, remote.out, local.out, remote.errOut)
			}
		}
		has(t, w.run("list", "--history", r.url).must(t, exitOK).out, key) // the recorder's patterns
		has(t, w.run("report", "web", "--history", r.url).must(t, exitOK).out, "Incident report: web", "released")
		has(t, w.run("history", "none", "--history", r.url).must(t, exitNoElection).errOut, "history: no such election: none")
		r.stop()
		has(t, r.next(), "exit code 0: electop: recording "+pattern, ", serving "+r.url)
		// Without the recorder's patterns, an action must not act on the keys of the default pattern alone.
		for _, command := range []string{"release", "destroy", "rescue"} {
			args := []string{command, "--history", r.url, "--yes"}
			if command != "rescue" {
				args = append(args, "--node", "any")
			}
			has(t, w.run(args...).must(t, exitFailed).errOut, "does not say which keys it observes", "select the keys with -k")
		}
		has(t, w.run("list", "--history", r.url).errOut, "does not say which keys it observes, so electop reads the default keys")
		r2 := w.run("history", "--history", r.url).must(t, exitFailed)
		if want := "electop: history at " + r.url + ": connection refused\n"; r2.errOut != want {
			t.Errorf("%q, want %q", r2.errOut, want)
		}
	})
}

func TestRecordIsUnhealthyWithoutConsul(t *testing.T) {
	t.Parallel()
	slow(t)
	w, agent := onMemoryThatEnds(t)
	w.acquire("service/web/leader", w.session(nil), "a")
	r := recordOn(w, "--metrics", "ADDRESS")
	eventually(t, "healthy recorder", func() bool { code, _ := r.get("/healthz"); return code == 200 })
	source, err := (&options{history: r.url}).historyClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	warnings, watched := make(chan string), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := func(ctx context.Context) string { return checkRecorder(ctx, source) }
	go func() { watched <- watchHistory(ctx, check, warnings) }()
	eventually(t, "observation", func() bool { return checkRecorder(t.Context(), source) == "" })
	agent()
	if line := await(t, "warning", warnings); line != "history: the recorder does not observe Consul at present" {
		t.Error(line)
	}
	cancel()
	if err := await(t, "end", watched); err != nil {
		t.Error(err)
	}
	eventually(t, "unhealthy recorder", func() bool {
		code, text := r.get("/healthz")
		return code == 503 && strings.HasPrefix(text, "the connection to Consul has been lost since 20") && strings.Count(text, "\n") == 1
	})
	if _, text := r.get("/metrics"); !strings.Contains(text, "electop_store_connected 0\n") || strings.Contains(text, "electop_election_has_leader{") {
		t.Error(text)
	}
}

func TestRecordSeveralDatacenters(t *testing.T) {
	t.Parallel()
	slow(t)
	onFederations(t, func(t *testing.T, f *federation) {
		f.both()
		r := recordOn(f.testConsul, "--metrics", "ADDRESS", "--datacenter", "dc1,dc2")
		eventually(t, "healthy recorder", func() bool { code, text := r.get("/healthz"); return code == 200 && text == "ok\n" })
		f.dc2.unlock("service/web/leader", f.dc2.get("service/web/leader").Session)
		explained := func(name string) string {
			return f.run("history", name, "--terms", "-o", "json", "--cause", "released", "--history", r.file).out
		}
		eventually(t, "explanation", func() bool { return strings.Contains(explained("web"), "web-in-dc2") })
		if text := explained("web"); strings.Contains(text, "web-in-dc1") || !strings.Contains(text, `"datacenter":"dc2"`) {
			t.Error(text)
		}
		eventually(t, "both datacenters", func() bool { // each has a writer
			text := f.run("history", "--terms", "--history", r.url).must(t, exitOK).out
			return strings.Contains(text, "only-dc1") && strings.Contains(text, "only-dc2")
		})
		f.run("release", "only-dc2", "--yes", "--datacenter", "dc2", "--history", r.url).must(t, exitOK)
		want := "operator_release by " + userAtHost()
		eventually(t, want, func() bool {
			return strings.Contains(f.run("history", "only-dc2", "--terms", "--history", r.url).out, want)
		})
		_, text := r.get("/metrics")
		has(t, text, `electop_election_has_leader{datacenter="dc1",election="web",key="service/web/leader"} 1`+"\n",
			`electop_election_has_leader{datacenter="dc2",election="web",key="service/web/leader"} 0`+"\n", "electop_history_writable 1\n")
		f.lose()
		eventually(t, "unhealthy recorder", func() bool {
			code, text := r.get("/healthz")
			return code == 503 && strings.HasPrefix(text, "datacenter dc2: the connection to Consul has been lost since 20") && !strings.Contains(text, "dc1")
		})
		_, text = r.get("/metrics")
		has(t, text, "electop_store_connected{datacenter=\"dc1\"} 1\n", "electop_store_connected{datacenter=\"dc2\"} 0\n")
		f.unlockHeld("service/web/leader")
		eventually(t, "term of dc1", func() bool { return strings.Contains(explained("web"), "web-in-dc1") })
		r.stop()
		has(t, r.next(), "exit code 0: electop: recording service/*/leader of dc1, dc2 at "+f.addr, "electop: connection to datacenter dc2 lost: ")
	})
}

// A datacenter that does not respond at the start is recorded as soon as it responds.
func TestRecordWithoutOneDatacenterAtTheStart(t *testing.T) {
	t.Parallel()
	slow(t)
	f := memoryFederation(t)
	f.both()
	proxied, restore := f.unreachable("dc2")
	r := recordOn(proxied, "--metrics", "ADDRESS", "--datacenter", "all")
	eventually(t, "dc1", func() bool { _, text := r.get("/v1/elections"); return strings.Contains(text, "only-dc1") })
	eventually(t, "lost connection", func() bool {
		code, text := r.get("/healthz")
		return code == 503 && strings.HasPrefix(text, "datacenter dc2: the connection to Consul has been lost since 20")
	})
	restore()
	eventually(t, "dc2", func() bool { _, text := r.get("/v1/elections"); return strings.Contains(text, "only-dc2") })
	eventually(t, "healthy recorder", func() bool { code, _ := r.get("/healthz"); return code == 200 })
	r.stop()
	has(t, r.next(), "electop: connection to datacenter dc2 lost: ", "recording service/*/leader of dc1", "electop: connection to datacenter dc2 restored")
	f.lose()
	proxied, _ = f.unreachable("dc1")
	has(t, proxied.run("record", "--history", historyFile(t), "--datacenter", "dc1,dc2").must(t, exitFailed).errOut, "electop: datacenter dc1: ")
}

func TestActionsAreSentToTheRecorder(t *testing.T) {
	slow(t)
	w := onMemory(t)
	a := w.session(nil)
	w.acquire("service/web/leader", a, "a")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := recordOn(w, "--listen", "ADDRESS", "--bearer-token-file", token)
	eventually(t, "healthy recorder", func() bool { code, _ := r.get("/healthz"); return code == 200 })
	without := w.run("release", "web", "--yes", "--history", r.url).must(t, exitOK)
	has(t, without.errOut, "electop: the release of service/web/leader may be missing from the history: history at "+r.url+": a token is required; use --history-token-file")
	b := w.session(nil)
	w.acquire("service/web/leader", b, "b")
	eventually(t, "recorded term 2", func() bool {
		return strings.Contains(w.run("history", "--history", r.url, "--history-token-file", token).out, "b, term 2")
	})
	t.Setenv(historyTokenEnv, "wrong") // the flag takes precedence
	if with := w.run("release", "web", "--yes", "--history", r.url, "--history-token-file", token).must(t, exitOK); strings.Contains(with.errOut, "history") {
		t.Error(with.errOut)
	}
	has(t, w.run("history", "--history", r.url).must(t, exitFailed).errOut, "history at "+r.url+": the token was rejected (HTTP 401)\n")
	t.Setenv(historyTokenEnv, "secret")
	want := "operator_release by " + userAtHost()
	eventually(t, want, func() bool { return strings.Contains(w.run("history", "--terms", "--history", r.url).out, want) })
}

func TestWatchStoresNothingLocallyWithARecorder(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	w := led(t, 1)
	events := w.follow("watch", "--history", "http://127.0.0.1:1", "-k", "service/*/leader")
	events.next()
	events.stop()
	if got := events.next(); got != "exit code 0: " {
		t.Error(got)
	}
	if files, _ := filepath.Glob(filepath.Join(state, "*")); len(files) > 0 {
		t.Error(files)
	}
}

// A recorder that other hosts can reach prints the command that they use, and where its token is.
func TestRecordPrintsWhatOtherHostsNeed(t *testing.T) {
	w, token := led(t, 1), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.background("record", "--history", historyFile(t), "--listen", "0.0.0.0:0", "--insecure", "--bearer-token-file", token)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "three lines", func() bool { return strings.Count(r.errOut.String(), "\n") == 3 })
	has(t, r.errOut.String(), "electop: on other hosts: electop --history http://"+host+":", " --history-token-file FILE\nelectop: FILE is a copy of "+token)
	r.stop().must(t, exitOK)
}
