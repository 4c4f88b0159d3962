package cli

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// confirmation is a standard input that runs a function before it answers yes.
type confirmation struct {
	before func()
	answer *strings.Reader
}

func (i *confirmation) Read(p []byte) (int, error) {
	if i.before != nil {
		i.before()
		i.before = nil
	}
	return i.answer.Read(p)
}

func TestNothingIsWrittenIfTheHolderChangesBeforeTheAction(t *testing.T) {
	for _, verb := range []string{"release", "destroy", "release again"} {
		t.Run(verb, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *testConsul) {
				p := prefix(t)
				key := p + "/web/leader"
				old, next := w.session(nil), w.session(nil)
				verb, again := strings.CutSuffix(verb, " again")
				if again { // the session leads again, in another term
					next = old
				}
				w.acquire(key, old, "old")
				stdin := &confirmation{answer: strings.NewReader("y\n"), before: func() {
					w.unlock(key, old)
					w.acquire(key, next, "next")
				}}
				r := w.runWith(deps{stdin: stdin, interactive: true}, verb, "web", "-k", p+"/*/leader").must(t, exitChanged)
				if !strings.Contains(r.errOut, "old, term 1") {
					t.Errorf("the plan does not name the leader: %q", r.errOut)
				}
				if pair := w.get(key); pair.Session != next || string(pair.Value) != "next" {
					t.Errorf("%+v", pair)
				}
				if e, _, _ := w.client.Session().Info(old, nil); e == nil {
					t.Error("the session was destroyed although the key had changed")
				}
			})
		})
	}
}

func TestConfirmationDefaultsToNo(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	for _, answer := range []string{"", "\n", "n\n", "what\n"} {
		r := w.runWith(deps{stdin: strings.NewReader(answer), interactive: true}, "release", "web").must(t, exitFailed)
		if !strings.Contains(r.errOut, "nothing was done") || w.get("service/web/leader").Session != s {
			t.Errorf("%q: %q", answer, r.errOut)
		}
	}
}

func TestDestroyEndsTheSessionAndReportsTheLockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		s := w.session(func(e *api.SessionEntry) { e.LockDelay = 90 * time.Second })
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", s, "mail-1")
		r := w.runWith(deps{stdin: strings.NewReader("yes\n"), interactive: true}, "destroy", "web", "-k", p+"/*/leader").must(t, exitOK)
		if !strings.Contains(r.errOut, p+"/mail/leader") {
			t.Errorf("the plan does not list every key: %q", r.errOut)
		}
		has(t, r.out, "web: web-1 on node-1: its session was destroyed; the session also lost ", "ock-delay")
		if e, _, _ := w.client.Session().Info(s, nil); e != nil {
			t.Error("the session still exists")
		}
		if pair := w.get(p + "/mail/leader"); pair.Session != "" {
			t.Errorf("%+v", pair)
		}
		other := w.session(nil)
		r = w.run("destroy", "--session", other, "--yes").must(t, exitOK)
		has(t, r.out, "session "+other+": session "+other[:8]+" was destroyed. ")
		if e, _, _ := w.client.Session().Info(other, nil); e != nil {
			t.Error("the named session still exists")
		}
	})
}

func TestAnUnknownNameStopsTheWholeBatch(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	for _, verb := range []string{"release", "destroy"} {
		r := w.run(verb, "web", "nobody", "--yes").must(t, exitNoElection)
		if r.out != "" || w.get("service/web/leader").Session != s {
			t.Errorf("out %q", r.out)
		}
	}
}

func TestBatchSkipsElectionsWithoutALeader(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		s := w.session(nil)
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", s, "mail-1")
		w.unlock(p+"/mail/leader", s)
		r := w.run("release", "mail", "web", "web", p+"/web/leader", "--yes", "-k", p+"/*/leader").must(t, exitNoLeader)
		if r.out != "web: web-1 on node-1 was released; it may already lead again\n" {
			t.Errorf("out %q", r.out)
		}
		has(t, r.errOut, "electop: mail: nothing was changed: the election has no leader")
	})
}

func TestASessionThatLeadsSeveralElectionsIsDestroyedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		s := w.session(nil)
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", strings.ToUpper(s), "mail-1") // a key keeps the spelling of the session's ID
		w.acquire(p+"/hidden", s, "x")
		d := deps{stdin: strings.NewReader("y\n"), interactive: true}
		r := w.runWith(d, "destroy", "web", "mail", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
		results := map[string]string{}
		for _, l := range resultLines(t, r.out) {
			results[l.Election] = l.Result
		}
		if want := map[string]string{"web": "done", "mail": "done"}; !maps.Equal(results, want) {
			t.Errorf("%v, want %v", results, want)
		}
		if strings.Count(r.errOut, "Session ") != 1 {
			t.Errorf("the plan does not show the session once: %s", r.errOut)
		}
		has(t, r.out, `"note":"the session also lost `+p+`/hidden"`)
	})
}

func TestDestroyASessionByID(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		s, alone := w.session(nil), w.session(nil)
		w.acquire(p+"/web/leader", s, "web-1")
		w.acquire(p+"/mail/leader", s, "mail-1")
		w.acquire(p+"/hidden", alone, "x")
		r := w.run("destroy", "--session", strings.ToUpper(s), "--yes", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
		has(t, r.errOut, "Session "+s+" (behavior release", "released  "+p+"/mail/leader")
		l := resultLines(t, r.out)
		if len(l) != 2 || l[0].Election != "mail" || l[1].Election != "web" || l[0].Result != "done" || l[1].Result != "done" {
			t.Errorf("%s", r.out)
		}
		w.run("destroy", "--session", alone, "--yes", "--wait", "1s", "-k", p+"/*/leader").must(t, exitUsage)
		r = w.run("destroy", "--session", alone, "--yes", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
		want := `{"election":"","key":"","action":"destroy","result":"done","old":{"leader":"","session":"` + alone + `","node":"node-1"},"note":"the session also lost ` + p + `/hidden"}` + "\n"
		if r.out != want {
			t.Errorf("%s\nwant\n%s", r.out, want)
		}
		r = w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "destroy", "--session", s, "-k", p+"/*/leader").must(t, exitFailed)
		has(t, r.errOut, "no such session: "+s)
		if strings.Contains(r.errOut, "searching") || strings.Contains(r.errOut, "[y/N]") {
			t.Errorf("destroy searched the store or requested a confirmation although the session no longer exists: %s", r.errOut)
		}
	})
}

func TestNodeSelectsTheElectionsLedThere(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		node, other, _ := threeNodes(t, w)
		here, first, second := w.sessionOn(other), w.sessionOn(node), w.sessionOn(node)
		w.acquire(p+"/web/leader", first, "web-1")
		w.acquire(p+"/mail/leader", first, "mail-1")
		w.acquire(p+"/post/leader", second, "post-1")
		w.acquire(p+"/chat/leader", here, "chat-1")
		r := w.run("release", "web", "chat", "--node", node, "--yes", k).must(t, exitOK)
		if r.out != "web: web-1 on "+node+" was released; it may already lead again\n" {
			t.Errorf("out %q", r.out)
		}
		r = w.run("release", "--node", node, "--yes", k).must(t, exitOK)
		if r.out != "mail: mail-1 on "+node+" was released; it may already lead again\npost: post-1 on "+node+" was released; it may already lead again\n" {
			t.Errorf("out %q", r.out)
		}
		w.acquire(p+"/mail/leader", first, "mail-1")
		w.acquire(p+"/post/leader", second, "post-1")
		r = w.run("destroy", "--node", node, "--yes", k).must(t, exitOK)
		if !strings.HasPrefix(r.out, "mail: mail-1 on "+node+": its session was destroyed. ") || !strings.Contains(r.out, "\npost: post-1 on "+node+": its session was destroyed. ") || strings.Count(r.out, "\n") != 2 {
			t.Errorf("out %q", r.out)
		}
		if w.get(p+"/chat/leader").Session != here {
			t.Error("the release changed an election on another node")
		}
		w.run("release", "--node", node, "--yes", k).must(t, exitNoElection)
	})
}

// The .lock key of a semaphore has no leader. The contender key of each holder has a leader.
func TestSemaphoresHaveNoLeader(t *testing.T) {
	w := onMemory(t)
	held, err := w.client.SemaphorePrefix("gpu", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Acquire(nil); err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, verb := range []string{"release", "destroy"} {
		r := w.run(verb, "gpu/.lock", "--yes", "-k", "gpu/*").must(t, exitNoLeader)
		has(t, r.errOut, "the key belongs to a semaphore, which has holders and no leader")
	}
	keys, _, err := w.client.KV().Keys("gpu/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if key != "gpu/.lock" {
			w.run("destroy", key, "--yes", "-k", "gpu/*").must(t, exitOK)
		}
	}
}

// Patroni identifies its leader by the key's value, so a release would do harm.
func TestReleaseRefusesPatroni(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		leader, _ := cluster(w, p)
		w.acquire(p+"/web/leader", w.session(nil), "web-1")
		before := w.get(p + "/db/leader").ModifyIndex
		for _, args := range [][]string{{"db"}, {"db", "--yes"}, {"db", "--yes", "--wait", "30s"}} {
			d := deps{stdin: strings.NewReader("y\n"), interactive: true}
			r := w.runWith(d, append([]string{"release", "-k", p + "/*/leader"}, args...)...).must(t, exitFailed)
			has(t, r.errOut, "electop: db: nothing was changed: ", "instead   patronictl switchover db\n")
			if r.out != "" || strings.Contains(r.errOut, "[y/N]") {
				t.Errorf("%v: out %q err %q", args, r.out, r.errOut)
			}
		}
		r := w.run("release", "db", "web", "--yes", "-o", "json", "-k", p+"/*/leader").must(t, exitFailed)
		l := resultLines(t, r.out)
		if len(l) != 2 || l[0].Result != "refused" || l[0].Reason == "" || l[1].Result != "done" {
			t.Errorf("%s", r.out)
		}
		if pair := w.get(p + "/db/leader"); pair.Session != leader || pair.ModifyIndex != before {
			t.Errorf("%+v", pair)
		}
	})
}
