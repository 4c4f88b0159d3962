package cli

import (
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// deletedKeys deletes the keys of two leaders, and returns the history. web has two candidates that do not acquire the
// key, the former leader and another one. job has none.
func deletedKeys(t *testing.T, w *testConsul, p string) (history, waiting string) {
	t.Helper()
	history = historyFile(t)
	job := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = "job-1", time.Millisecond })
	w.acquire(p+"/job/leader", job, "job-1")
	leader := w.session(func(s *api.SessionEntry) { s.Name = "web-1" })
	w.acquire(p+"/web/leader", leader, "web-1")
	events := w.follow("watch", "-o", "json", "--history", history, "-k", p+"/*/leader")
	events.until("elected")
	events.until("elected")
	waiting = w.session(func(s *api.SessionEntry) { s.Name = "web-2" })
	for _, name := range []string{"job", "web"} {
		if _, err := w.client.KV().Delete(p+"/"+name+"/leader", nil); err != nil {
			t.Fatal(err)
		}
		events.until("explained")
	}
	events.stop()
	w.client.Session().Destroy(job, nil)
	return history, waiting
}

func TestRescueFindsADeletedKeyThatCandidatesWaitFor(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		file, waiting := deletedKeys(t, w, p)
		past := []string{"--history", file, "-k", p + "/*/leader"}
		all := rescueLines(t, w.run(append(past, "rescue", "--dry-run", "-o", "json")...).must(t, exitOK).out)
		if l := all["web"]; len(all) != 1 || l.Problem != "candidates_retry" || l.Fix != "wait" {
			t.Fatalf("%+v", all)
		}
		has(t, all["web"].Why, "The key was deleted", "2 likely candidates seen. Candidates retry every few seconds")
		r := w.run(append(past, "rescue", "job", "--yes")...).must(t, exitNoLeader)
		has(t, r.errOut, `job: `, `Start an instance of service "job".`)
		contend(t, w, p+"/web/leader", waiting, "web-2") // the operator restarts the candidate
		eventually(t, "leader", func() bool { return w.get(p+"/web/leader") != nil })
		if out := w.run(append(past, "rescue", "--dry-run")...).must(t, exitOK).out; out != "" {
			t.Errorf("healthy: %s", out)
		}
	})
}
