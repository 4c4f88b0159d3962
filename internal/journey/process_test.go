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
	if err != nil {
		s.t.Fatal(err)
	}
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

// dashboards contains the IDs of the two processes of the dashboard that runs in the shell.
type dashboards struct{ parent, child int }

// board starts the demonstration and waits for its board.
func (s *shell) board(prefix, program string, args ...string) dashboards {
	s.t.Helper()
	s.line(prefix + program + " demo --every 60s " + strings.Join(args, " ") + "; echo left with $?")
	s.await("8 led")
	return s.processes(program)
}

// left waits until electop has ended and the shell has printed its exit code.
func (s *shell) left() string {
	s.t.Helper()
	code := regexp.MustCompile(`left with \d`)
	return s.until("the exit code", code.MatchString)
}

func (s *shell) processes(program string) (d dashboards) {
	s.t.Helper()
	pane, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		s.t.Fatal(err)
	}
	d.parent = s.descendant(pane, program)
	d.child = s.descendant(d.parent, "electop-dashboard")
	return d
}

// descendant returns the descendant of pid whose first argument is name.
func (s *shell) descendant(pid int, name string) int {
	s.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Fatal(err)
	}
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
	if err := syscall.Kill(pid, sig); err != nil {
		s.t.Fatal(err)
	}
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

const secret = "5ec2e7aa-0000-4000-8000-abadcafe0001"

func TestTerminalIsRestoredAfterAPanicInAnyGoroutine(t *testing.T) {
	program, dir := crasher(t), t.TempDir()
	for _, logged := range []bool{true, false} {
		t.Run(fmt.Sprint("log=", logged), func(t *testing.T) {
			file := filepath.Join(dir, fmt.Sprint("crash", logged))
			s := openShell(t, "CRASH_FILE="+file, "CRASH_TOKEN="+secret, "CONSUL_HTTP_TOKEN="+secret)
			log, args := filepath.Join(s.state, "electop", "crash.log"), []string(nil)
			if logged {
				log = filepath.Join(dir, "electop.log")
				args = []string{"--log-file", log}
			}
			s.board("", program, args...)
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			screen := s.await("left with 1")
			// The terminal breaks the line within the path.
			_, said, _ := strings.Cut(screen, "electop: ")
			said = strings.ReplaceAll(said, "\n", "")
			want := "the dashboard crashed: panic: simulated crash, ␛[2Jtoken <hidden>; its stack traces are in " + log + "left with 1" + shellPrompt
			if strings.TrimSpace(said) != strings.TrimSpace(want) {
				t.Errorf("the screen shows\n%s\nwant only\n%s", said, want)
			}
			s.restored()
			checkCrashLog(t, log)
			if raw, err := os.ReadFile(s.raw); err != nil || bytes.Contains(raw, []byte(secret)) {
				t.Errorf("the token was written to the terminal: %v", err)
			}
		})
	}
}

func checkCrashLog(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("main.crash")) || !bytes.Contains(text, []byte("goroutine ")) {
		t.Errorf("no stack trace in the log: %s", text)
	}
	if bytes.Contains(text, []byte(secret)) || bytes.ContainsRune(text, 0x1b) {
		t.Errorf("the log contains the token or an escape sequence: %s", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestTerminalIsRestoredAfterEverySignal(t *testing.T) {
	for _, c := range []struct {
		sig  syscall.Signal
		want string
	}{
		{syscall.SIGTERM, "left with 0"}, {syscall.SIGINT, "left with 0"}, {syscall.SIGHUP, "left with 0"},
		{syscall.SIGQUIT, "crashed: SIGQUIT: quit; its stack traces are in "},
		{syscall.SIGABRT, "crashed: SIGABRT: abort; its stack traces are in "},
		{syscall.SIGSEGV, "crashed: SIGSEGV: segmentation violation; its stack traces are in "},
	} {
		for _, child := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v child=%v", c.sig, child), func(t *testing.T) {
				t.Parallel()
				s := openShell(t)
				d := s.board("", program)
				pid := d.parent
				if child {
					pid = d.child
				}
				s.kill(pid, c.sig)
				s.await(c.want)
				s.left()
				s.restored()
				s.ended(d.child)
			})
		}
	}
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		s := openShell(t)
		s.kill(s.board("", program).child, syscall.SIGKILL)
		s.await("electop: the dashboard crashed: signal: killed", "left with 137")
		s.restored()
	})
}

// If the dashboard cannot open, electop reports the error like that of a command.
func TestErrorsOfTheDashboardAreShown(t *testing.T) {
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

func TestDashboardEndsWithItsParent(t *testing.T) {
	s := openShell(t)
	d := s.board("", program)
	s.kill(d.parent, syscall.SIGKILL)
	s.ended(d.child)
}

func TestSuspendAndContinue(t *testing.T) {
	for who, suspend := range map[string]func(*shell, dashboards){
		"ctrl-z": func(s *shell, _ dashboards) { s.keys("C-z") },
		"parent": func(s *shell, d dashboards) { s.kill(d.parent, syscall.SIGTSTP) },
		"child":  func(s *shell, d dashboards) { s.kill(d.child, syscall.SIGTSTP) },
		"group":  func(s *shell, d dashboards) { s.kill(-d.parent, syscall.SIGTSTP) },
	} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			s := openShell(t)
			d := s.board("", program)
			for range 3 {
				suspend(s, d)
				s.await("Stopped", shellPrompt)
				s.restored()
				s.line("fg")
				s.await("8 led", "DEMO", "Latest events")
				if flags := s.tmux("display-message", "-p", "#{alternate_on}#{mouse_sgr_flag}#{cursor_flag}"); flags != "110\n" {
					t.Errorf("flags of alternate screen, mouse and cursor: %s, want 110", flags)
				}
			}
			s.keys("?")
			s.await("─ Help")
			s.keys("Escape")
			s.gone("─ Help")
			s.keys("q")
			s.gone("8 led")
			s.restored()
		})
	}
}

// electop cannot restore the terminal before a SIGSTOP, but redraws the dashboard after fg.
func TestContinueAfterSIGSTOP(t *testing.T) {
	for _, child := range []bool{false, true} {
		t.Run(fmt.Sprint("child=", child), func(t *testing.T) {
			t.Parallel()
			s := openShell(t)
			d := s.board("", program)
			pid := d.parent
			if child {
				pid = d.child
			}
			s.kill(pid, syscall.SIGSTOP)
			s.await("Stopped")
			s.line("clear; fg")
			s.gone("Stopped")
			s.await("8 led", "Latest events")
			s.keys("q")
			s.gone("8 led")
			s.restored()
		})
	}
}

func TestSuspendedDashboardInTheBackgroundIsKilled(t *testing.T) {
	s := openShell(t)
	d := s.board("", program)
	s.keys("C-z")
	s.await("Stopped")
	s.line("clear; bg")
	s.until("the dashboard to be stopped by its access to the terminal", func(string) bool {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.parent))
		return bytes.Contains(state, []byte(") T "))
	})
	s.restored()
	s.line("fg")
	s.await("8 led", "Latest events")
	s.keys("C-z")
	s.await("Stopped")
	s.line("kill %1")
	s.ended(d.child)
	s.ended(d.parent)
	s.restored()
}

// If no shell can continue electop, Ctrl+Z does not stop it.
func TestSuspendWithoutAShell(t *testing.T) {
	term := open(t, 120, 36, nil, program, "demo", "--every", "60s")
	term.await("8 led")
	for range 3 {
		term.keys("C-z")
		term.await("8 led", "Latest events")
	}
	term.keys("?")
	term.await("─ Help")
	term.keys("Escape")
	term.gone("─ Help")
	term.keys("q")
	term.await("left with 0")
}

func TestDashboardEndsWithItsTerminal(t *testing.T) {
	s := openShell(t)
	d := s.board("trap '' HUP; ", program)
	s.tmux("kill-server")
	s.ended(d.child)
	s.ended(d.parent)
}
