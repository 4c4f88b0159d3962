package ui

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/election"
)

// runs records the commands that the dashboard runs.
type runs struct {
	all    []ShellCommand
	script string // what the commands run instead
}

// runnable gives a dashboard three commands.
func runnable(_ testing.TB, r *runs) func(*Options) {
	return func(o *Options) {
		o.Commands = []Command{
			{Name: "logs", Key: "l", About: "the latest log of the leader", Command: "ssh -- $ELECTOP_NODE journalctl -n 50 -u $ELECTOP_ELECTION_QUOTED"},
			{Name: "value", About: "the value, formatted", Command: "printf '%s' $ELECTOP_VALUE |\n\tjq ."},
			{Name: "restart", Key: "r", Confirm: true, Command: "ssh -- $ELECTOP_NODE sudo systemctl restart $ELECTOP_ELECTION_QUOTED"},
		}
		o.ConfigFile = "/home/ana/.config/electop/config.yaml"
		o.Command = func(c ShellCommand) *exec.Cmd {
			r.all = append(r.all, c)
			cmd := exec.Command("sh", "-c", r.script)
			cmd.Stdin = strings.NewReader("") // the keyboard of a test is not a file, so Run would wait for its end
			return cmd
		}
	}
}

func menuOf(keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := drive(t, mixedSnapshot(), w, h, runnable(t, &runs{}))
		d.open(keyOf("billing"))
		d.keys(append([]string{"!"}, keys...)...)
		return d
	}
}

// A command runs while the dashboard has released the terminal. Then the dashboard shows how it ended.
func TestCommandRunsInTheTerminal(t *testing.T) {
	snaps := make(chan *election.Snapshot, 1)
	snaps <- mixedSnapshot()
	in, keyboard := io.Pipe()
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	r := &runs{script: "echo output; exit 3"}
	opts := Options{Backend: &backend{}, Snapshots: snaps, Now: testNow}
	runnable(t, r)(&opts)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, done := start(ctx, opts, in)
	awaitText(t, done, out.String, enter, "billing")
	for _, keys := range []string{"g!", "\r"} {
		if _, err := io.WriteString(keyboard, keys); err != nil {
			t.Fatal(err)
		}
		if keys == "g!" {
			awaitText(t, done, out.String, "Run a command for")
		}
	}
	awaitText(t, done, out.String, "output", "The command logs ended with exit code 3.")
	before, after, _ := strings.Cut(out.String(), "output")
	if strings.Count(before, enter) != strings.Count(before, leave) {
		t.Errorf("the alternate screen was still active: %q", before)
	}
	if !strings.Contains(after, enter) || !strings.Contains(after, "billing") {
		t.Errorf("the dashboard was not drawn again: %q", after)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(r.all) != 1 || r.all[0].Script != "ssh -- $ELECTOP_NODE journalctl -n 50 -u $ELECTOP_ELECTION_QUOTED" || !slices.Contains(r.all[0].Env, "ELECTOP_NODE=node-2") {
		t.Errorf("%+v", r.all)
	}
}

func TestCommandsOfASession(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 80, 24, searches, runnable(t, &runs{}))
	d.keys("3", "!")
	d.wants("Run a command for session ", "This command cannot run: ELECTOP_ELECTION is empty or unknown.")
	d.keys("esc")
	d.lacks("Run a command")
}

func TestCommandsAreRefused(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24)
	d.keys("!")
	d.wants("Unavailable: commands need a POSIX shell")
	d = drive(t, emptySnapshot(false), 80, 24, runnable(t, &runs{}))
	d.keys("!")
	d.wants("Select an election or a session before you run a command.")
	d = drive(t, mixedSnapshot(), 80, 24, runnable(t, &runs{}))
	d.keys("2", "!") // an event has no fields
	d.lacks("Run a command")
	d.keys("1", "!")
	d.send(tea.WindowSizeMsg{Width: 30, Height: 8})
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.lacks("Run a command")
}

// --read-only forbids the writes of electop, but not the user's own commands.
func TestReadOnlyAllowsCommands(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24, runnable(t, &runs{}), func(o *Options) { o.ReadOnly = true })
	d.keys("!")
	d.wants("Run a command for")
}

func TestCommandMenuWithTheMouse(t *testing.T) {
	d := drive(t, mixedSnapshot(), 80, 24, runnable(t, &runs{}))
	d.open(keyOf("billing"))
	d.keys("!")
	for y, line := range strings.Split(d.text(), "\n") {
		if x := strings.Index(line, "restart"); x >= 0 {
			d.send(clickAt(x, y))
			break
		}
	}
	d.wants("systemctl restart $ELECTOP_ELECTION")
}

// reports returns a check with rows of each status.
func reports(err error) func(*Options) {
	return func(o *Options) {
		fake(o).onDoctor = func(context.Context) ([]DoctorRow, error) {
			return []DoctorRow{
				{Subject: "address", Status: "ok", Detail: "127.0.0.1:8500"},
				{Subject: "ACLs", Status: "limited", Detail: "on, default policy deny; no token was given, so the anonymous token is used (CONSUL_HTTP_TOKEN, --token)"},
				{Subject: "keys service/*/leader", Status: "denied", Detail: "none readable; with this token the response is empty even if elections exist", Rule: `key_prefix "service/" { policy = "read" }`},
				{Subject: "checks of services", Status: "unknown", Detail: `Consul does not report it; requires service_prefix "" { policy = "read" }`},
			}, err
		}
	}
}

func doctorPage(err error) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := drive(t, mixedSnapshot(), w, h, reports(err))
		d.send(firstOf(t, d.keys(":", "'doctor", "enter")))
		return d
	}
}

func TestDoctorPage(t *testing.T) {
	checks, ends := 0, []context.Context{}
	d := drive(t, mixedSnapshot(), 120, 36, func(o *Options) {
		fake(o).onDoctor = func(ctx context.Context) ([]DoctorRow, error) {
			checks++
			ends = append(ends, ctx)
			return []DoctorRow{{Subject: "run", Status: "ok", Detail: fmt.Sprint("number ", checks)}}, nil
		}
	})
	check := d.keys(":", "'doctor", "enter")
	d.wants("Doctor", "Checking what this address")
	d.keys("r") // one run at a time
	d.send(firstOf(t, check))
	d.wants("run", "ok", "number 1", "as of ")
	again := d.keys("r")
	d.lacks("number 1")
	d.send(firstOf(t, again))
	d.wants("number 2")
	late := d.keys("r")
	d.keys("esc")
	d.lacks("Doctor")
	d.send(firstOf(t, late))
	d.lacks("number")
	if checks != 3 || ends[2].Err() == nil {
		t.Errorf("%d runs, %v", checks, ends[2].Err())
	}
}
