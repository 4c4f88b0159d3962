package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"electop/internal/supervise"
)

// beats reads the times that a beat program has appended to a file.
func beats(t *testing.T, path string) []time.Time {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []time.Time
	for line := range bytes.Lines(text) {
		ns, err := strconv.ParseInt(strings.TrimSuffix(string(line), "\n"), 10, 64)
		must(t, err)
		if line[len(line)-1] == '\n' {
			all = append(all, time.Unix(0, ns))
		}
	}
	return all
}

// process is electop as a child process. Wait fails with exec.ErrWaitDelay if a
// descendant is still running.
type process struct {
	*exec.Cmd
	out, errOut bytes.Buffer
}

func start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program, args...)}
	p.Env = append(os.Environ(), mainEnv+"=1")
	p.Stdout, p.Stderr = &p.out, &p.errOut
	p.WaitDelay = patience
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the test stops the process; see package consultest
	must(t, p.Start())
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			if err := p.Wait(); errors.Is(err, exec.ErrWaitDelay) {
				t.Error("a program still runs after electop was killed")
			}
		}
	})
	return p
}

// programs are command lines of programs that write beats: one that ends at SIGTERM,
// one that ignores it, and a child of a shell.
func programs(file string) map[string][]string {
	return map[string][]string{
		"plain":   {os.Args[0], beatCommand, file},
		"ignores": {os.Args[0], beatCommand, file, ignoreTerm},
		"child":   {"sh", "-c", `"$0" "$@" & wait`, os.Args[0], beatCommand, file, ignoreTerm},
	}
}

func TestProgramEndsWhenElectopIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that end")
	}
	for name := range programs("") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onMemory(t)
			file := filepath.Join(t.TempDir(), "beats")
			p := start(t, os.Args[0], append([]string{"--http-addr", w.Addr, "campaign", "job", "--"}, programs(file)[name]...)...)
			eventually(t, "beat", func() bool { return len(beats(t, file)) > 0 })
			must(t, p.Process.Kill())
			killed := time.Now()
			if err := p.Wait(); errors.Is(err, exec.ErrWaitDelay) {
				t.Error("the program still runs")
			}
			t.Logf("the program ended %s after electop", time.Since(killed))
			if !strings.Contains(p.errOut.String(), "stopped the program") {
				t.Errorf("err %q", p.errOut.String())
			}
		})
	}
}

// group reads the process group of a shell program and its supervisor from a file.
func group(t *testing.T, file string) (group, supervisor int) {
	t.Helper()
	awaitFile(t, file)
	text, err := os.ReadFile(file)
	must(t, err)
	if _, err := fmt.Sscan(string(text), &group, &supervisor); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return group, supervisor
}

// running lists the processes of a group except zombies.
func running(t *testing.T, group int) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the process has ended
		}
		// PID (name) state parent group …
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == fmt.Sprint(group) && f[0] != "Z" {
			found = append(found, string(text))
		}
	}
	return found
}

// looping returns a shell script that writes its process group to a file and leaves a child process running.
func looping(file, then string) []string {
	return []string{"sh", "-c", `trap '' TERM; sleep 1000 & echo $$ $PPID > ` + file + `.new; mv ` + file + `.new ` + file + `; ` + then}
}

func TestCampaignLeavesNoProcessBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that end")
	}
	tests := map[string]struct {
		then  string
		after func(w *testConsul, supervisor int)
		code  int
		says  string
		// dying is set if no parent waits for the killed processes, so the kernel may remove them later.
		dying bool
	}{
		"the program ends":         {then: "exit 3", code: 3},
		"the supervisor is killed": {then: "wait", after: send(syscall.SIGKILL), code: exitFailed, says: "its supervisor ended", dying: true},
		"the supervisor is frozen": {then: "wait", after: func(w *testConsul, supervisor int) {
			send(syscall.SIGSTOP)(w, supervisor)
			w.Destroy(w.Get("service/job/leader").Session)
		}, code: exitFailed, says: "lost the lock on service/job/leader while the program was running", dying: true},
		"the session is destroyed": {then: "wait", after: func(w *testConsul, _ int) { w.Destroy(w.Get("service/job/leader").Session) }, code: exitFailed, says: "lost the lock on service/job/leader while the program was running"},
		"the key is deleted":       {then: "wait", after: func(w *testConsul, _ int) { w.Delete("service/job/leader") }, code: exitFailed, says: "lost the lock on service/job/leader while the program was running: service/job/leader was deleted"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onMemory(t)
			file := filepath.Join(t.TempDir(), "pids")
			campaign := w.background(append([]string{"campaign", "job", "--"}, looping(file, tt.then)...)...)
			pgid, supervisor := group(t, file)
			if tt.after != nil {
				tt.after(w, supervisor)
			}
			r := campaign.wait().must(tt.code)
			if tt.dying {
				eventually(t, "end of the killed processes", func() bool { return len(running(t, pgid)) == 0 })
			}
			if left := running(t, pgid); len(left) > 0 || !strings.Contains(r.errOut, tt.says) {
				t.Errorf("running %q, err %q", left, r.errOut)
			}
		})
	}
}

func send(sig syscall.Signal) func(*testConsul, int) {
	return func(w *testConsul, pid int) { must(w.T, syscall.Kill(pid, sig)) }
}

func TestASignalEndsACampaignWith128AndItsNumber(t *testing.T) {
	w := onMemory(t)
	// Under nohup and in background jobs, signals are ignored, and child processes inherit this, but not handlers.
	// Therefore this test handles the signals.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, syscall.SIGINT, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(handled) })
	for sig, program := range map[syscall.Signal][]string{
		syscall.SIGINT: nil, syscall.SIGTERM: {"--", os.Args[0], beatCommand, filepath.Join(t.TempDir(), "beats")}, syscall.SIGHUP: {"--try", "1h"},
	} {
		name := fmt.Sprint("job-", int(sig))
		key := "service/" + name + "/leader"
		other := ""
		if sig == syscall.SIGHUP { // the campaign waits
			other = w.session()
			w.acquire(key, other, "another")
		}
		p := start(t, os.Args[0], append([]string{"--http-addr", w.Addr, "campaign", name}, program...)...)
		eventually(t, "a session", func() bool { return len(w.campaigns()) == 1 })
		eventually(t, "a leader", func() bool { pair := w.Get(key); return pair != nil && pair.Session != "" })
		must(t, p.Process.Signal(sig))
		_ = p.Wait()
		if code := p.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("exit code %d, err %q", code, p.errOut.String())
		}
		if left := w.campaigns(); len(left) > 0 || w.Get(key).Session != other {
			t.Errorf("sessions %+v, key %+v", left, w.Get(key))
		}
	}
}

// A supervisor that was frozen reads deadlines that have already passed.
func TestAProgramThatItsSupervisorStopsDoesNotSucceed(t *testing.T) {
	now, hour := time.Now(), time.Hour
	file := filepath.Join(t.TempDir(), "started")
	program := []string{"sh", "-c", `trap "exit 0" TERM; touch ` + file + `; while :; do sleep 0.01; done`}
	client, err := supervise.Start(exec.Command(program[0], program[1:]...), supervise.Deadlines{Term: now.Add(hour), Grace: hour, Kill: now.Add(hour)})
	must(t, err)
	awaitFile(t, file)
	client.Extend(supervise.Deadlines{Term: now, Grace: hour, Kill: now.Add(hour)})
	if exit := (*exec.ExitError)(nil); !errors.As(<-client.Done(), &exit) || exit.ExitCode() != exitFailed {
		t.Errorf("the supervisor ended with %v, want exit code 1", exit)
	}
}
