package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

// plan is what is shown before somebody is asked, who then says no.
func plan(t *testing.T, w *world, args ...string) string {
	t.Helper()
	r := w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, args...).must(t, exitFailed)
	has(t, r.errOut, "? [y/N] ", "nothing was done")
	return r.errOut
}

func TestThePlanOfADestroyTellsWhatBreaks(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		leader, _ := cluster(w, p)
		w.acquire(p+"/elsewhere/leader", leader, "x")
		w.acquire(p+"/hidden", leader, "x")
		text := plan(t, w, "destroy", "db", "-k", p+"/*/leader")
		has(t, text, "deleted   "+p+"/db/leader\n", "deleted   "+p+"/elsewhere/leader\n", "--scan searches for them",
			"nobody can lead for about 1ms (lock-delay)", "likely: pg2 (holds ", "Patroni has a way of its own: patronictl switchover db")
		if strings.Contains(text, "/hidden") {
			t.Errorf("a key that nobody searched for: %s", text)
		}
		text = plan(t, w, "destroy", "db", "--scan", "-k", p+"/*/leader")
		has(t, text, "deleted   "+p+"/hidden (not watched)\n", "deleted   "+p+"/db/members/pg1 (not watched)\n", "searched ")
		if strings.Contains(text, "besides") || strings.Contains(text, p+"/db/leader (not watched)") {
			t.Errorf("%s", text)
		}
		text = plan(t, w, "destroy", "--session", leader, "--scan", "-k", p+"/*/leader")
		has(t, text, "Destroy session "+leader, "deleted   "+p+"/db/leader\n", "deleted   "+p+"/hidden (not watched)\n", "about 1ms")
	})
}

func TestThePlanOfAReleaseTellsWhoIsNext(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := prefix(t)
		cluster(w, p)
		has(t, plan(t, w, "release", "db", "-k", p+"/*/leader"), "likely: pg2 (holds ", "patronictl switchover db")
		s := w.session(func(s *api.SessionEntry) { s.Name = "lonely" })
		w.acquire(p+"/web/leader", s, "web-1")
		has(t, plan(t, w, "release", "web", "-k", p+"/*/leader"), "next      no likely candidate is seen")
	})
}

// With --yes a search still shows what it found, and then acts.
func TestScanWithYes(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("hidden", s, "x")
	r := w.run("destroy", "web", "--yes", "--scan").must(t, exitDone)
	has(t, r.errOut, "searched 2 of 2 keys", "released  hidden (not watched)")
	if strings.Contains(r.errOut, "\r") || w.get("hidden").Session != "" {
		t.Errorf("%q", r.errOut)
	}
}

// stopper ends a command as soon as it writes a word.
type stopper struct {
	buffer
	word string
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.word) {
		s.stop()
	}
	return s.buffer.Write(p)
}

func TestAScanCanBeStoppedAndThenNothingIsDone(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	for i := range 200 {
		if _, err := w.client.KV().Put(&api.KVPair{Key: fmt.Sprintf("other/%03d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &stopper{word: "ctrl-c stops", stop: cancel}
	d := deps{stdin: strings.NewReader("y\n"), stdout: &buffer{}, stderr: out, interactive: true}
	if code := run(ctx, d, []string{"--http-addr", w.addr, "destroy", "web", "--scan"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	has(t, out.String(), "the search was stopped: nothing was done")
	if strings.Contains(out.String(), "[y/N]") || w.get("service/web/leader").Session != s {
		t.Errorf("%q", out.String())
	}
}
