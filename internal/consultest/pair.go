package consultest

import (
	"fmt"
	"strings"
	"testing"

	"electop/election"
)

// Patterns parses patterns.
func Patterns(tb testing.TB, texts ...string) election.Patterns {
	tb.Helper()
	ps, err := election.ParsePatterns(texts)
	Must(tb, err)
	return ps
}

// Pair parses a state of the key service/web/leader: the session ("-" for none), LockIndex, CreateIndex, ModifyIndex and
// the value, which is the leader's name.
func Pair(text string) election.Pair {
	p := election.Pair{Key: "service/web/leader"}
	var value string
	_, _ = fmt.Sscan(text, &p.Session, &p.LockIndex, &p.CreateIndex, &p.ModifyIndex, &value) // the value may be missing
	p.Session, p.Value = strings.TrimPrefix(p.Session, "-"), []byte(value)
	return p
}
