//go:build unix

package journey

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// shell is a terminal with a shell that has job control.
type shell struct {
	*terminal
	modes string // modes of the terminal at the start
	raw   string // file that receives every byte written to the terminal
	state string // $XDG_STATE_HOME
}

const shellPrompt = "ready> "

func openShell(t *testing.T, env ...string) *shell {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are found in /proc")
	}
	dir := t.TempDir()
	s := &shell{raw: filepath.Join(dir, "raw"), state: filepath.Join(dir, "state")}
	env = append(env, "XDG_STATE_HOME="+s.state, "HISTFILE=")
	s.terminal = open(t, 150, 30, env, "env", "PS1="+shellPrompt, "bash", "--norc", "--noprofile", "-i") // sh ignores PS1
	s.tmux("pipe-pane", "-o", "cat > "+s.raw)
	s.await(shellPrompt)
	s.modes = s.readModes()
	return s
}

// readModes returns the terminal modes of the kernel and of tmux.
func (s *shell) readModes() string {
	s.t.Helper()
	s.inForeground()
	tty := strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_tty}"))
	s.line("stty -a > " + s.raw + ".modes; echo modes-$((40+2))")
	s.await("modes-42")
	s.line("clear")
	s.gone("modes-42") // bash may first print a message about the stopped job
	modes, err := os.ReadFile(s.raw + ".modes")
	must(s.t, err)
	return tty + "\n" + string(modes) + s.tmux("display-message", "-p",
		"alternate #{alternate_on} mouse #{mouse_any_flag}#{mouse_button_flag}#{mouse_sgr_flag} cursor #{cursor_flag} keypad #{keypad_flag}")
}

// inForeground waits until the shell reads from the terminal again, because an ending program discards earlier input.
func (s *shell) inForeground() {
	s.t.Helper()
	s.until("bash to run in the foreground", func(string) bool {
		return s.tmux("display-message", "-p", "#{pane_current_command}") == "bash\n"
	})
}

// line types a command line.
func (s *shell) line(text string) {
	s.t.Helper()
	s.write(text)
	s.keys("Enter")
}

// restored fails the test unless the terminal has the same modes as at the start.
func (s *shell) restored() {
	s.t.Helper()
	if modes := s.readModes(); modes != s.modes {
		s.t.Errorf("the terminal was\n%sand is\n%s", s.modes, modes)
	}
}

// board starts the demonstration, waits for its board and returns its process ID.
func (s *shell) board(prefix, program string, args ...string) int {
	s.t.Helper()
	s.line(prefix + program + " demo --every 60s " + strings.Join(args, " ") + "; echo left with $?")
	s.await("8 led")
	return s.process(program)
}

// left waits until electop has ended and the shell has printed its exit code. electop must have restored the terminal.
func (s *shell) left() string {
	s.t.Helper()
	defer s.restored()
	code := regexp.MustCompile(`left with \d`)
	return s.until("the exit code", code.MatchString)
}

// process returns the ID of the program that runs in the shell.
func (s *shell) process(program string) int {
	s.t.Helper()
	pane, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	must(s.t, err)
	return s.descendant(pane, program)
}

// descendant returns the descendant of pid whose first argument is name.
func (s *shell) descendant(pid int, name string) int {
	s.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(s.t, err)
	parents := map[int]int{}
	for _, path := range stats {
		text, _ := os.ReadFile(path) // the process may have ended
		_, rest, _ := bytes.Cut(text, []byte(") "))
		if fields := strings.Fields(string(rest)); len(fields) > 1 {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			parents[id], _ = strconv.Atoi(fields[1])
		}
	}
	for id := range parents {
		for parent := parents[id]; parent > 0; parent = parents[parent] {
			if parent != pid {
				continue
			}
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
			if first, _, _ := bytes.Cut(text, []byte{0}); string(first) == name {
				return id
			}
		}
	}
	s.t.Fatalf("process %[2]d has no descendant %[1]s", name, pid)
	return 0
}

func (s *shell) kill(pid int, sig syscall.Signal) {
	s.t.Helper()
	must(s.t, syscall.Kill(pid, sig))
}

// ended waits until a process has ended.
func (s *shell) ended(pid int) { awaitEnd(s.t, pid) }

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	var state []byte
	ended := poll(func() bool {
		state, _ = os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || bytes.Contains(state, []byte(") Z "))
	})
	if !ended {
		t.Fatalf("process %d has not ended: %s", pid, state)
	}
}

// crasher builds an electop in which a goroutine panics.
func crasher(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crash")
	if out, err := exec.Command("go", "build", "-o", path, "./testdata/crash").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return path
}

// After a panic, the terminal is restored, and the report contains neither the token of Consul nor that of the history.
func TestPanicInAnyGoroutine(t *testing.T) {
	t.Parallel()
	const token, historyToken = "5ec2e7aa-0000-4000-8000-abadcafe0001", "history-5ec2e7bb"
	program, file := crasher(t), filepath.Join(t.TempDir(), "crash")
	st := newStage(t)
	s := openShell(t, "CRASH_FILE="+file, "CRASH_TEXT="+token+" "+historyToken, "CONSUL_HTTP_TOKEN="+token, "ELECTOP_HISTORY_TOKEN="+historyToken)
	s.line(program + " --history http://127.0.0.1:1 --http-addr " + st.Addr + " -k '" + st.prefix + "/*/leader'; echo left with $?")
	s.await("1 led")
	must(t, os.WriteFile(file, nil, 0o600))
	s.await("electop: the dashboard crashed: panic: simulated crash, ␛[2J<hidden> <hidden>", "main.crashNow", "left with 1")
	s.restored()
	raw, err := os.ReadFile(s.raw)
	if err != nil || bytes.Contains(raw, []byte(token)) || bytes.Contains(raw, []byte(historyToken)) {
		t.Errorf("a token was written to the terminal: %v", err)
	}
}

// The terminal is not restored after a fatal error of the Go runtime, but crash.log contains the stack traces.
func TestFatalErrorIsInTheCrashLog(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	pid := s.board("", program)
	s.kill(pid, syscall.SIGSEGV)
	s.ended(pid)
	path := filepath.Join(s.state, "electop", "crash.log")
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("SIGSEGV: segmentation violation")) || !bytes.Contains(text, []byte("goroutine ")) {
		t.Errorf("%v: %s", err, text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestTerminalIsRestoredAfterASignal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := openShell(t)
			s.kill(s.board("", program), sig)
			s.await("left with 0")
			s.restored()
		})
	}
}

// If the dashboard cannot open, electop reports the error like that of a command.
func TestErrorsOfTheDashboardAreShown(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	for args, want := range map[string]string{
		"--ca-file /does/not/exist": "electop: TLS settings: Error loading CA File: open /does/not/exist: no such file or directory",
		"--max-watches 1000":        "electop: --max-watches 1000: must be ",
		"--token-file /does/not":    "electop: token file: open /does/not: no such file or directory",
	} {
		s.line("clear; " + program + " " + args + "; echo left with $?")
		s.await(want)
		screen := s.left()
		if strings.Contains(screen, "left with 0") || strings.Count(screen, "electop: ") != 1 {
			t.Errorf("%s", screen)
		}
	}
}

func TestSuspendAndContinue(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	pid := s.board("", program)
	for range 3 {
		s.keys("C-z")
		s.await("Stopped", shellPrompt)
		s.restored()
		s.line("fg")
		s.await("8 led", "DEMO", "Latest events")
		if flags := s.tmux("display-message", "-p", "#{alternate_on}#{mouse_sgr_flag}#{cursor_flag}"); flags != "110\n" {
			t.Errorf("flags of alternate screen, mouse and cursor: %s, want 110", flags)
		}
	}
	s.keys("C-z")
	s.await("Stopped")
	s.line("clear; bg")
	s.until("the dashboard to be stopped by its access to the terminal", func(string) bool {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return bytes.Contains(state, []byte(") T "))
	})
	s.restored()
	s.line("fg")
	s.await("8 led", "Latest events")
	s.keys("?")
	s.await("─ Help")
	s.keys("Escape")
	s.gone("─ Help")
	s.keys("q")
	s.gone("8 led")
	s.restored()
}

func TestDashboardEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	s := openShell(t)
	pid := s.board("", program)
	s.tmux("kill-server")
	s.ended(pid)
}
