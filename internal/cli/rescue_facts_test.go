package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// nodeHealth registers a node with the check serfHealth, or changes the status of the check.
func (w *testConsul) nodeHealth(node, status string) {
	w.t.Helper()
	_, err := w.client.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: "10.0.0.9",
		Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: status},
	}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
}

// alive fails the test unless the session exists.
func (w *testConsul) alive(session string) {
	w.t.Helper()
	if e, _, err := w.client.Session().Info(session, nil); err != nil || e == nil {
		w.t.Errorf("session %s was destroyed (%v)", session, err)
	}
}

// A session of api.Lock that has nothing to do with a key is no reason to write the key.
func TestRescueNeverWritesAKey(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		w.session(func(s *api.SessionEntry) { s.Name, s.TTL = api.DefaultLockSessionName, "20s" })
		if _, err := w.client.KV().Put(&api.KVPair{Key: "service/web/leader", Value: []byte("web-1"), Flags: 42}, nil); err != nil {
			t.Fatal(err)
		}
		leader, _ := cluster(w, "service")
		if ok, _, err := w.client.KV().Release(&api.KVPair{Key: "service/db/leader", Session: leader, Value: []byte("pg1")}, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
		before, _, _ := w.client.KV().List("service/", nil)
		for name, l := range rescueLines(t, w.run("rescue", "--yes", "-o", "json").must(t, exitNoLeader).out) {
			want := map[string]string{"web": "no_candidate", "db": "patroni_released"}[name]
			if l.Problem != want || l.Fix != "manual" || l.Result != "manual" {
				t.Errorf("%s: %+v", name, l)
			}
		}
		for _, was := range before {
			if now := w.get(was.Key); now == nil || now.ModifyIndex != was.ModifyIndex {
				t.Errorf("%s was %+v, is %+v", was.Key, was, now)
			}
		}
	})
}

// A node that fails only for a moment, or recovers, is no failed node. The proxy changes the check between the read for
// the plan and the read before the destroy.
func TestRescueDestroysNothingIfTheNodeCheckChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		statuses []string
		denied   bool
		code     int
		reason   string
	}{
		"recovered": {statuses: []string{api.HealthPassing}, code: exitChanged, reason: "the node check of"},
		"flapped":   {statuses: []string{api.HealthPassing, api.HealthCritical}, code: exitChanged, reason: "the node check of"},
		"unread":    {denied: true, code: exitFailed, reason: "the checks of"},
	} {
		t.Run(name, func(t *testing.T) {
			onOwn(t, func(t *testing.T, w *testConsul) {
				w.t = t
				node, s := w.leaderOnFailedNode("service/web/leader")
				reads := 0
				addr := consultest.ReverseProxy(t, w.addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
					if isChecksRead(r) {
						if reads++; reads > 1 {
							for _, status := range tt.statuses {
								w.nodeHealth(node, status)
							}
							if tt.denied {
								http.Error(rw, "Permission denied", http.StatusForbidden)
								return
							}
						}
					}
					forward.ServeHTTP(rw, r)
				})
				d := soon("")
				d.seen = 200 * time.Millisecond
				r := w.runWith(d, "rescue", "--yes", "--http-addr", addr).must(t, tt.code)
				has(t, r.errOut, "electop waits", "web: nothing was changed: "+tt.reason+" "+strings.ToUpper(node))
				w.alive(s)
			})
		})
	}
}

// Every key of the session must have a problem of its own.
func TestRescueRefusesASessionWithOtherKeys(t *testing.T) {
	onOwn(t, func(t *testing.T, w *testConsul) {
		w.t = t
		_, s := w.leaderOnFailedNode("service/web/leader", "service/mail/leader", "config/lock")
		for _, names := range [][]string{nil, {"web", "mail"}} {
			r := w.runWith(soon(""), append([]string{"rescue", "--yes", "-o", "json"}, names...)...).must(t, exitNoLeader)
			for name, l := range rescueLines(t, r.out) {
				if l.Problem != "leader_failed" || l.Fix != "manual" || l.Result != "manual" || !strings.Contains(l.Do, "the session also holds config/lock") {
					t.Errorf("%s: %+v", name, l)
				}
			}
		}
		w.unlock("config/lock", strings.ToUpper(s))
		r := w.runWith(soon(""), "rescue", "web", "--yes").must(t, exitNoLeader)
		has(t, r.errOut, "the session also holds service/mail/leader")
		w.alive(s)
		acquires := &changingReader{change: func() { w.acquire("config/lock", s, "") }}
		r = w.runWith(deps{stdin: acquires, interactive: true, seen: time.Nanosecond}, "rescue").must(t, exitChanged)
		has(t, r.errOut, "web: nothing was changed: the session also holds config/lock")
		w.alive(s)
	})
}

// changingReader answers yes after a change.
type changingReader struct{ change func() }

func (r *changingReader) Read(p []byte) (int, error) {
	r.change()
	return copy(p, "y\n"), nil
}
