package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/insight"
	"electop/internal/consultest"
	"electop/internal/history"
	"electop/internal/history/sqlite"
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
	var all []resultLine
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	for d.More() {
		var l resultLine
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all = append(all, l)
	}
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

func TestWaitReportsEachElection(t *testing.T) {
	for _, verb := range []string{"release", "destroy"} {
		t.Run(verb, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *testConsul) {
				p := prefix(t)
				brief := func(s *api.SessionEntry) { s.LockDelay = 10 * time.Millisecond }
				web, mail := w.session(brief), w.session(brief)
				w.acquire(p+"/web/leader", web, "web-1")
				w.acquire(p+"/mail/leader", mail, "mail-1")
				contend(t, w, p+"/web/leader", w.session(brief), "web-2")
				contend(t, w, p+"/mail/leader", w.session(brief), "mail-2")
				r := w.run(verb, "web", "mail", "--yes", "--wait", "30s", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
				got := map[string]resultLine{}
				for _, l := range resultLines(t, r.out) {
					got[l.Election] = l
				}
				for name, session := range map[string]string{"web": web, "mail": mail} {
					l := got[name]
					if l.Result != "moved" || l.Action != verb || l.Key != p+"/"+name+"/leader" || l.VacancyMS == nil ||
						l.Old.Leader != name+"-1" || l.Old.Session != session || l.Old.Node != "node-1" ||
						l.New == nil || l.New.Leader != name+"-2" || l.New.Session == session {
						t.Errorf("%+v %+v", l, l.New)
					}
				}
				has(t, r.errOut, "waiting up to 30s for the next leader of web, mail\n")
			})
		})
	}
}

func TestWaitWithoutANextLeader(t *testing.T) {
	slow(t)
	w := onMemory(t)
	for _, name := range []string{"web", "mail"} {
		w.acquire("service/"+name+"/leader", w.session(func(s *api.SessionEntry) { s.LockDelay = 30 * time.Second }), name+"-1")
	}
	file := historyFile(t)
	r := w.run("release", "web", "--yes", "--wait", "200ms", "--history", file).must(t, exitFailed)
	f, err := sqlite.OpenFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if actions, err := f.Actions(t.Context(), history.Range{}); err != nil || len(actions) != 1 {
		t.Errorf("want one stored action, got %v %+v", err, actions)
	}
	has(t, r.out, "web: web-1 on node-1 → no leader: no candidate acquired the key within 200ms\n")
	r = w.run("destroy", "mail", "--yes", "--wait", "1s", "-o", "json").must(t, exitFailed)
	l := resultLines(t, r.out)
	if len(l) != 1 || l[0].Result != "vacant" || l[0].New != nil || l[0].VacancyMS != nil {
		t.Errorf("%s", r.out)
	}
	has(t, l[0].Reason, "within 1s; the lock-delay lasts for about ")
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

// The first ctrl-c lets a write in progress end.
func TestAnInterruptLetsAWriteEnd(t *testing.T) {
	for action, path := range map[string]string{"release": "/v1/txn", "destroy": "/v1/session/destroy/"} {
		t.Run(action, func(t *testing.T) {
			w := onMemory(t)
			w.acquire("service/web/leader", w.session(nil), "web-1")
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
			if code := run(ctx, d, []string{"--http-addr", addr, action, "web", "--yes"}); code != exitOK {
				t.Errorf("exit code %d: %s", code, out.String())
			}
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

func TestResultsContainNoControlCharacters(t *testing.T) {
	w := onMemory(t)
	for _, verb := range []string{"release", "destroy"} {
		for _, format := range []string{"text", "json"} {
			key := "service/" + verb + format + "\u202eb\x1b]0;x\x07/leader"
			s := w.session(func(s *api.SessionEntry) { s.Name = "n\x1b[2J" })
			txn := api.TxnOps{{KV: &api.KVTxnOp{Verb: api.KVLock, Key: key, Value: []byte("\x1b[2J\u200bv"), Session: s}}}
			if ok, _, _, err := w.client.Txn().Txn(txn, nil); !ok || err != nil {
				t.Fatal(ok, err)
			}
			d := deps{stdin: strings.NewReader("y\n"), interactive: true}
			r := w.runWith(d, verb, key, "-o", format, "--wait", "20ms").must(t, exitFailed)
			for _, text := range []string{r.out, r.errOut} {
				if i := bytes.IndexAny([]byte(text), "\x1b\x07\u202e\u200b\r"); i >= 0 {
					t.Errorf("%s %s: %q", verb, format, text)
				}
			}
		}
	}
}

func TestOutcomeWhenAWaitEnds(t *testing.T) {
	now := time.Now()
	done := insight.Outcome{Action: election.ActionRelease, Kind: insight.OutcomeDone, Target: election.Target{Key: "k"}}
	unknown := done
	unknown.Kind, unknown.Reason = insight.OutcomeUnknown, "not confirmed"
	snapshot := func(held string, state election.ConnectionState) *election.Snapshot {
		e := &election.Election{Exists: true, Pair: election.Pair{Key: "k", Session: held}}
		return &election.Snapshot{At: now, Elections: []*election.Election{e}, Connection: election.Connection{State: state}}
	}
	partly := snapshot("", election.Live)
	partly.Connection.Stale = []election.StalePart{{Part: election.Part{Kind: election.PartKeys, Range: election.KeyRange("k")}}}
	for _, tt := range []struct {
		name        string
		o           insight.Outcome
		last        *election.Snapshot
		interrupted bool
		kind        insight.OutcomeKind
		reason      string
	}{
		{"vacant", done, snapshot("", election.Live), false, insight.OutcomeVacant, "no candidate acquired the key within 1s"},
		{"lost", done, snapshot("", election.Lost), false, insight.OutcomeDone, "Consul did not respond; the current leader is unknown"},
		{"stale", done, partly, false, insight.OutcomeDone, "Consul did not respond; the current leader is unknown"},
		{"led", done, snapshot("s", election.Live), false, insight.OutcomeDone, "no later term was observed within 1s"},
		{"interrupted", done, snapshot("", election.Live), true, insight.OutcomeDone, "interrupted while waiting for the next leader"},
		{"unknown", unknown, snapshot("", election.Live), false, insight.OutcomeUnknown, "not confirmed; the election has no leader"},
	} {
		got := waitEnded(tt.o, tt.last, time.Second, tt.interrupted)
		if got.Kind != tt.kind || got.Reason != tt.reason {
			t.Errorf("%s: %s %q", tt.name, got.Kind, got.Reason)
		}
	}
}
