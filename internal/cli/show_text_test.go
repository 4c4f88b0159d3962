package cli

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

func TestSemaphoreWhoseContendersWereNotRead(t *testing.T) {
	e := &election.Election{Name: "gpu", Exists: true, Pair: election.Pair{
		Key: "gpu/.lock", Flags: election.SemaphoreFlag, Value: []byte(`{"Limit":2,"Holders":{}}`),
	}}
	snapshot := &election.Snapshot{Elections: []*election.Election{e}}
	around := election.Surroundings{Key: e.Key(), SiblingsErr: "keys: not readable"}
	var text strings.Builder
	if err := writeElection(&text, e, nil, newAssessment(snapshot, e, around), snapshot.At); err != nil {
		t.Fatal(err)
	}
	has(t, text.String(), "limit 2", " Unknown: waiters, and holders whose session ended.\n")
}

// When Consul's leader changes, the TTL of every session restarts.
func TestTextOfATTLIsNoPromise(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(func(s *api.SessionEntry) { s.TTL = "15s" }), "web-1")
	has(t, w.run("show", "web").must(t, exitOK).out, "15s (Consul invalidates the session about 30s after the last renewal, later if Consul's leader changes)")
}

func TestProbeText(t *testing.T) {
	for _, tt := range []struct {
		probe consulx.ProbeResult
		want  string
	}{
		{consulx.ProbeResult{State: consulx.LockHeld, Session: "a\x1bb"}, "held by session a␛b"},
		{consulx.ProbeResult{State: consulx.LockDelayed}, "a lock-delay is active: Consul rejects every acquire"},
		{consulx.ProbeResult{State: consulx.LockFree}, "free: no lock-delay is active; the next candidate that acquires the key creates it and leads"},
		{consulx.ProbeResult{State: consulx.LockFree, Exists: true}, "free: no lock-delay is active; the next candidate that acquires the key leads"},
	} {
		if text := probeText(tt.probe); text != tt.want {
			t.Errorf("%q, want %q", text, tt.want)
		}
	}
}
