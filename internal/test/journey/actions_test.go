package journey

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

// held fails the test unless the session holds the key of the election.
func (s *stage) held(election, session string) {
	s.t.Helper()
	if pair := s.get(election); pair == nil || pair.Session != session {
		s.t.Fatalf("%s was released: %+v", election, pair)
	}
}

// A destroy shows the keys outside of the patterns that the session holds.
func TestAScanFindsKeysOutsideThePatterns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	key := s.prefix + "/locks/nightly"
	if ok, _, err := s.agent.Client().KV().Acquire(&api.KVPair{Key: key, Session: s.b}, nil); err != nil || !ok {
		t.Fatalf("acquire: %v, %v", ok, err)
	}
	term := s.open(80, 24)
	term.await("1 led")
	term.keys("3")
	term.await("Sessions")
	term.keys("/")
	term.write(s.b)
	term.await("no watched key")
	term.keys("Enter")
	term.keys("x")
	term.await("Destroy session web-b", key, "y destroy")
	term.keys("y")
	s.ended(s.b)
}

// If the dashboard ends before Consul has responded to a write, it reports the write and exits with an error.
func TestQuittingDuringAWriteFails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	target, err := url.Parse("http://" + s.agent.Addr())
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1
	forward.ErrorLog = log.New(io.Discard, "", 0)
	asked, end := make(chan struct{}, 10), make(chan struct{})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.URL.Path == "/v1/txn" && strings.Contains(string(body), "unlock") {
			asked <- struct{}{}
			<-end
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(func() { close(end) })
	term := open(t, 120, 36, nil, program, "--http-addr", proxy.URL, "-k", s.prefix+"/*/leader")
	term.await("1 led", "web-a")
	term.keys("r")
	term.await("y release")
	term.keys("y")
	<-asked
	term.keys("q")
	term.await("1 action in progress; press the key again to quit.")
	term.keys("q")
	term.await("unknown whether the release was applied", "left with 1")
}
