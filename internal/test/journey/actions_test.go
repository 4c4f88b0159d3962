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

// In a window that is too small to show a dialog, action keys have no effect.
func TestKeysInATooSmallWindowReleaseNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.open(120, 36)
	term.await("1 led", "web-a")
	term.resize(30, 8)
	term.await("electop needs 40x10")
	term.keys("r", "y", "x", "y", "r", "Tab", "Enter")
	term.resize(120, 36)
	term.await("1 led", "web-a")
	s.held("web", s.a)

	term.keys("r")
	term.await("Release web", "y release")
	term.resize(30, 8)
	term.await("electop needs 40x10")
	term.keys("y")
	term.resize(80, 24)
	term.await("Cancelled: the window became too small.")
	s.held("web", s.a)
	term.resize(30, 8)
	term.await("electop needs 40x10")
	term.keys("q")
	term.await("left with 0")
}

// The result of an action on several elections lists each election: one with a new leader, one that its leader
// acquired again, and one whose holder changed before the action.
func TestABatchReportsEveryElection(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.acquire("mail", s.a, "mail-a")
	s.acquire("shop", s.a, "shop-a")
	term := s.open(80, 24)
	term.await("3 led", "mail-a", "shop-a", "web-a")
	term.keys("g", "Space", "Space", "Space")
	term.await("3 elections marked")
	term.keys("r")
	term.await("Release 3 elections", "y release")
	term.keys("y")
	term.await("Release 3 elections", "mail-a → no leader yet", "3 waiting")
	s.acquire("mail", s.b, "mail-b")
	s.acquire("shop", s.a, "shop-a")
	term.await("→ mail-b on ", "shop-a on ", " leads again", "→ no leader yet", "1 waiting")
	term.keys("Escape")
	term.gone("Results:")
	term.await("1 moved, 1 stayed, 1 waiting")
	s.acquire("web", s.b, "web-b")
	term.await("2 moved, 1 stayed")
	term.keys("u")
	term.await("Actions since electop started", "→ web-b on ", "complete")
	term.keys("q")
	term.gone("Actions since electop started")
	term.keys("2")
	term.await("operator", "release: web-a on node-1 → web-b")
	term.keys("q")
	term.await("left with 0")
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
	term.keys("Escape")
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
	term.await("1 release is still running; press the key again to quit.")
	term.keys("q")
	term.await("unknown whether the release was applied", "left with 1")
}
