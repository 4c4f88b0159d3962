//go:build unix

package journey

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The menu shows waiting$((40+2)), the terminal waiting42. A signal before a long sleep began would be handled after it.
const commandsConfig = `commands:
  - name: value
    description: print the value
    command: printf 'value <%s>\n' "$ELECTOP_VALUE"; exit 3
  - name: wait
    key: w
    confirm: true
    command: |
      trap 'echo; echo interrupted; exit 7' INT
      echo "waiting$((40+2)) in $$"
      while sleep 0.1; do :; done
`

// openCommands opens the dashboard from a shell with job control, with the commands of commandsConfig.
func openCommands(t *testing.T, s *stage) *shell {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	must(t, os.WriteFile(path, []byte(commandsConfig), 0o600))
	term := openShell(t)
	term.line(program + " --config " + path + " --http-addr " + s.Addr + " -k '" + s.prefix + "/*/leader'; echo left with $?")
	term.await("● web")
	return term
}

// startWaiting runs the command that waits, and confirms it.
func startWaiting(t *testing.T) *shell {
	t.Helper()
	term := openCommands(t, newStage(t))
	term.keys("!", "w", "Enter")
	term.await("Run this command?")
	term.keys("y")
	term.await("waiting42 in ")
	return term
}

func TestCommandOfTheSettings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	canary := filepath.Join(t.TempDir(), "canary")
	value := "$(touch " + canary + ")';touch " + canary + ";'"
	s.acquire("web", s.a, value)
	term := openCommands(t, s)
	term.keys("!")
	term.await("Run a command for web", "print the value", "$ printf 'value <%s>", "[ Run ]")
	term.keys("Enter")
	term.await("value <"+value+">", "electop: the command ended with exit code 3. Press Enter to return.")
	term.keys("x", "Enter")
	term.await("● web", "The command value ended with exit code 3.")
	if _, err := os.Stat(canary); !os.IsNotExist(err) {
		t.Errorf("the value was executed: %v", err)
	}
	term.keys("q")
	term.left()
}

func TestCtrlCEndsTheCommandOnly(t *testing.T) {
	t.Parallel()
	term := startWaiting(t)
	term.keys("C-c")
	term.await("interrupted", "ended with exit code 7. Press Enter to return.")
	term.keys("C-c") // returns as well
	term.await("● web", "The command wait ended with exit code 7.")
	term.keys("q")
	term.left()
}

// The shell stops and continues electop together with the command.
func TestCtrlZStopsTheCommand(t *testing.T) {
	t.Parallel()
	term := startWaiting(t)
	term.keys("C-z")
	term.await("Stopped")
	term.inForeground()
	term.line("fg")
	term.await("fg")
	term.until("the command in the foreground", func(string) bool {
		return term.tmux("display-message", "-p", "#{pane_current_command}") != "bash\n"
	})
	term.keys("C-c")
	term.await("ended with exit code 7. Press Enter to return.")
	term.keys("Enter")
	term.await("● web")
	term.keys("q")
	term.left()
}

func TestSIGTERMEndsTheCommandToo(t *testing.T) {
	t.Parallel()
	term := openCommands(t, newStage(t))
	term.keys("!", "w", "Enter")
	term.await("Run this command?")
	pid := term.process(program)
	term.keys("y")
	screen := term.await("waiting42 in ")
	var command int
	_, err := fmt.Sscanf(row(screen, "waiting42 in "), "waiting42 in %d", &command)
	must(t, err)
	term.kill(pid, syscall.SIGTERM)
	term.ended(command)
	term.left()
	term.ended(pid)
}
