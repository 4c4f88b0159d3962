package observe

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// Under a token that may read everything all is as without ACLs.
func TestReadersSeeEverything(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	reader := root.Token(t, `key_prefix "" { policy = "read" } session_prefix "" { policy = "read" }
		node_prefix "" { policy = "read" } service_prefix "" { policy = "read" }`)
	session := checked(root, "check")
	board := observe(t, newClient(t, consulx.Config{Address: agent.Addr(), Token: reader}))
	board.loaded()
	const key = "service/web/leader"
	board.o.Study(key)
	board.o.WatchChecks([]string{root.Node})
	board.o.WatchSessions(true)
	root.Acquire(t, api.KVPair{Key: key, Session: session})
	root.Acquire(t, api.KVPair{Key: "service/web/members/a", Session: session})
	board.until("checks, surroundings and sessions", func() bool {
		s := board.last
		around, checks := s.Surroundings, s.Checks[root.Node]
		return around != nil && len(around.Siblings) == 1 && around.SiblingsErr == "" && around.SessionsErr == "" &&
			hasSession(around.Sessions, session) && checks.Err == "" && len(checks.Checks) == 2 &&
			s.SessionList != nil && hasSession(s.SessionList.Sessions, session)
	})
	if err := root.API.Agent().UpdateTTL("check", "it broke", api.HealthCritical); err != nil {
		t.Fatal(err)
	}
	if e, _ := board.event(0, election.Explained, key); e.Cause != election.CheckCritical || !strings.Contains(e.Evidence, "it broke") {
		t.Fatalf("%s: %s", e.Cause, e.Evidence)
	}
}

// Under a token that may read keys alone the board works and says in plain words
// what it can't.
func TestReadersOfKeysAloneAreToldWhatIsMissing(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	reader := root.Token(t, `key_prefix "service/" { policy = "read" }`)
	session := root.Session(t, &api.SessionEntry{})
	board := observe(t, newClient(t, consulx.Config{Address: agent.Addr(), Token: reader}))
	board.loaded()
	const key = "service/web/leader"
	board.o.Study(key)
	board.o.WatchChecks([]string{root.Node})
	board.o.WatchSessions(true)
	root.Acquire(t, api.KVPair{Key: key, Session: session, Value: []byte("web-1")})
	root.Acquire(t, api.KVPair{Key: "service/web/members/a", Session: session})
	if e, _ := board.event(0, election.Elected, key); e.Leader != "web-1" {
		t.Fatalf("%+v", e)
	}
	const sessions = "sessions: not readable with this token"
	board.until("plain words", func() bool {
		s := board.last
		around, list := s.Surroundings, s.SessionList
		return around != nil && len(around.Siblings) == 1 && around.SiblingsErr == "" && around.SessionsErr == sessions &&
			s.Checks[root.Node].Err == "not readable with this token" && list != nil && list.Err == sessions
	})
	for i, end := range []func() error{
		func() error { _, err := root.API.Session().Destroy(session, nil); return err },
		func() error { _, err := root.API.KV().Delete(key, nil); return err },
	} {
		n := board.count()
		if i > 0 {
			session = root.Session(t, &api.SessionEntry{})
			root.Acquire(t, api.KVPair{Key: key, Session: session})
			_, n = board.event(n, election.Elected, key)
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if e, _ := board.event(n, election.Explained, key); e.Cause != election.Unknown || !e.LockDelayUntil.IsZero() {
			t.Fatalf("%s: %s", e.Cause, e.Evidence)
		}
	}
	blind := newClient(t, consulx.Config{Address: agent.Addr(), Token: root.Token(t, "")})
	if s := consulx.Survey(t.Context(), blind, key); s.SiblingsErr != "keys beside the election: not readable with this token" || s.SessionsErr != sessions {
		t.Fatalf("%+v", s)
	}
}
