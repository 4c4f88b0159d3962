package observe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// This benchmark measures how long the decoding of a response about keys takes, from the bytes on the connection to
// the pairs that the tracker receives.

// benchAnswer is Consul's response with n elections.
func benchAnswer(b *testing.B, n int) []byte {
	b.Helper()
	pairs := make(api.KVPairs, n)
	for i := range pairs {
		pairs[i] = &api.KVPair{
			Key: fmt.Sprintf("service/svc-%06d/leader", i), CreateIndex: 10, ModifyIndex: uint64(1000 + i), LockIndex: 1,
			Value:   fmt.Appendf(nil, `{"name":"candidate-%05d","address":"10.0.0.9:9000","version":"1.14.2"}`, i),
			Session: fmt.Sprintf("695bfbd0-6350-7587-addf-%012d", i),
		}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

func BenchmarkDecodeKeys(b *testing.B) {
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := benchAnswer(b, n)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("X-Consul-Index", "7")
				_, _ = w.Write(text)
			}))
			defer server.Close()
			c, err := consulx.NewClient(consulx.Config{Address: server.URL})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			k := keyPoller{o: &Observer{client: c}, watch: prefixWatch("service/"), patterns: ps}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Poll(c.Read(b.Context())); err != nil {
					b.Fatal(err)
				}
				if k.state.last = k.answer; len(k.answer.Pairs) != n {
					b.Fatalf("%d elections", len(k.answer.Pairs))
				}
			}
		})
	}
}
