package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// The size of the screen. On GitHub, the characters of a picture with 100 columns have the size of the page's text.
const columns, lines = 100, 30

const (
	// patience is the timeout of a wait. It includes the pauses between the failures of the demonstration.
	patience = time.Minute
	// frameTime is the time between two captures.
	frameTime = 50 * time.Millisecond
)

// colours matches the sequences in a captured screen that set colours.
var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// terminal is a program in its own tmux server.
type terminal struct{ folder string }

// openTerminal starts a program. It uses no config file of tmux or electop.
func openTerminal(ctx context.Context, program []string) (*terminal, error) {
	folder, err := os.MkdirTemp("", "electop-pictures-")
	if err != nil {
		return nil, err
	}
	t := &terminal{folder: folder}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(lines),
		"-e", "LANG=C.UTF-8", "-e", "LC_ALL=C.UTF-8", "-e", "NO_COLOR=", "-e", "COLORTERM=", "-e", "ELECTOP_CONTEXT=",
		"-e", "TMPDIR=" + folder, "-e", "XDG_CONFIG_HOME=" + folder, "-e", "XDG_STATE_HOME=" + folder}
	args = append(append(args, program...), ";", "set", "-g", "status", "off", ";", "set", "-g", "remain-on-exit", "on")
	if _, err := t.tmux(ctx, args...); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *terminal) close() {
	_, _ = t.tmux(context.WithoutCancel(context.Background()), "kill-server")
	_ = os.RemoveAll(t.folder)
}

func (t *terminal) tmux(ctx context.Context, args ...string) (string, error) {
	socket := filepath.Join(t.folder, "tmux")
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// press presses keys by their tmux names.
func (t *terminal) press(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := t.tmux(ctx, append([]string{"send-keys"}, keys...)...)
	return err
}

// await waits until the text of the screen matches all expressions and two consecutive captures are equal. The program
// has then finished drawing. await returns the last capture with its colours. Until then, it calls watch with each
// capture that equals the previous one.
func (t *terminal) await(ctx context.Context, wanted []string, watch func(frame string)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	last := ""
	for ctx.Err() == nil {
		frame, err := t.tmux(ctx, "capture-pane", "-p", "-e")
		if err != nil && ctx.Err() == nil {
			return "", err
		}
		frame = strings.TrimRight(frame, "\n")
		if frame == last {
			if matchesAll(colours.ReplaceAllString(frame, ""), wanted) {
				return frame, nil
			}
			watch(frame)
		}
		if err == nil {
			last = frame
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return "", fmt.Errorf("the screen did not show %q: %w\n%s", wanted, ctx.Err(), colours.ReplaceAllString(last, ""))
}

func matchesAll(screen string, wanted []string) bool {
	for _, w := range wanted {
		if !regexp.MustCompile(w).MatchString(screen) {
			return false
		}
	}
	return true
}
