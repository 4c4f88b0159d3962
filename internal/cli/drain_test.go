package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// node registers a node, on which sessions can be created.
func (w *testConsul) node(name string) {
	w.t.Helper()
	if _, err := w.client.Catalog().Register(&api.CatalogRegistration{Node: name, Address: "10.0.0.2"}, nil); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: name}, nil) })
}

// sessionOn creates a session on a node.
func (w *testConsul) sessionOn(node string) string {
	w.t.Helper()
	return w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay = node, 10*time.Millisecond })
}

// drainLine is one line of `drain -o json`.
type drainLine struct {
	Election, Key, Result, Reason, Better  string
	Rounds                                 int
	Destroyed, Summary                     bool
	Old                                    struct{ Leader, Session, Node string }
	New                                    *struct{ Leader, Session, Node string }
	VacancyMS                              *int64 `json:"vacancy_ms"`
	Elections, Moved, Stayed, Vacant       int
	Failed, Interrupted, Skipped, Releases int
}

// drainLines parses the lines by election; the last line is the summary.
func drainLines(t *testing.T, text string) (lines map[string]drainLine, summary drainLine) {
	t.Helper()
	lines = map[string]drainLine{}
	for line := range strings.Lines(text) {
		l := decoded[drainLine](t, line)
		if l.Summary {
			summary = l
		} else {
			lines[l.Election] = l
		}
	}
	if !summary.Summary {
		t.Fatalf("no summary: %s", text)
	}
	return lines, summary
}

// threeNodes registers three nodes for one test: tests share an agent.
func threeNodes(t *testing.T, w *testConsul) (drained, second, third string) {
	t.Helper()
	p := prefix(t)
	drained, second, third = p+"-n1", p+"-n2", p+"-n3"
	for _, name := range []string{drained, second, third} {
		w.node(name)
	}
	return drained, second, third
}

func TestDrainMovesEveryLeaderOffTheNode(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		a, b, c := threeNodes(t, w)
		web, other, elsewhere := w.sessionOn(a), w.sessionOn(a), w.sessionOn(b)
		w.acquire(p+"/web/leader", web, "web-1")
		w.acquire(p+"/mail/leader", other, "mail-1")
		w.acquire(p+"/chat/leader", elsewhere, "chat-1")
		w.acquire(p+"-locks/backup", other, "backup-1") // no pattern matches it
		contend(t, w, p+"/web/leader", w.sessionOn(b), "web-2")
		contend(t, w, p+"/mail/leader", w.sessionOn(c), "mail-2")
		contend(t, w, p+"-locks/backup", w.sessionOn(c), "backup-2")
		chat := w.get(p + "/chat/leader").ModifyIndex
		r := w.run("drain", a, "--yes", "--settle", "100ms", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
		lines, summary := drainLines(t, r.out)
		for name, node := range map[string]string{"web": b, "mail": c, p + "-locks/backup": c} {
			l := lines[name]
			if l.Result != "moved" || l.Rounds != 1 || l.Old.Node != a || l.New == nil || l.New.Node != node || l.VacancyMS == nil {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if len(lines) != 3 || summary.Moved != 3 || summary.Elections != 3 || summary.Releases != 3 {
			t.Errorf("%s", r.out)
		}
		if w.get(p+"/chat/leader").ModifyIndex != chat {
			t.Error("the drain changed an election on another node")
		}
		has(t, r.errOut, "3 elections to move. As of ", "not watched", " lead no election of the drain (3 elections: 3 moved; 3 releases in ",
			"acquires first: electop drain "+c+" "+b+" --include "+p+"-locks/backup --include mail --include web\n")
		r = w.run("drain", a, "--yes", "-k", p+"/*/leader").must(t, exitOK) // no leader remains on the node
		has(t, r.errOut, "No session on ", " lead no election of the drain")
	})
}

func TestDrainReportsWhatStayedAndWhatIsVacant(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		a, _, _ := threeNodes(t, w)
		stays, vacant := w.sessionOn(a), w.sessionOn(a)
		w.acquire(p+"/stays/leader", stays, "stays-1")
		acquireWith(w, api.KVPair{Key: p + "/vacant/leader", Session: vacant, Value: []byte("vacant-1"), Flags: 42})
		contend(t, w, p+"/stays/leader", stays, "stays-1")
		args := []string{"drain", a, "--yes", "--settle", "100ms", "--wait", "300ms", "--rounds", "3", "-k", p + "/*/leader"}
		r := w.run(append(args, "-o", "json")...).must(t, exitSameLeader)
		lines, summary := drainLines(t, r.out)
		if l := lines["stays"]; l.Result != "stayed" || l.Rounds != 3 || l.New.Node != a || !strings.Contains(l.Reason, "led again after each of 3 releases") {
			t.Errorf("%+v", l)
		}
		if l := lines["vacant"]; l.Result != "vacant" || l.Rounds != 1 || l.New != nil {
			t.Errorf("%+v", l)
		}
		if kept := w.get(p + "/vacant/leader"); summary.Stayed != 1 || summary.Vacant != 1 || string(kept.Value) != "vacant-1" || kept.Flags != 42 {
			t.Errorf("%+v %+v", summary, kept)
		}
		has(t, r.errOut, "none was seen: it may stay vacant", a+" still lead 1 election")
		r = w.run(append(args, "--destroy")...).must(t, exitOK) // the session has ended, so no candidate competes
		has(t, r.out, "stays: stays-1 on "+a+" → no leader, 3 releases and a destroy: no candidate acquired the key within 300ms\n")
		has(t, r.errOut, "leads an election after 3 releases, electop destroys this session once", "Lock-delay 10ms")
	})
}

func TestDrainDoesNotDestroyASessionWithOtherKeys(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	s := w.sessionOn(a)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("service/mail/leader", s, "mail-1")
	contend(t, w, "service/web/leader", s, "web-1")
	r := w.run("drain", a, "--yes", "--rounds", "1", "--destroy", "--exclude", "mail").must(t, exitSameLeader)
	has(t, r.out, "and its session was not destroyed: it also holds service/mail/leader, which is not part of the drain")
	has(t, r.errOut, "Skipped mail: excluded by --exclude")
	leader, _ := cluster(w, "service")
	r = w.run("drain", "node-1", "--yes", "-o", "json").must(t, exitFailed)
	if lines, _ := drainLines(t, r.out); lines["db"].Result != "skipped" || lines["db"].Better != "patronictl switchover db" || w.get("service/db/leader").Session != leader {
		t.Errorf("%s", r.out)
	}
	r = w.run("drain", "node-1", "--yes", "--exclude", "db", "-o", "json").must(t, exitOK)
	has(t, w.run("drain", a, "--dry-run", "--include", "mail", "-o", "json").must(t, exitOK).out, `"reason":"not selected by --include"`)
	if w.get("service/mail/leader").Session != s {
		t.Error("the drain changed an excluded election")
	}
}

func TestADrainThatIsNotConfirmedWritesNothing(t *testing.T) {
	w := onMemory(t)
	a, b, _ := threeNodes(t, w)
	s := w.session(func(e *api.SessionEntry) { e.Node, e.Name = a, "web" })
	w.session(func(e *api.SessionEntry) { e.Node, e.Name = b, "web" })
	w.acquire("service/web/leader", s, "web-1")
	before := w.get("service/web/leader")
	r := w.run("drain", a, "--dry-run", "--read-only").must(t, exitOK)
	has(t, r.out, "Drain "+a+"\n1 election to move. As of ", "web-1", b, "The key is unlocked")
	r = w.run("drain", a, "--dry-run", "-o", "json").must(t, exitOK)
	lines, summary := drainLines(t, r.out)
	if l := lines["web"]; l.Result != "planned" || l.Old.Session != s || !strings.Contains(r.out, `"next":[{"name":"web`) || summary.Elections != 1 {
		t.Errorf("%s", r.out)
	}
	r = w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "drain", a).must(t, exitFailed)
	has(t, r.errOut, "Move 1 election off "+a+"? [y/N] ", "nothing was done")
	if w.get("service/web/leader").ModifyIndex != before.ModifyIndex {
		t.Error("the key was released although the user did not confirm")
	}
}

func TestDrainChecksItsArguments(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	s := w.sessionOn(a)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("locks/backup", s, "backup-1")
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"drain --yes", exitUsage, "drain requires at least one NODE"},
		{"drain node-9 --yes", exitNoElection, "no such node: node-9; Consul's nodes are "},
		{"drain " + a, exitUsage, "stdin is not a terminal"},
		{"drain " + a + " --yes --read-only", exitUsage, "--read-only forbids drain"},
		{"drain " + a + " --yes --rounds 0", exitUsage, "--rounds 0"},
		{"drain " + a + " --yes --settle -1s", exitUsage, "--settle -1s"},
		{"drain " + a + " --yes --wait 0s", exitUsage, "--wait 0s"},
		{"drain " + a + " --yes --exclude wbe", exitNoElection, "no such election: wbe"},
		{"drain " + a + " --yes --include wbe", exitNoElection, "no such election: wbe"},
		{"drain " + a + " --yes --no-scan --include locks/backup", exitNoElection, "the patterns do not select it; use -k locks/backup"},
	} {
		r := w.run(strings.Fields(tt.args)...)
		if r.code != tt.code || !strings.Contains(r.errOut, tt.says) || r.out != "" {
			t.Errorf("%s: exit code %d: %s%s", tt.args, r.code, r.out, r.errOut)
		}
	}
	if w.get("service/web/leader").Session == "" {
		t.Error("a drain with an invalid command line released a key")
	}
	if !completes(func() bool { return strings.Contains(w.run("__complete", "drain", a[:len(a)-1]).out, a+"\n") }) {
		t.Errorf("the completion of drain does not offer %s", a)
	}
}

func TestDrainWithLimitedTokens(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	p := prefix(t)
	web, mail := w.session(nil), w.session(nil)
	w.acquire(p+"/web/leader", web, "web-1")
	w.acquire(p+"/mail/leader", mail, "mail-1")
	keys := token(t, w.client, "keys", `key_prefix "" { policy = "read" }`)
	reads := `key_prefix "" { policy = "read" } session_prefix "" { policy = "read" } node_prefix "" { policy = "read" }`
	partly := token(t, w.client, "partly", reads+` key "`+p+`/web/leader" { policy = "write" }`)

	r := w.run("drain", "node-1", "--yes", "-k", p+"/*/leader", "--token", keys).must(t, exitDenied)
	has(t, r.errOut, "sessions cannot be read with this token")
	r = w.run("drain", "node-1", "--yes", "--wait", "10ms", "-o", "json", "-k", p+"/*/leader", "--token", partly).must(t, exitDenied)
	lines, summary := drainLines(t, r.out)
	if l := lines["mail"]; l.Result != "skipped" || !strings.Contains(l.Reason, `this token lacks key "`+p+`/mail/leader" { policy = "write" }`) {
		t.Errorf("%s", r.out)
	}
	if summary.Vacant != 1 || summary.Skipped != 1 || w.get(p+"/mail/leader").Session != mail {
		t.Errorf("%s", r.out)
	}
	has(t, r.errOut, "node-1 still lead 1 election")
}

func TestAnInterruptedDrainReportsEachElection(t *testing.T) {
	w := onMemory(t)
	a, _, _ := threeNodes(t, w)
	w.acquire("service/web/leader", w.sessionOn(a), "web-1")
	drain := w.background("drain", a, "--yes", "-o", "json", "--history", "off")
	eventually(t, "release", func() bool { return w.get("service/web/leader").Session == "" })
	r := drain.stop().must(t, exitFailed)
	lines, summary := drainLines(t, r.out)
	if l := lines["web"]; l.Result != "moving" || l.Reason != "interrupted" || summary.Interrupted != 1 {
		t.Errorf("%s", r.out)
	}
	has(t, r.errOut, "electop: not verified whether sessions on "+a+" lead an election: interrupted (1 election: 1 interrupted; 1 release in ")
}
