package journey

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// held fails the test unless the session holds the key of the election.
func (s *stage) held(election, session string) {
	s.T.Helper()
	if pair := s.Get(s.key(election)); pair == nil || pair.Session != session {
		s.T.Fatalf("%s was released: %+v", election, pair)
	}
}

// A destroy shows the keys outside of the patterns that the session holds.
func TestAScanFindsKeysOutsideThePatterns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	key := s.prefix + "/locks/nightly"
	s.Acquire(api.KVPair{Key: key, Session: s.b})
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
	asked, end := make(chan struct{}, 10), make(chan struct{})
	proxy := consultest.ReverseProxy(t, s.Addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/txn" && strings.Contains(string(body), "unlock") {
			asked <- struct{}{}
			<-end
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	})
	t.Cleanup(func() { close(end) })
	term := open(t, 120, 36, nil, program, "--http-addr", proxy, "-k", s.prefix+"/*/leader")
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
