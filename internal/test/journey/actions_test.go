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

// If a dialog does not fit into the window, its action is enabled after all lines have been visible.
func TestALongDialogMustBeScrolledFirst(t *testing.T) {
	s := newStage(t)
	term := s.open(40, 10)
	term.await("web-a")
	term.keys("r")
	term.await("scroll down to enable Release")
	term.keys("y", "Tab", "y")
	term.keys("G")
	for range 50 {
		if strings.Contains(term.screen(), "above") {
			break
		}
		s.held("web", s.a)
		term.keys("j")
	}
	term.await("more lines above", "[ Cancel ]    Release")
	s.held("web", s.a)
	term.keys("y")
	term.until("the release of web", func(string) bool { return s.get("web").Session == "" })
}

func TestADialogNamesHiddenMarks(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		s.acquire("mail", s.b, "mail-b")
		term := s.open(width, height)
		term.await("2 led", "mail-b", "web-a")
		term.keys("g", "Space") // mail
		term.await("1 election marked")
		term.keys("/")
		term.write("web-a")
		term.keys("Enter")
		term.await("1 marked, hidden", "web-a")
		term.keys("r")
		term.await("1 marked election is hidden by the filter: mail.", "web, under the cursor, is not marked")
		term.keys("y")
		s.held("web", s.a)
		term.keys("Space")
		term.await("Release mail", "included although hidden", "y release")
		term.keys("y")
		term.until("the release of mail", func(string) bool { return s.get("mail").Session == "" })
		s.held("web", s.a)
	})
}

// The result of an action on several elections lists each election: one with a new leader, one that its leader
// acquired again, and one whose holder changed before the action.
func TestABatchReportsEveryElection(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		s.acquire("mail", s.a, "mail-a")
		s.acquire("shop", s.a, "shop-a")
		term := s.open(width, height)
		term.await("3 led", "mail-a", "shop-a", "web-a")
		term.keys("g", "Space", "Space", "Space")
		term.await("3 elections marked")
		term.keys("r")
		term.await("Release 3 elections", "y release")
		term.keys("y")
		term.await("Results: release 3 elections", "mail-a → no leader yet", "3 waiting")
		s.acquire("mail", s.b, "mail-b")
		s.acquire("shop", s.a, "shop-a")
		term.await("mail-a → mail-b", "shop-a leads again", "web-a → no leader yet", "1 waiting")
		term.keys("Escape")
		term.gone("Results:")
		term.await("1 moved, 1 stayed, 1 waiting")
		s.acquire("web", s.b, "web-b")
		term.await("2 moved, 1 stayed")
		term.keys("u")
		term.await("Actions since electop started", "web-a → web-b", "complete")
		term.keys("q")
		term.gone("Actions since electop started")
		term.keys("2")
		term.await("operator", "release: web-a → web-b")
		term.keys("q")
		term.await("left with 0")
	})
}

// Before a scan, a dialog must not state that a session holds no other keys.
func TestAScanFindsKeysOutsideThePatterns(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		key := s.prefix + "/locks/nightly"
		if ok, _, err := s.agent.Client().KV().Acquire(&api.KVPair{Key: key, Session: s.b}, nil); err != nil || !ok {
			t.Fatalf("acquire: %v, %v", ok, err)
		}
		term := s.open(width, height)
		term.await("1 led")
		term.keys("3")
		term.await("Sessions")
		term.keys("/")
		term.write(s.b)
		term.await("no watched key")
		term.keys("Enter")
		term.keys("f")
		term.await("HOLDS shows all keys as of", "1 key, none watched")
		term.keys("Enter")
		term.await("Unwatched keys, as of", key)
		term.keys("x")
		term.await("Destroy session web-b", key, "y destroy")
		term.keys("Escape")
	})
}

// An action on several elections skips a Patroni key. electop recognises Patroni by the keys next to the leader key.
func TestABatchSkipsAPatroniKey(t *testing.T) {
	sizes(t, func(t *testing.T, width, height int) {
		s := newStage(t)
		s.acquire("db", s.a, "pg1")
		if _, err := s.agent.Client().KV().Put(&api.KVPair{Key: s.prefix + "/db/config", Value: []byte(`{"loop_wait":10}`)}, nil); err != nil {
			t.Fatal(err)
		}
		term := s.open(width, height)
		term.await("2 led", "pg1", "web-a")
		term.keys("g", "Space", "Space")
		term.await("2 elections marked")
		term.keys("r")
		term.await("skipped: Patroni stores the leader's name", "patronictl switchover db", "next likely web-")
		for range 50 {
			if strings.Contains(term.screen(), "y release") {
				break
			}
			term.keys("j")
		}
		term.await("y release")
		term.keys("y")
		term.await("web-a → no leader yet")
		s.held("db", s.a)
	})
}

// If the dashboard ends before Consul has responded to a write, it reports the write and exits with an error.
func TestQuittingDuringAWriteFails(t *testing.T) {
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
