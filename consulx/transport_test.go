package consulx

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// endless writes until the client disconnects.
func endless(w io.Writer) {
	chunk := []byte(strings.Repeat("x", 1<<20))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// clientOf starts a server that sends an index and then runs answer. It returns a client and the server's URL.
func clientOf(t *testing.T, answer func(w http.ResponseWriter)) (*http.Client, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Consul-Index", "7")
		answer(w)
	}))
	t.Cleanup(server.Close)
	connections := &http.Transport{}
	t.Cleanup(connections.CloseIdleConnections)
	return &http.Client{Transport: &agentTransport{to: connections}}, server.URL
}

func TestBodiesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 1 GB")
	}
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	must(t, err)
	for range bodyLimit>>20 + 1 {
		_, _ = io.WriteString(z, strings.Repeat("x", 1<<20))
	}
	must(t, z.Close())
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   int64
		fails  bool
	}{
		{"an endless response", func(w http.ResponseWriter) { endless(w) }, bodyLimit, true},
		{"an endless error", func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError); endless(w) }, 64 << 10, false}, // docs/reliability.md
		{"the largest response", func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, bodyLimit)) }, bodyLimit, false},
		{"a compressed response", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, bodyLimit, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, url := clientOf(t, c.answer)
			response, err := client.Get(url)
			must(t, err)
			defer response.Body.Close()
			if n, err := io.Copy(io.Discard, response.Body); n != c.want || (err != nil) != c.fails {
				t.Errorf("%d bytes and %v, want %d and an error: %t", n, err, c.want, c.fails)
			}
		})
	}
}
