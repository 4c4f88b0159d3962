package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/insight"
	"electop/internal/consultest"
)

// contend acquires the key for a session whenever it is free, like candidates and
// like holders that refresh with ?acquire=.
func contend(t *testing.T, w *testConsul, key, session, value string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q := (&api.QueryOptions{}).WithContext(ctx)
		for ctx.Err() == nil {
			pair, meta, err := w.client.KV().Get(key, q)
			if err != nil {
				continue // the test ends it
			}
			q.WaitIndex = meta.LastIndex
			if pair == nil || pair.Session == "" {
				if ok, _, err := w.client.KV().Acquire(&api.KVPair{Key: key, Value: []byte(value), Session: session}, nil); !ok || err != nil {
					q.WaitIndex = 0 // no blocking query returns when the lock-delay ends
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}

// followed reports whether a text contains the time after which a leader followed. For a vacancy of less than a
// millisecond, this is "immediately".
func followed(text, leader string) bool {
	return strings.Contains(text, leader+" after ") || strings.Contains(text, leader+" immediately")
}

// resultLine is one line of `release -o json`.
type resultLine struct {
	Election, Key, Action, Result, Reason, Note string
	Old                                         struct{ Leader, Session, Node string }
	New                                         *struct{ Leader, Session, Node string }
	VacancyMS                                   *int64 `json:"vacancy_ms"`
}

func resultLines(t *testing.T, out string) []resultLine {
	t.Helper()
	all := jsonLines[resultLine](t, out)
	if strings.Count(out, "\n") != len(all) {
		t.Errorf("want one JSON object per line, got %q", out)
	}
	return all
}

func TestTheSameLeaderLeadsAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		key := p + "/web/leader"
		s := w.session(nil)
		w.acquire(key, s, "payments-3")
		contend(t, w, key, s, "payments-3")
		r := w.run("release", "web", "--yes", "--wait", "30s", "-k", p+"/*/leader").must(t, exitSameLeader)
		if !followed(r.out, "web: payments-3 on node-1 leads again") {
			t.Errorf("out %q", r.out)
		}
		has(t, r.errOut, "  to force  electop drain node-1 --include web\n")
		r = w.run("release", "web", "--yes", "--wait", "30s", "-o", "json", "-k", p+"/*/leader").must(t, exitSameLeader)
		l := resultLines(t, r.out)
		if len(l) != 1 || l[0].Result != "same_leader" || l[0].New == nil || l[0].New.Session != s || l[0].Old != *l[0].New || l[0].VacancyMS == nil {
			t.Errorf("%s", r.out)
		}
		r = w.run("release", "web", "--yes", "-k", p+"/*/leader").must(t, exitOK) // without --wait, the next leader is unknown
		has(t, r.out, "payments-3 on node-1 was released; it may already lead again")
	})
}

func TestAnInterruptedWaitReportsTheAction(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out buffer
	d := deps{stdin: strings.NewReader(""), stdout: &out, stderr: &stopper{word: "waiting up to", stop: cancel}}
	if code := run(ctx, d, []string{"--http-addr", w.addr, "release", "web", "--yes", "--wait", "1h"}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	has(t, out.String(), "web: web-1 on node-1 was released: interrupted while waiting for the next leader\n")
	if w.get("service/web/leader").Session != "" {
		t.Error("the key is still held")
	}
}

// The first ctrl-c lets a write in progress end. No other write begins.
func TestAnInterruptLetsAWriteEnd(t *testing.T) {
	for action, path := range map[string]string{"release": "/v1/txn", "destroy": "/v1/session/destroy/"} {
		t.Run(action, func(t *testing.T) {
			w := onMemory(t)
			w.acquire("service/web/leader", w.session(nil), "web-1")
			w.acquire("service/mail/leader", w.session(nil), "mail-1")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			addr := consultest.ReverseProxy(t, w.addr, func(to http.ResponseWriter, r *http.Request, forward http.Handler) {
				if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, path) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						return
					}
					if action == "destroy" || strings.Contains(string(body), "unlock") {
						cancel()
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
				}
				forward.ServeHTTP(to, r)
			})
			var out buffer
			d := deps{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
			if code := run(ctx, d, []string{"--http-addr", addr, action, "web", "mail", "--yes"}); code != exitFailed || w.get("service/web/leader").Session != "" || w.get("service/mail/leader").Session == "" {
				t.Errorf("exit code %d: %s", code, out.String())
			}
			has(t, out.String(), "mail: nothing was changed: interrupted before the "+action)
		})
	}
}

func TestResultLineIsStableJSON(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1\x1b[2J")
	r := w.run("release", "web", "--yes", "-o", "json").must(t, exitOK)
	want := `{"election":"web","key":"service/web/leader","action":"release","result":"done",` +
		`"old":{"leader":"web-1␛[2J","session":"` + s + `","node":"node-1"}}` + "\n"
	if r.out != want {
		t.Errorf("%s\nwant\n%s", r.out, want)
	}
	r = w.run("release", "web", "--yes", "-o", "json").must(t, exitNoLeader)
	want = `{"election":"web","key":"service/web/leader","action":"release","result":"no_leader",` +
		`"old":{"leader":"","session":"","node":""},"reason":"the election has no leader"}` + "\n"
	if r.out != want || r.errOut != "" {
		t.Errorf("%s%s\nwant\n%s", r.out, r.errOut, want)
	}
	w.acquire("service/web/leader", s, "web-1")
	r = w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "destroy", "web", "-o", "json").must(t, exitOK)
	if l := resultLines(t, r.out); len(l) != 1 || l[0].Result != "done" {
		t.Errorf("%s", r.out)
	}
	has(t, r.errOut, "Destroy the session of web", "[y/N]")
}

func TestWaitReportsEachElection(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		for _, verb := range []string{"release", "destroy"} {
			p := prefix(t) + verb
			for _, name := range []string{"web", "mail"} {
				w.acquire(p+"/"+name+"/leader", w.session(func(s *api.SessionEntry) { s.LockDelay = 10 * time.Millisecond }), name+"-1")
				contend(t, w, p+"/"+name+"/leader", w.session(nil), name+"-2")
			}
			r := w.run(verb, "web", "mail", "--yes", "--wait", "30s", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
			has(t, r.errOut, "waiting up to 30s for the next leader of web, mail\n", "electop: 2 moved\n")
			for _, l := range resultLines(t, r.out) {
				if l.Result != "moved" || l.Action != verb || l.VacancyMS == nil || l.Old.Leader != l.Election+"-1" || l.Old.Node != "node-1" || l.New.Leader != l.Election+"-2" {
					t.Errorf("%+v %+v", l, l.New)
				}
			}
		}
	})
}

func TestWaitWithoutANextLeader(t *testing.T) {
	slow(t)
	w := onMemory(t)
	for _, name := range []string{"web", "mail"} {
		w.acquire("service/"+name+"/leader", w.session(func(s *api.SessionEntry) { s.LockDelay = 30 * time.Second }), name+"-1")
	}
	r := w.run("release", "web", "--yes", "--wait", "200ms").must(t, exitFailed)
	has(t, r.out, "web: web-1 on node-1 → no leader: no candidate acquired the key within 200ms\n")
	r = w.run("destroy", "mail", "--yes", "--wait", "1s", "-o", "json").must(t, exitFailed)
	has(t, r.out, `"result":"vacant"`, "within 1s; the lock-delay lasts for about ")
	lacks(t, r.out, `"new"`, "vacancy_ms")
}

func TestOutcomeWhenAWaitEnds(t *testing.T) {
	for _, tt := range []struct {
		kind   insight.OutcomeKind
		held   string
		state  election.ConnectionState
		want   insight.OutcomeKind
		reason string
	}{
		{insight.OutcomeDone, "", election.Lost, insight.OutcomeDone, "Consul did not respond; the current leader is unknown"},
		{insight.OutcomeDone, "s", election.Live, insight.OutcomeDone, "no later term was observed within 1s"},
		{insight.OutcomeUnknown, "", election.Live, insight.OutcomeUnknown, "not confirmed; the election has no leader"},
	} {
		e := &election.Election{Exists: true, Pair: election.Pair{Key: "k", Session: tt.held}}
		last := &election.Snapshot{At: time.Now(), Elections: []*election.Election{e}, Connection: election.Connection{State: tt.state}}
		o := insight.Outcome{Action: election.ActionRelease, Kind: tt.kind, Reason: "not confirmed", Target: election.Target{Key: "k"}}
		if got := waitEnded(o, last, time.Second, false); got.Kind != tt.want || got.Reason != tt.reason {
			t.Errorf("%s %q, want %s %q", got.Kind, got.Reason, tt.want, tt.reason)
		}
	}
}
