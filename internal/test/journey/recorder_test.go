package journey

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is an `electop record` on one stage.
type recorder struct {
	t         *testing.T
	url, file string
}

// record starts a recorder with a token and waits until it observes Consul.
func (s *stage) record(tokenFile string) *recorder {
	s.T.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(s.T, err)
	address := l.Addr().String()
	l.Close()
	r := &recorder{t: s.T, url: "http://" + address, file: filepath.Join(s.T.TempDir(), "h.db")}
	cmd := exec.Command(program, "record", "--http-addr", s.Addr, "-k", s.prefix+"/*/leader", "--history", r.file,
		"--listen", address, "--bearer-token-file", tokenFile)
	cmd.Stderr = os.Stderr
	must(s.T, cmd.Start())
	s.T.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			s.T.Error("record:", err)
		}
	})
	if !poll(func() bool {
		response, err := http.Get(r.url + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	}) {
		s.T.Fatal("timeout while waiting for a healthy recorder")
	}
	s.T.Cleanup(http.DefaultClient.CloseIdleConnections)
	return r
}

// awaitTerms waits until the output of `electop history --terms` contains the text.
func (r *recorder) awaitTerms(text string) {
	r.t.Helper()
	if !poll(func() bool { return strings.Contains(history(r.t, r.url, "history", "--terms"), text) }) {
		r.t.Fatalf("no %q in\n%s", text, history(r.t, r.url, "history", "--terms"))
	}
}

// token writes a token to a file, and returns an environment that contains the token.
func token(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("a-token\n"), 0o600))
	t.Setenv("ELECTOP_HISTORY_TOKEN", "a-token")
	return file
}

func TestDashboardUsesARecordersHistory(t *testing.T) {
	s, file := newStage(t), token(t)
	r := s.record(file)
	term := s.open(120, 36, "--history", r.url, "--history-token-file", file)
	term.await("1 led", "web-a")
	term.keys("r")
	term.await("Release web", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	r.awaitTerms("operator_release by ")
	term.keys("q")
	term.await("left with 0")
}
