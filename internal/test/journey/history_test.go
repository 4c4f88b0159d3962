package journey

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// history runs a command that reads a history.
func history(t *testing.T, file string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, append(args, "--history", file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestDashboardRecordsEventsAndActions(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "state", "h.db")
	term := s.open(120, 36, "--history", file)
	term.await("1 led", "web-a")
	term.keys("r")
	term.await("Release web", "y release")
	term.keys("y")
	term.await("1 vacant", "no leader")
	s.acquire("web", s.b, "web-b")
	term.await("web-a on node-1 → web-b")
	out, err := exec.Command(program, "release", "web", "--yes", "--history", file, "--http-addr", s.Addr, "-k", s.prefix+"/*/leader").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	term.await("1 vacant", " released the lock with electop", "@") // by another operator
	term.keys("q")
	term.await("left with 0")
	terms := history(t, file, "history", "--terms")
	for _, want := range []string{"web-a", "operator_release by ", "web-b"} {
		if !strings.Contains(terms, want) {
			t.Errorf("no %q in\n%s", want, terms)
		}
	}
	if report := history(t, file, "report", "web"); strings.Count(report, "operator_release: released with electop by ") < 2 {
		t.Errorf("the action is missing:\n%s", report)
	}
}

func TestDashboardContinuesWithoutAHistory(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "h.db")
	must(t, os.WriteFile(file, []byte(strings.Repeat("not a database ", 100)), 0o600))
	term := s.open(120, 36, "--history", file)
	term.await("1 led", "web-a", "! continuing without history: not an electop history file")
	term.keys("q")
	screen := term.await("left with 0", "not an electop history file")
	if strings.Count(screen, "electop: ") != 1 {
		t.Errorf("electop printed more than one line:\n%s", screen)
	}
}

// A recorder that never answers does not delay the board.
func TestDashboardOpensBesideASilentRecorder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	term := s.open(120, 36, "--history", "http://"+silent.Addr().String())
	if screen := term.await("1 led", "web-a", "≥"); strings.Contains(screen, "! history") {
		t.Errorf("the board waited for the history:\n%s", screen)
	}
	term.await("1 led", "! history at ", "request timed out")
}

// If the history file of a running dashboard is moved, the dashboard continues without history.
func TestDashboardContinuesWhenItsHistoryIsMoved(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	file := filepath.Join(t.TempDir(), "h.db")
	term := s.open(120, 36, "--history", file)
	term.await("1 led", "web-a")
	if !poll(func() bool {
		out, _ := exec.Command(program, "history", "--terms", "--history", file).Output()
		return strings.Contains(string(out), "web-a")
	}) {
		t.Fatal("the term was not recorded")
	}
	must(t, os.Rename(file, file+".old"))
	term.await("! continuing without history: the file was deleted, moved or replaced", "1 led")
}

// recorded runs a recorder while the session of web's leader is destroyed, and returns the history after the recorder
// has ended.
func recorded(t *testing.T, s *stage) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "h.db")
	recorder := exec.Command(program, "record", "--http-addr", s.Addr, "-k", s.prefix+"/*/leader", "--history", file)
	must(t, recorder.Start())
	stop := sync.OnceFunc(func() {
		_ = recorder.Process.Signal(os.Interrupt)
		_ = recorder.Wait()
	})
	defer stop()
	terms := func() string { // the file may not exist yet
		out, _ := exec.Command(program, "history", "--terms", "--history", file).Output()
		return string(out)
	}
	if !poll(func() bool { return strings.Contains(terms(), "web-a") }) {
		t.Fatalf("the term was not recorded:\n%s", terms())
	}
	s.Destroy(s.a)
	if !poll(func() bool { return strings.Contains(terms(), "session_expired_or_destroyed") }) {
		t.Fatalf("the cause was not recorded:\n%s", terms())
	}
	stop()
	return file
}

func TestDashboardOpenedDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"Consul is up": "", "Consul is down": "127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			file := recorded(t, s)
			if address == "" {
				address = s.Addr
			}
			screen := outage(t, s, address, file)
			if address == "127.0.0.1:1" && !strings.Contains(screen, "From the history, observed until") {
				t.Errorf("the board does not show that its data is from the history:\n%s", screen)
			}
		})
	}
}

// outage opens the dashboard with a history in which web has lost its leader.
func outage(t *testing.T, s *stage, address, history string) (screen string) {
	t.Helper()
	term := open(t, 120, 36, nil, program, "--http-addr", address, "-k", s.prefix+"/*/leader", "--history", history)
	screen = term.await("No leader for", "Last leader", "web-a", "Lost at", "Lost because", "expired or was destroyed")
	term.keys("2") // the events are from the history
	term.await("vacated", "web-a, term 1 · session_expired_or_destroyed")
	term.keys("q")
	term.await("left with 0")
	return screen
}
