package insight

import (
	"fmt"
	"strings"
	"time"

	"electop/election"
)

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// web parses a state of the key service/web/leader: the session ("-" for none), LockIndex, CreateIndex, ModifyIndex and
// the value, which is the leader's name.
func web(text string) election.Pair {
	p := election.Pair{Key: "service/web/leader"}
	var value string
	_, _ = fmt.Sscan(text, &p.Session, &p.LockIndex, &p.CreateIndex, &p.ModifyIndex, &value) // the value may be missing
	p.Session, p.Value = strings.TrimPrefix(p.Session, "-"), []byte(value)
	return p
}
