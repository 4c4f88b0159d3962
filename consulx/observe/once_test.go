package observe

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// If the read of a session fails, Once must return the error instead of omitting the session.
func TestOnceFailsWhenASessionCannotBeRead(t *testing.T) {
	client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.URL.Path == "/v1/status/leader":
			return consultest.Answer(r, 200, 0, `"10.0.0.1:8300"`), nil
		case strings.HasPrefix(r.URL.Path, "/v1/kv/"):
			return consultest.Answer(r, 200, 7, `[{"Key":"service/web/leader","Session":"s","ModifyIndex":7,"CreateIndex":7,"LockIndex":1}]`), nil
		case strings.HasPrefix(r.URL.Path, "/v1/session/"):
			return consultest.Answer(r, 500, 0, "rpc error getting client"), nil
		}
		return consultest.Answer(r, 200, 7, `{"Config":{"Datacenter":"dc1"}}`), nil
	}))
	snapshot, err := Once(t.Context(), client, patterns(t, election.DefaultPattern), election.HistoryRead{})
	if err == nil || !strings.Contains(err.Error(), "Consul answered 500") {
		t.Errorf("got %+v, %v; want the error of the session", snapshot, err)
	}
}

// An election without a candidate is idle. At a start, any session that leads no election may be that of a candidate.
func TestElectionsWithoutCandidatesAreIdle(t *testing.T) {
	b := newBackend(t, consulx.Config{Address: consultest.Dev(t).Addr()})
	s := b.Session(api.SessionEntry{Name: "job"})
	for _, name := range []string{"done", "web", "held", "flags"} {
		b.Acquire(api.KVPair{Key: "service/" + name + "/leader", Session: s, Flags: map[string]uint64{"done": election.LockFlag}[name]})
		if name != "held" {
			unlock(t, b, "service/"+name+"/leader", s)
		}
	}
	want := map[string]election.State{"done": election.Idle, "web": election.Idle, "held": election.Led, "flags": election.Idle}
	states := func(s *election.Snapshot) map[string]election.State {
		got := map[string]election.State{}
		for _, e := range s.Elections {
			got[e.Name] = e.State(s.At)
		}
		return got
	}
	once := func() {
		s, err := Once(t.Context(), b.Client, patterns(t), election.HistoryRead{})
		must(t, err)
		if got := states(s); !maps.Equal(got, want) {
			t.Errorf("once: %v, want %v", got, want)
		}
	}
	once()
	board := observe(t, b.Client)
	board.until("idle elections", func() bool { return maps.Equal(states(board.last), want) })
	b.Acquire(api.KVPair{Key: "service/done/leader", Session: s, Flags: election.LockFlag})
	unlock(t, b, "service/done/leader", s)
	want["done"] = election.Vacant
	board.until("a vacant election", func() bool { return maps.Equal(states(board.last), want) })
	b.Session(api.SessionEntry{Name: "waits"})
	want["web"], want["flags"] = election.Vacant, election.Vacant
	once()
}

// unlock releases a key and keeps its value and flags.
func unlock(t *testing.T, b backend, key, session string) {
	t.Helper()
	pair, _, err := b.API.KV().Get(key, nil)
	if err != nil || pair == nil || pair.Session != session {
		t.Fatalf("read %s: %v %v", key, pair, err)
	}
	if ok, _, err := b.API.KV().Release(pair, nil); err != nil || !ok {
		t.Fatalf("release %s: %v %v", key, ok, err)
	}
}
