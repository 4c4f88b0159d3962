package consulx

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx/internal/transport"
	"electop/internal/consultest"
)

// lookThrough looks at elections behind a handler that stands where Consul should.
func lookThrough(t *testing.T, handler http.HandlerFunc) error {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client := newClient(t, Config{Address: server.Listener.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _, err := client.KeyNames("service/", client.Read(ctx))
	return err
}

// probes answers everything but reads of keys as Consul does.
func probes(keys http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/status/leader":
			_, _ = io.WriteString(w, `"127.0.0.1:8300"`)
		case "/v1/agent/self":
			_, _ = io.WriteString(w, `{"Config":{"Datacenter":"dc1"}}`)
		default:
			keys(w, r)
		}
	}
}

func TestResponsesThatAreNotConsulsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name, index, body string
		status            int
	}{
		{"a proxy's 404", "", "<html>not found</html>", 404},
		{"an empty list without an index", "", "[]", 200},
		{"null without an index", "", "null", 200},
		{"an index that is none", "seven", "[]", 200},
		{"the index 0", "0", "[]", 200},
		{"HTML", "", "<html>log in</html>", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := lookThrough(t, probes(func(w http.ResponseWriter, _ *http.Request) {
				if c.index != "" {
					w.Header().Set("X-Consul-Index", c.index)
				}
				w.Header().Set("X-Consul-LastContact", "0")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			if err == nil || !strings.Contains(err.Error(), "the response is not Consul's") || !errors.Is(err, ErrUnreachable) {
				t.Errorf("got %v, want an error that says whose response it is not", err)
			}
		})
	}
}

// endless writes until the reader goes away.
func endless(w io.Writer) {
	chunk := []byte(strings.Repeat("x", 1<<20))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	for _, c := range []struct {
		name, want string
		answer     func(w http.ResponseWriter)
	}{
		{"an endless list", "larger than 256 MB", func(w http.ResponseWriter) { _, _ = io.WriteString(w, `["`); endless(w) }},
		{"an endless error", "Consul answered 500", func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError); endless(w) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := lookThrough(t, probes(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Consul-Index", "7")
				w.Header().Set("X-Consul-LastContact", "0")
				c.answer(w)
			}))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// A body counts as it is after decompression, which Go's transport does unless
// the agent is on this machine.
func TestCompressedBodiesAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = io.WriteString(z, `["`)
	for range transport.BodyLimit >> 20 {
		_, _ = io.WriteString(z, strings.Repeat("x", 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Consul-Index", "7")
		w.Header().Set("X-Consul-LastContact", "0")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	t.Cleanup(server.Close)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	if _, err := over(t, transport).ListKeys(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "larger than 256 MB") {
		t.Errorf("got %v, want an error that names the limit", err)
	}
}

func TestOneLargeBodyAtATime(t *testing.T) {
	const readers = 8
	server := httptest.NewServer(probes(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Consul-Index", "7")
		w.Header().Set("X-Consul-LastContact", "0")
		_, _ = io.WriteString(w, `["`)
		endless(w)
	}))
	t.Cleanup(server.Close)
	client := newClient(t, Config{Address: server.Listener.Addr().String()})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := make(chan error)
	for range readers {
		go func() {
			_, err := client.ListKeys(ctx, "")
			results <- err
		}()
	}
	var peak uint64
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for left := readers; left > 0; {
		select {
		case err := <-results:
			left--
			if err == nil {
				t.Error("an endless body was taken for a list")
			}
		case <-tick.C:
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
		}
	}
	// One body, what its decoder's buffer took while it grew, and the others.
	if limit := uint64(12 * transport.BodyLimit); peak > limit {
		t.Errorf("%d endless bodies at once took %d MB, want less than %d", readers, peak>>20, limit>>20)
	}
}

// Consul's library takes any text that contains "true" for a lock that was
// acquired or released.
func TestOnlyTrueAndFalseAnswerAWrite(t *testing.T) {
	for body, want := range map[string]string{
		"true": "true <nil>", "false\n": "false <nil>",
		`<html><script async="true">`: "the response is not Consul's", "": "the response is not Consul's", "null": "the response is not Consul's",
	} {
		client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) { return consultest.Answer(r, 200, 0, body), nil }))
		for name, write := range map[string]func(*api.KVPair, *api.WriteOptions) (bool, *api.WriteMeta, error){
			"acquire": client.api.KV().Acquire, "release": client.api.KV().Release,
		} {
			ok, _, err := write(&api.KVPair{Key: "k", Session: "s"}, nil)
			if got := fmt.Sprint(ok, " ", err); !strings.Contains(got, want) {
				t.Errorf("%s answered with %q: %s, want %s", name, body, got, want)
			}
		}
	}
}

func TestDenialsAreNotFoundInTheNamesOfKeys(t *testing.T) {
	for text, want := range map[string]bool{
		"Permission denied: token with AccessorID 'x' lacks permission 'key:write' on \"a\"": true,
		"rpc error making call: rpc error making call: Permission denied":                    true,
		"ACL not found": true,
		`failed index check for key "Permission denied/leader", current modify index 5 != 4`: false,
		`failed to lock key "ACL not found" due to lock delay`:                               false,
	} {
		if got := denial(text); got != want {
			t.Errorf("%q is a denial: %t, want %t", text, got, want)
		}
	}
}
