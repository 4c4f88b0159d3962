package consulx

import (
	"encoding/json"
	"strings"
	"testing"

	"electop/election"
	"electop/election/insight"
)

// The plan must refuse what Consul would reject. It may refuse values up to 4 KB below the limit.
func TestTheRefusalMatchesConsulsLimit(t *testing.T) {
	c := &Client{namespace: strings.Repeat("n", 64), partition: strings.Repeat("p", 64)}
	p := election.Pair{Key: strings.Repeat("k", 512), Session: "695bfbd0-6350-7587-addf-a18084928f3c", ModifyIndex: 1 << 60, Flags: 1<<64 - 1}
	for size := 380_000; size < 400_000; size += 100 {
		p.Value = make([]byte, size)
		body, err := json.Marshal(c.unlockOps(&p))
		if err != nil {
			t.Fatal(err)
		}
		e := &election.Election{Exists: true, Pair: p, Session: &election.Session{ID: p.Session}}
		refused := strings.Contains(insight.EffectOf(election.ActionRelease, e, nil, 1).Refusal, "too large for a transaction")
		if large := len(body) >= insight.TxnBodyLimit; large && !refused || refused && len(body) < insight.TxnBodyLimit-4<<10 {
			t.Errorf("value of %d bytes, body of %d bytes: refused %t, want a refusal only near the limit", size, len(body), refused)
		}
	}
}
