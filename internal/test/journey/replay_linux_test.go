package journey

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/internal/etcdtest"
)

// While a recorder is stopped, and before etcd responds to a new one, terms begin and end in etcd.
func TestARecorderMissesNoTermInEtcd(t *testing.T) {
	t.Parallel()
	etcd, other := etcdtest.Start(t, 1), etcdtest.Start(t, 1)
	dir, last := t.TempDir(), ""
	file, config := filepath.Join(dir, "h.db"), filepath.Join(dir, "c.yaml")
	must(t, os.WriteFile(config, fmt.Appendf(nil, "contexts:\n  a: {endpoints: %s}\n  b: {endpoints: %s}\n",
		etcd.Endpoints()[0], other.Endpoints()[0]), 0o600))
	elect := func(name string) {
		lease, err := etcd.Grant(t.Context(), 600)
		must(t, err)
		if last != "" {
			_, err = etcd.Delete(t.Context(), last)
			must(t, err)
		}
		last = fmt.Sprintf("jobs/%x", lease.ID)
		_, err = etcd.Put(t.Context(), last, name, clientv3.WithLease(lease.ID))
		must(t, err)
	}
	record := func() *exec.Cmd {
		cmd := exec.Command(program, "record", "--config", config, "--context", "a,b", "--history", file)
		cmd.Stderr, cmd.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Setpgid: true}
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	terms := func() string {
		out, _ := exec.Command(program, "history", "--terms", "--history", file).Output() // there may be no file yet
		return string(out)
	}
	await := func(names ...string) {
		t.Helper()
		if !poll(func() bool { return strings.Contains(terms(), names[len(names)-1]) }) {
			t.Fatal(terms())
		}
		for _, name := range names {
			if got := terms(); strings.Count(got, name) != 1 {
				t.Errorf("%s:\n%s", name, got)
			}
		}
	}
	elect("first")
	recorder := record()
	await("first")
	must(t, recorder.Process.Signal(syscall.SIGSTOP))
	awaitStopped(t, recorder.Process.Pid)
	stopped := time.NewTimer(2 * time.Second)
	elect("second")
	elect("third")
	elect("fourth")
	<-stopped.C // the process must stay stopped for some time
	must(t, recorder.Process.Signal(syscall.SIGCONT))
	await("second", "third", "fourth")
	must(t, recorder.Process.Signal(os.Interrupt))
	must(t, recorder.Wait())
	elect("fifth")
	elect("sixth")
	must(t, etcd.Members[0].Stop())
	down := time.NewTimer(3 * time.Second)
	record()
	<-down.C // longer than the history waits for etcd
	must(t, etcd.Members[0].Start())
	await("fourth", "fifth", "sixth")
}
