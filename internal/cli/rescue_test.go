package cli

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

type rescueLine struct {
	Election, Key, Datacenter, Problem, Why, Fix, Do, Session, Result, Reason, Leader string
	LockDelayUntil                                                                    string `json:"lock_delay_until"`
	Keys                                                                              []string
}

// rescueLines returns the objects by election.
func rescueLines(t *testing.T, out string) map[string]rescueLine {
	t.Helper()
	all := map[string]rescueLine{}
	for _, l := range jsonLines[rescueLine](t, out) {
		all[l.Election] = l
	}
	return all
}

// identified fails the test unless rescue identifies exactly this problem of these elections.
func identified(t *testing.T, w *testConsul, k string, names []string, problem, fix string) {
	t.Helper()
	for _, mode := range [][]string{{"rescue", "--dry-run"}, {"--read-only", "rescue"}} {
		if mode[0] == "--read-only" && problem == "lock_delay" {
			continue // only a probe finds it
		}
		all := rescueLines(t, w.run(append(mode, "-o", "json", k)...).must(t, exitOK).out)
		l := all[names[0]]
		if !slices.Equal(slices.Sorted(maps.Keys(all)), names) || l.Problem != problem || l.Fix != fix || l.Result != "proposed" || l.Why == "" || l.Do == "" {
			t.Fatalf("%v: %+v", mode, all)
		}
	}
}

func TestRescueShowsALockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k, key := "-k"+p+"/*/leader", p+"/web/leader"
		s := w.session(func(s *api.SessionEntry) { s.LockDelay = time.Minute })
		w.acquire(key, s, "web-1")
		if _, err := w.client.Session().Destroy(s, nil); err != nil {
			t.Fatal(err)
		}
		identified(t, w, k, []string{"web"}, "lock_delay", "wait")
		has(t, w.run("rescue", "--yes", k).must(t, exitNoLeader).errOut, "electop: web: ", " Wait until the lock-delay ends, in ")
	})
}

// leaderOnFailedNode creates elections with one leader, and then the node of the leader fails.
func (w *testConsul) leaderOnFailedNode(keys ...string) (node, session string) {
	w.t.Helper()
	node = "gone-" + strings.ToLower(prefix(w.t))
	w.nodeHealth(node, api.HealthPassing)
	session = w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay = strings.ToUpper(node), time.Millisecond })
	for _, key := range keys {
		w.acquire(key, strings.ToUpper(session), "gone-1") // a key keeps the spelling of the session's ID
	}
	w.nodeHealth(node, api.HealthCritical)
	return node, session
}

// soon makes rescue trust a critical check without the usual wait.
func soon(answers string) deps {
	return deps{stdin: strings.NewReader(answers), interactive: answers != "", seen: time.Nanosecond}
}

func TestRescueDestroysTheSessionOfAFailedNode(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		w.t = t
		p := prefix(t)
		k, file := "-k"+p+"/*/leader", historyFile(t)
		_, s := w.leaderOnFailedNode(p+"/web/leader", p+"/mail/leader")
		w.acquire(p+"/healthy/leader", w.session(nil), "healthy-1")
		identified(t, w, k, []string{"mail", "web"}, "leader_failed", "destroy_session")
		has(t, w.run("rescue", k).must(t, exitUsage).errOut, "--yes")
		has(t, w.runWith(soon("n\n"), "rescue", k).must(t, exitFailed).errOut, "web (key "+p+"/web/leader)", "Problem      leader_failed", "Destroy the sessions of failed nodes (2 elections)? [y/N]", "nothing was done")
		w.alive(s)
		contend(t, w, p+"/web/leader", w.session(nil), "web-2")
		r := w.runWith(soon(""), "rescue", "--yes", "-o", "json", k, "--history", file).must(t, exitOK)
		for _, name := range []string{"web", "mail"} {
			l := rescueLines(t, r.out)[name]
			if l.Result != "done" || !strings.EqualFold(l.Session, s) || !slices.Equal(l.Keys, []string{p + "/mail/leader", p + "/web/leader"}) {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if w.get(p+"/web/leader").Session == s || w.get(p+"/mail/leader").Session != "" || w.get(p+"/healthy/leader").Session == "" {
			t.Error("rescue destroyed the wrong sessions")
		}
		f, err := sqlite.OpenFile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		actions, err := f.Actions(t.Context(), history.Range{})
		if err != nil || len(actions) != 2 || actions[0].Kind != "destroy" || !strings.EqualFold(actions[0].Session, s) || actions[0].Result != history.ResultDone {
			t.Errorf("%+v %v", actions, err)
		}
	})
}

func TestRescueWaitsForTheNextLeader(t *testing.T) {
	w := onMemory(t)
	_, s := w.leaderOnFailedNode("service/web/leader")
	contend(t, w, "service/web/leader", w.session(nil), "web-2")
	r := w.runWith(soon(""), "rescue", "--yes", "--wait", "30s", "-o", "json").must(t, exitOK)
	if l := rescueLines(t, r.out)["web"]; l.Result != "moved" || l.Leader != "web-2" || !strings.EqualFold(l.Session, s) {
		t.Errorf("%+v", l)
	}
	w.leaderOnFailedNode("service/mail/leader")
	r = w.runWith(soon(""), "rescue", "--yes", "--wait", "50ms", "-o", "json").must(t, exitFailed)
	if l := rescueLines(t, r.out)["mail"]; l.Result != "vacant" || !strings.Contains(l.Reason, "no candidate acquired the key within 50ms") {
		t.Errorf("%+v", l)
	}
}

// The evidence refuses the destroy until it is complete.
func TestTheEvidenceNeedsTime(t *testing.T) {
	w := onMemory(t)
	_, s := w.leaderOnFailedNode("service/web/leader")
	o := &options{consul: consulx.Config{Address: w.addr}, history: historyOff}
	defer o.opened.close()
	l, err := o.readOne(t.Context(), deps{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	items := inspector{client: l.client, elections: l.snapshot.Elections, now: time.Now()}.inspect(t.Context(), l.snapshot.Elections)
	if len(items) != 1 || !fixable(items[0]) || time.Until(items[0].Ready) < failureSeen-5*time.Second {
		t.Fatalf("%+v", items)
	}
	if err := consulx.NewOperator(l.client, nil).DestroySession(t.Context(), items[0].Destroy); !errors.Is(err, consulx.ErrRefused) {
		t.Error(err)
	}
	w.alive(s)
}
