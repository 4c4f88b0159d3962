package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// dashboard is electop in a separate tmux server.
type dashboard struct {
	t      *testing.T
	socket string
}

var dashboards atomic.Int64

func openDashboard(t *testing.T, env []string, args ...string) *dashboard {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("the tests of the dashboard need tmux (Debian: apt-get install tmux)")
	}
	d := &dashboard{t: t, socket: fmt.Sprintf("faults-%d-%d", os.Getpid(), dashboards.Add(1))}
	command := []string{"-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "36"}
	for _, e := range env {
		command = append(command, "-e", e)
	}
	command = append(command, program+" '"+strings.Join(args, "' '")+"'; exec cat",
		";", "set", "-g", "remain-on-exit", "on", ";", "set", "-g", "status", "off")
	d.tmux(command...)
	t.Cleanup(func() {
		_ = d.signal(syscall.SIGCONT)
		_ = exec.Command("tmux", "-L", d.socket, "kill-server").Run()
	})
	return d
}

func (d *dashboard) tmux(args ...string) string {
	d.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", d.socket}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

// signal sends a signal to the processes of electop. A shell runs between tmux and electop, because tmux would
// continue a stopped child.
func (d *dashboard) signal(sig syscall.Signal) error {
	out, err := exec.Command("tmux", "-L", d.socket, "display-message", "-p", "#{pane_pid}").Output()
	if err != nil {
		return err
	}
	all := descendants(strings.TrimSpace(string(out)))
	if len(all) == 0 {
		return errors.New("the dashboard is not running")
	}
	for _, pid := range all {
		if err := syscall.Kill(pid, sig); err != nil {
			return err
		}
	}
	return nil
}

// descendants returns the IDs of all descendants of a process.
func descendants(parent string) (pids []int) {
	lists, _ := filepath.Glob("/proc/" + parent + "/task/*/children")
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(child); err == nil {
				pids = append(append(pids, pid), descendants(child)...)
			}
		}
	}
	return pids
}

// view is the content of the screen.
type view struct {
	at         time.Time
	live, lost bool
	// aged is set if a banner shows the age of the data about web. banner is the text of the banner.
	aged   bool
	banner string
	row    string // the line of the election web
	text   string
}

func (v view) leads(id string) bool {
	for _, field := range strings.Fields(v.row) {
		if field == id {
			return true
		}
	}
	return false
}

// look reads the screen.
func (d *dashboard) look() view {
	d.t.Helper()
	v := view{at: time.Now(), text: d.tmux("capture-pane", "-p")}
	lines := strings.Split(v.text, "\n")
	v.lost = strings.Contains(lines[0], " lost ") || strings.Contains(lines[0], " stale ")
	v.live = strings.Contains(lines[0], " live") && !v.lost
	for _, l := range lines[1:] {
		if (strings.Contains(l, "The board is ") || strings.Contains(l, " stale for ")) && v.banner == "" {
			v.banner, v.aged = strings.TrimSpace(l), true
		}
		fields := strings.Fields(l)
		if len(fields) > 2 && (fields[0] == "web" || fields[1] == "web") && v.row == "" {
			v.row = l
		}
	}
	return v
}

var age = regexp.MustCompile(`The board is \S+ old\.|next retry in \S+ ?|retrying now`)

// says returns the text of the banner without the parts that differ between runs.
func (v view) says() string {
	return strings.Join(strings.Fields(age.ReplaceAllString(v.banner, " ")), " ")
}

// until waits for a view that satisfies a condition.
func (d *dashboard) until(what string, is func(view) bool) view {
	d.t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; <-tick.C {
		v := d.look()
		if is(v) {
			return v
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("timeout while waiting for %s (%v); screen:\n%s", what, patience, v.text)
		}
	}
}
