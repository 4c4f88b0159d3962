package transport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	return &http.Client{Transport: guard{RoundTripper: connections, large: make(chan struct{}, 1)}}, server.URL
}

func TestBodiesAreBounded(t *testing.T) {
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range BodyLimit>>20 + 1 {
		_, _ = io.WriteString(z, strings.Repeat("x", 1<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   int64
		err    error
	}{
		{"an endless response", func(w http.ResponseWriter) { endless(w) }, largeBody, errTooLarge},
		{"an endless error", func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError); endless(w) }, 64 << 10, nil}, // docs/reliability.md
		{"the largest response", func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, BodyLimit)) }, BodyLimit, nil},
		{"a compressed response", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, largeBody, errTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, url := clientOf(t, c.answer)
			response, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if n, err := io.Copy(io.Discard, response.Body); n != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d bytes and %v, want %d and %v", n, err, c.want, c.err)
			}
		})
	}
}

// The memory for a body must be bounded for both kinds of readers in electop, because their buffers grow differently.
func TestAnEndlessBodyTakesNoMoreThanItsLimit(t *testing.T) {
	const allowed = BodyLimit + BodyLimit/4
	for name, read := range map[string]func(io.Reader) error{
		"a buffer":  func(r io.Reader) error { _, err := new(bytes.Buffer).ReadFrom(r); return err },
		"a decoder": func(r io.Reader) error { return json.NewDecoder(r).Decode(new([]string)) },
	} {
		t.Run(name, func(t *testing.T) {
			client, url := clientOf(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, `["`); endless(w) })
			response, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err = read(response.Body)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, errTooLarge) || used > allowed {
				t.Errorf("got error %v after %d MB were allocated; want at most %d MB", err, used>>20, allowed>>20)
			}
		})
	}
}

// If the connection breaks, a large body is incomplete and must cause an error.
func TestATruncatedLargeBodyIsAnError(t *testing.T) {
	client, url := clientOf(t, func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", strconv.Itoa(2*largeBody))
		_, _ = w.Write(make([]byte, largeBody+pieceSize))
	})
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestOneLargeBodyAtATime(t *testing.T) {
	client, url := clientOf(t, func(w http.ResponseWriter) { _, _ = w.Write(make([]byte, 2*largeBody)) })
	var large atomic.Int32
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			response, err := client.Get(url)
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			_, _ = io.CopyN(io.Discard, response.Body, largeBody)
			if _, err := response.Body.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			if large.Add(1) > 1 {
				t.Error("two large bodies are read at the same time")
			}
			if n, err := io.Copy(io.Discard, response.Body); n != largeBody-1 || err != nil {
				t.Errorf("got %d bytes and error %v, want %d bytes", n, err, largeBody-1)
			}
			large.Add(-1)
		})
	}
	readers.Wait()
}
