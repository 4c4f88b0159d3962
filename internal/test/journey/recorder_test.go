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
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	r := &recorder{t: s.t, url: "http://" + address, file: filepath.Join(s.t.TempDir(), "h.db")}
	cmd := exec.Command(program, "record", "--http-addr", s.agent.Addr(), "-k", s.prefix+"/*/leader", "--history", r.file,
		"--listen", address, "--bearer-token-file", tokenFile)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			s.t.Error("record:", err)
		}
	})
	if !poll(func() bool {
		response, err := http.Get(r.url + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil && response.StatusCode == http.StatusOK
	}) {
		s.t.Fatal("timeout while waiting for a healthy recorder")
	}
	s.t.Cleanup(http.DefaultClient.CloseIdleConnections)
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
	if err := os.WriteFile(file, []byte("a-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ELECTOP_HISTORY_TOKEN", "a-token")
	return file
}

func TestCommandsReadARecordersHistory(t *testing.T) {
	s, file := newStage(t), token(t)
	r := s.record(file)
	if _, err := s.agent.Client().Session().Destroy(s.a, nil); err != nil {
		t.Fatal(err)
	}
	s.acquire("web", s.b, "web-b")
	r.awaitTerms("session_expired_or_destroyed")
	r.awaitTerms("web-b")
	for _, args := range [][]string{
		{"history", "--since", "2000-01-01"}, {"history", "-o", "json"}, {"history", "web", "--terms", "-o", "json", "--cause", "session_expired_or_destroyed"},
		{"history", "-o", "json", "--type", "elected,vacated"},
	} {
		if remote, local := history(t, r.url, args...), history(t, r.file, args...); remote != local || !strings.Contains(local, "web") {
			t.Errorf("%v:\n%s\nfrom the file:\n%s", args, remote, local)
		}
	}
	if report := history(t, r.url, "report", "web"); !strings.Contains(report, "web-a") || !strings.Contains(report, "web-b") {
		t.Error(report)
	}
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

func TestDashboardContinuesWithoutItsRecorder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.open(120, 36, "--history", "http://127.0.0.1:1")
	term.await("1 led", "web-a", "! history at http://127.0.0.1:1: connection refused")
	term.keys("r")
	term.await("Release web", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	term.keys("q")
	term.await("left with 0", "may be missing from the history: history at")
}

func TestFirstFrameFromARecorderDuringAnOutage(t *testing.T) {
	s, file := newStage(t), token(t)
	r := s.record(file)
	if _, err := s.agent.Client().Session().Destroy(s.a, nil); err != nil {
		t.Fatal(err)
	}
	r.awaitTerms("session_expired_or_destroyed")
	outage(t, s, s.agent.Addr(), r.url)
	outage(t, s, "127.0.0.1:1", r.url)
}
