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
				if !strings.Contains(r.errOut, "old on node-1  term 1") {
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

// Consul compares session IDs without case, and a key keeps the spelling with which it was acquired.
func TestASessionIsDestroyedOnceForAllItsElections(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		for _, args := range [][]string{{"destroy", "web", "mail"}, {"destroy", "--session", ""}} {
			s := w.session(func(e *api.SessionEntry) { e.LockDelay = time.Millisecond })
			if len(args) == 3 && args[2] == "" {
				args[2] = strings.ToUpper(s)
			}
			eventually(t, "end of the lock-delay", func() bool {
				ok, _, _ := w.client.KV().Acquire(&api.KVPair{Key: p + "/web/leader", Value: []byte("web-1"), Session: s}, nil)
				return ok
			})
			w.acquire(p+"/mail/leader", strings.ToUpper(s), "mail-1")
			w.acquire(p+"/hidden", s, "x")
			r := w.run(append(args, "--yes", "-o", "json", k)...).must(t, exitOK)
			has(t, unwrapped(r.errOut), p+"/mail/leader is released", p+"/hidden is released, not watched")
			has(t, r.out, `"note":"the session also lost `+p+`/hidden"`)
			if got := resultsOf(t, r); !maps.Equal(got, map[string]string{"web": "done", "mail": "done"}) || strings.Count(r.errOut, "keys in all") != 1 {
				t.Errorf("%v %s", got, r.errOut)
			}
			if e, _, _ := w.client.Session().Info(s, nil); e != nil || w.get(p+"/hidden").Session != "" {
				t.Error("the session still exists")
			}
		}
		alone := w.session(nil)
		w.acquire(p+"/hidden", alone, "x")
		w.run("destroy", "--session", alone, "--yes", "--wait", "1s", k).must(t, exitUsage)
		r := w.run("destroy", "--session", alone, "--yes", k).must(t, exitOK)
		has(t, r.out, "session "+alone+": session "+alone[:8]+" was destroyed; the session also lost "+p+"/hidden. ")
		r = w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "destroy", "--session", alone, k).must(t, exitFailed)
		has(t, r.errOut, "no such session: "+alone)
		lacks(t, r.errOut, "searching", "[y/N]")
	})
}

func TestNodeSelectsTheElectionsLedThere(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		node, other, _ := threeNodes(t, w)
		here, there := w.sessionOn(other), w.sessionOn(node)
		w.acquire(p+"/web/leader", there, "web-1")
		w.acquire(p+"/mail/leader", there, "mail-1")
		w.acquire(p+"/chat/leader", here, "chat-1")
		r := w.run("release", "web", "chat", "--node", node, "--yes", k).must(t, exitOK)
		if r.out != "web: web-1 on "+node+" was released; it may already lead again\n" {
			t.Errorf("out %q", r.out)
		}
		has(t, w.run("destroy", "--node", node, "--yes", k).must(t, exitOK).out, "mail: mail-1 on "+node+": its session was destroyed. ")
		if w.get(p+"/chat/leader").Session != here {
			t.Error("the action changed an election on another node")
		}
		w.run("release", "--node", node, "--yes", k).must(t, exitNoElection)
	})
}

// Patroni identifies its leader by the key's value, so a release would do harm.
func TestReleaseRefusesPatroni(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		leader, _ := cluster(w, p)
		w.acquire(p+"/web/leader", w.session(nil), "web-1")
		before, k := w.get(p+"/db/leader").ModifyIndex, "-k"+p+"/*/leader"
		r := w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "release", "db", k).must(t, exitFailed)
		has(t, r.errOut, "electop: db: nothing was changed: ", "instead   patronictl switchover db\n")
		lacks(t, r.out+r.errOut, "[y/N]")
		r = w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "release", "db", "web", k).must(t, exitFailed)
		if at := func(part string) int { return strings.Index(r.errOut, part) }; at("Release web.") < 0 || at("Release web.") > at("electop: db: nothing was changed") || at("electop: db") > at("Release web? [y/N]") {
			t.Errorf("want the plan, the skipped election and the question: %s", r.errOut)
		}
		r = w.run("release", "db", "web", "web", "--yes", "-o", "json", k).must(t, exitFailed)
		if got := resultsOf(t, r); !maps.Equal(got, map[string]string{"db": "refused", "web": "done"}) {
			t.Errorf("%s", r.out)
		}
		has(t, r.errOut, "electop: 1 done, 1 refused\n")
		if pair := w.get(p + "/db/leader"); pair.Session != leader || pair.ModifyIndex != before {
			t.Errorf("%+v", pair)
		}
	})
}
