package consulx

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// list returns the response to a query for the keys of a shard with 10,000 elections.
func list(b *testing.B) []byte {
	b.Helper()
	var list []map[string]any
	for i := range 213 {
		list = append(list, map[string]any{
			"LockIndex": 3, "Key": fmt.Sprintf("service/svc-%05d/leader", i), "Flags": 0,
			"Value":   base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"name":"svc-%05d-1","address":"10.1.2.%d:8080"}`, i, i)),
			"Session": fmt.Sprintf("adf4238a-882b-9ddc-4a9d-5b6758e4%04x", i), "CreateIndex": 1000 + i, "ModifyIndex": 200000 + i,
		})
	}
	text, err := json.Marshal(list)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkPairs decodes a response in which most pairs are unchanged.
func BenchmarkPairs(b *testing.B) {
	text := list(b)
	before, err := DecodePairs(text, PairList{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodePairs(text, before); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessions decodes a list of 10,000 sessions, first and unchanged.
func BenchmarkSessions(b *testing.B) {
	text := sessionList(b, 10_000)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if _, err := new(sessionDecoder).Decode(text, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		var sessions sessionDecoder
		for b.Loop() {
			if _, err := sessions.Decode(text, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// sessionList returns the response to a query for n sessions.
func sessionList(tb testing.TB, n int) []byte {
	tb.Helper()
	list := make([]api.SessionEntry, n)
	for i := range list {
		list[i] = api.SessionEntry{
			ID: fmt.Sprintf("adf4238a-882b-9ddc-4a9d-5b6758e4%04x", i), Name: fmt.Sprintf("candidate-%05d", i), Node: "node-1",
			LockDelay: 15 * time.Second, Behavior: api.SessionBehaviorRelease, TTL: "15s", NodeChecks: []string{"serfHealth"},
			CreateIndex: uint64(i + 10),
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
