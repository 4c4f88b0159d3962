package journey

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// While `electop watch` is stopped, it does not observe, so it must not report durations that include this time. Then it
// does not wait for pending responses, because their connections may be dead.
func TestAStoppedWatchReportsNoDurationsOfThatTime(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	client, key := st.API, st.key("web")
	lock := func(do func(*api.KVPair, *api.WriteOptions) (bool, *api.WriteMeta, error), id string) {
		if ok, _, err := do(&api.KVPair{Key: key, Session: id}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	one, two := st.a, st.b

	queries := make(chan uint64, 1000) // the index after which a query of the keys waits for a change, or 0
	addr := consultest.ReverseProxy(t, st.Addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if strings.HasPrefix(r.URL.Path, "/v1/kv/") && r.URL.Query().Has("recurse") {
			index, _ := strconv.ParseUint(r.URL.Query().Get("index"), 10, 64)
			queries <- index
		}
		forward.ServeHTTP(w, r)
	})
	cmd := exec.Command(program, "--http-addr", addr, "-k", st.prefix+"/*/leader", "--history", "off", "watch", "-o", "json")
	// The process has a separate group. If a process of the test's group were stopped, the kernel would send SIGHUP
	// to that group when the shell that started the test ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	type event struct {
		Type, Session, Vacancy string
		HeldKnown              *bool `json:"held_known"`
		Initial                bool
	}
	lines := bufio.NewScanner(out)
	next := func(kind string) (e event) {
		for e.Type != kind {
			if !lines.Scan() {
				t.Fatal("watch ended: ", lines.Err())
			}
			e = event{}
			must(t, json.Unmarshal(lines.Bytes(), &e))
		}
		return e
	}
	if e := next("elected"); e.Session != one || !e.Initial {
		t.Fatalf("%+v", e)
	}
	lock(client.KV().Release, one)
	lock(client.KV().Acquire, two)
	if e := next("elected"); e.Session != two {
		t.Fatalf("%+v", e)
	}

	held, _, err := client.KV().Get(key, nil)
	must(t, err)
	for <-queries < held.ModifyIndex { // otherwise, the next query could begin after the process continued
	}
	// The process must stay stopped for some time.
	must(t, cmd.Process.Signal(syscall.SIGSTOP))
	awaitStopped(t, cmd.Process.Pid)
	stopped := time.NewTimer(6 * time.Second)
	lock(client.KV().Release, two)
	<-stopped.C
	lock(client.KV().Acquire, one)
	for len(queries) > 0 {
		<-queries
	}
	must(t, cmd.Process.Signal(syscall.SIGCONT))
	if <-queries > 0 {
		t.Error("watch continued to wait for a response after it was stopped")
	}
	if e := next("vacated"); e.HeldKnown == nil || *e.HeldKnown {
		t.Errorf("the end of the term is reported as observed: %+v", e)
	}
	if e := next("elected"); e.Session != one || e.Vacancy != "" {
		t.Errorf("the vacancy is reported as observed: %+v", e)
	}
}

// awaitStopped waits until a signal has stopped every thread of a process.
func awaitStopped(t *testing.T, pid int) {
	t.Helper()
	running := func(file string) bool {
		text, err := os.ReadFile(file)
		_, state, _ := strings.Cut(string(text), ") ")
		return err == nil && !strings.HasPrefix(state, "T")
	}
	stopped := poll(func() bool {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		must(t, err)
		return !slices.ContainsFunc(files, running)
	})
	if !stopped {
		t.Fatal("the process did not stop")
	}
}
