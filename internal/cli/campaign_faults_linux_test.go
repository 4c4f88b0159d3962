package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"electop/internal/consultest"
)

// hangs returns an address at which Consul no longer responds after a request whose path or body contains text.
func (w *testConsul) hangs(text string) (addr string, hanging *atomic.Bool) {
	hanging = &atomic.Bool{}
	return consultest.ReverseProxy(w.T, w.Addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(r.URL.Path, text) || bytes.Contains(body, []byte(text)) {
			hanging.Store(true)
		}
		if hanging.Load() {
			<-r.Context().Done()
			return
		}
		forward.ServeHTTP(rw, r)
	}), hanging
}

func TestASecondSignalEndsElectopAtOnce(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, tt := range map[string]struct {
		text string // text of the first request to which Consul does not respond
		args []string
	}{
		"campaign": {"unlock", []string{"campaign", "job"}},
		"release":  {"unlock", []string{"release", "web", "--yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := onMemory(t)
			w.acquire("service/web/leader", w.session(), "web-1")
			addr, hanging := w.hangs(tt.text)
			p := start(t, os.Args[0], append([]string{"--http-addr", addr}, tt.args...)...)
			if name == "campaign" {
				eventually(t, "leader", func() bool { pair := w.Get("service/job/leader"); return pair != nil && pair.Session != "" })
			} else {
				eventually(t, "write", hanging.Load)
			}
			interruptTwice(t, p.Cmd)
			has(t, p.errOut.String(), "electop: ended at once by a second signal: a write or a program in progress may still complete")
		})
	}
}

// interruptTwice sends signals until the process ends, and checks its exit code.
func interruptTwice(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for again := time.Tick(repeatedSignal * 2); ; {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Log(err) // the process has just ended
		}
		select {
		case <-again:
			continue
		case <-ended:
		}
		break
	}
	if code := cmd.ProcessState.ExitCode(); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

// Nothing reads the pipe, so the output of list blocks.
func TestASecondSignalEndsABlockedWrite(t *testing.T) {
	slow(t)
	r, out, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd := exec.Command(electop(t), "--http-addr", led(t, 300).Addr, "list", "-o", "json")
	cmd.Stdout = out
	must(t, cmd.Start())
	_ = out.Close()
	_, err = r.Read(make([]byte, 1))
	must(t, err)
	interruptTwice(t, cmd)
}

func TestAnInterruptedReadIsNotReportedAsALostConnection(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(), "web-1")
	for _, tt := range []struct {
		code int
		args []string
	}{{exitFailed, []string{"release", "web", "--yes"}}, {128 + int(syscall.SIGTERM), []string{"campaign", "web"}}} {
		addr, hanging := w.hangs("/v1/")
		p := start(t, os.Args[0], append([]string{"--http-addr", addr}, tt.args...)...)
		eventually(t, "request", hanging.Load)
		must(t, p.Process.Signal(syscall.SIGTERM))
		_ = p.Wait() // its exit code is checked below
		if code, text := p.ProcessState.ExitCode(), p.errOut.String(); code != tt.code || strings.Contains(text, "cannot reach") {
			t.Errorf("%v: exit code %d, want %d: %s", tt.args, code, tt.code, text)
		}
	}
}
