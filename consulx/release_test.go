package consulx

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// consulLimit is the maximum length of a value with Consul's default configuration.
const consulLimit = 512 << 10

// bytesOf returns a value that neither compression nor text encoding can make shorter.
func bytesOf(n int) []byte {
	value := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range value {
		value[i] = byte(r.Uint32())
	}
	return value
}

// A release of a larger value could overwrite a concurrent write of the holder.
func TestReleaseRefusesValuesThatAreTooLargeForATransaction(t *testing.T) {
	release := func(b backend, size int) (refused bool) {
		t := b.T
		key := b.Prefix() + "web/leader"
		b.Acquire(api.KVPair{Key: key, Session: b.Session(), Value: bytesOf(size), Flags: 1<<64 - 1})
		before := b.Get(key)
		err := NewOperator(b.client, nil).Release(t.Context(), targetOf(PairOf(before)))
		after := b.Get(key)
		if refused = errors.Is(err, ErrRefused); refused && after.ModifyIndex != before.ModifyIndex || !refused && (err != nil || after.Session != "") {
			t.Errorf("%d bytes: %v; the key is held by %q", size, err, after.Session)
		}
		if after.Flags != before.Flags || !bytes.Equal(after.Value, before.Value) || after.LockIndex != before.LockIndex {
			t.Errorf("%d bytes: the content changed", size)
		}
		return refused
	}
	onBoth(t, func(b backend) {
		for size, want := range map[int]bool{300_000: false, 392_000: false, 393_200: true, consulLimit: true} {
			if refused := release(b, size); refused != want {
				b.T.Errorf("%d bytes: refused %t, want %t", size, refused, want)
			}
		}
	})
	agent := consultest.Dev(t, consultest.WithConfig(`limits { kv_max_value_size = 65536 txn_max_req_len = 65536 }`))
	if !release(newBackend(t, Config{Address: agent.Addr()}), 60_000) {
		t.Error("a release over the agent's own limit was not refused")
	}
}

// A faulty proxy may answer a transaction that it does not forward, for example with the response to an earlier one.
func TestAReleaseIsDoneOnlyIfTheResponseShowsIt(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key, s := b.Prefix()+"leader", b.Session()
		var body string
		client := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			switch {
			case !isRelease(r):
				forward.ServeHTTP(w, r)
			case body == "":
				answer := httptest.NewRecorder()
				forward.ServeHTTP(answer, r)
				body = answer.Body.String()
				_, _ = io.WriteString(w, body)
			default:
				_, _ = io.WriteString(w, body)
			}
		})
		op := NewOperator(client, nil)
		b.Acquire(api.KVPair{Key: key, Session: s})
		must(t, op.Release(t.Context(), targetOf(PairOf(b.Get(key)))))
		b.Acquire(api.KVPair{Key: key, Session: s})
		for _, lie := range []string{
			body, `{"Results":[{}]}`, `{"Results":[{"KV":{"Key":"other","ModifyIndex":9999999}}]}`,
			`{"Results":[{"KV":{"Key":"` + key + `","ModifyIndex":9999999}}]}`,
		} {
			body = lie
			err := op.Release(t.Context(), targetOf(PairOf(b.Get(key))))
			if !errors.Is(err, ErrUnknown) || !strings.Contains(Describe(err), "is now held by session") {
				t.Errorf("%s: %v", lie, err)
			}
		}
	})
}
