package consulx

import (
	"encoding/json"
	"strings"
	"testing"

	"electop/election"
	"electop/election/insight"
)

// The warning before a release must use the same size limit as the release. A warning for values up to 4 KB below the
// limit is acceptable.
func TestTheWarningMatchesTheRelease(t *testing.T) {
	c := &Client{namespace: strings.Repeat("n", 64), partition: strings.Repeat("p", 64)}
	p := election.Pair{Key: strings.Repeat("k", 512), Session: "695bfbd0-6350-7587-addf-a18084928f3c", ModifyIndex: 1 << 60, Flags: 1<<64 - 1}
	for size := 380_000; size < 400_000; size += 100 {
		p.Value = make([]byte, size)
		body, err := json.Marshal(c.unlockOps(&p))
		if err != nil {
			t.Fatal(err)
		}
		e := &election.Election{Exists: true, Pair: p, Session: &election.Session{ID: p.Session}}
		warned := strings.Contains(strings.Join(insight.EffectOf(election.ActionRelease, e, nil, 1).Warnings, " "), "too large for a transaction")
		if large := len(body) >= insight.TxnBodyLimit; large && !warned || warned && len(body) < insight.TxnBodyLimit-4<<10 {
			t.Errorf("value of %d bytes, body of %d bytes: warned %t, want a warning only near the limit", size, len(body), warned)
		}
	}
}
