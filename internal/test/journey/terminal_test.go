package journey

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"electop/internal/consultest"
)

// terminal is a program in a separate tmux server.
type terminal struct {
	t      *testing.T
	socket string
}

// patience is the timeout of every wait. It is so long that a test does not fail on a slow machine.
const patience = 2 * time.Minute

var terminals atomic.Int64

// open starts the program with a terminal of the given size.
func open(t *testing.T, width, height int, env []string, program ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is missing (Debian: apt-get install tmux)")
	}
	term := &terminal{t: t, socket: fmt.Sprintf("electop-%d-%d", os.Getpid(), terminals.Add(1))}
	quoted := make([]string, len(program))
	for i, arg := range program {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, e := range append([]string{"COLORTERM=truecolor"}, env...) {
		args = append(args, "-e", e)
	}
	// The output of the shell shows whether the program restored the terminal.
	args = append(args, strings.Join(quoted, " ")+`; echo "left with $?"; stty -a | grep -o -- '-\?echo '; exec cat`,
		";", "set", "-g", "remain-on-exit", "on", ";", "set", "-g", "status", "off",
		";", "set", "-g", "default-terminal", "tmux-256color")
	term.tmux(args...)
	t.Cleanup(func() { _ = term.command("kill-server").Run() })
	return term
}

func (term *terminal) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-L", term.socket}, args...)...)
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := term.command(args...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

// keys presses keys, which have tmux's names.
func (term *terminal) keys(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys"}, keys...)...)
}

// write types the text.
func (term *terminal) write(text string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", text)
}

// screen returns the visible text.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p", "-N")
}

// await waits until all texts are on the screen.
func (term *terminal) await(texts ...string) string {
	term.t.Helper()
	return term.until(fmt.Sprintf("%q to appear", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// gone waits until the text is no longer on the screen.
func (term *terminal) gone(text string) string {
	term.t.Helper()
	return term.until(fmt.Sprintf("%q to disappear", text), func(screen string) bool {
		return !strings.Contains(screen, text)
	})
}

func (term *terminal) until(what string, holds func(screen string) bool) (screen string) {
	term.t.Helper()
	if !poll(func() bool { screen = term.screen(); return holds(screen) }) {
		term.t.Fatalf("timeout after %v while waiting for %s; the screen was:\n%s", patience, what, screen)
	}
	return screen
}

// poll waits until the condition is true. It returns false if patience has passed before.
func poll(condition func() bool) bool {
	return consultest.Poll(patience, condition)
}

// row returns the first line of the screen that contains the text.
func row(screen, text string) string {
	for line := range strings.Lines(screen) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}
