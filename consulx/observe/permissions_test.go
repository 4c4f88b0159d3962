package observe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

const boardRules = `key_prefix "service/" { policy = "read" } session_prefix "" { policy = "read" } node_prefix "" { policy = "read" }`

// aclStage is a Consul server with ACLs, some elections with leaders, and a token whose policy a test can change.
type aclStage struct {
	root   backend
	policy *api.ACLPolicy
	token  *api.ACLToken
	keys   []string
}

func newACLStage(t *testing.T, elections int) *aclStage {
	t.Helper()
	s := &aclStage{root: underACLs(t)}
	holder := s.root.Session()
	for i := range elections {
		key := fmt.Sprintf("service/%02d/leader", i)
		s.root.Acquire(api.KVPair{Key: key, Session: holder})
		s.keys = append(s.keys, key)
	}
	policy, _, err := s.root.API.ACL().PolicyCreate(&api.ACLPolicy{Name: "board", Rules: boardRules}, nil)
	must(t, err)
	s.policy = policy
	token, _, err := s.root.API.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	must(t, err)
	s.token = token
	return s
}

// client returns a client with the token.
func (s *aclStage) client(t *testing.T) *consulx.Client {
	t.Helper()
	return newClient(t, consulx.Config{Address: s.root.Addr, Token: s.token.SecretID})
}

func (s *aclStage) allow(rules string) {
	s.root.T.Helper()
	s.policy.Rules = rules
	if _, _, err := s.root.API.ACL().PolicyUpdate(s.policy, nil); err != nil {
		s.root.T.Fatal(err)
	}
}

// noneVacated fails the test if an election that kept its leader was reported as vacated.
func (s *aclStage) noneVacated(board *board) {
	s.root.T.Helper()
	for _, key := range s.keys {
		for _, e := range board.of(key) {
			if e.Type == election.Vacated || e.Type == election.Deleted || e.Type == election.Explained {
				s.root.T.Errorf("%s kept its leader, but an event reports a loss: %+v", key, e)
			}
		}
	}
}

func (b *board) unreadable(want int) {
	b.t.Helper()
	b.until(fmt.Sprintf("%d unreadable elections", want), func() bool {
		n := 0
		for _, e := range b.last.Elections {
			if e.Unreadable {
				n++
			}
		}
		return n == want
	})
}

func TestChangedPermissionsAreDetectedWithoutAWrite(t *testing.T) {
	s := newACLStage(t, 20)
	board := observeBriefly(t, s.client(t))
	board.loaded()
	s.allow(`session_prefix "" { policy = "read" }`)
	board.unreadable(len(s.keys))
	s.allow(boardRules)
	board.unreadable(0)
	s.allow(boardRules + ` key_prefix "service/1" { policy = "deny" }`)
	board.unreadable(10)
	// The deletion of a readable key is reported, and the hidden keys remain when the token is revoked.
	s.root.Delete(s.keys[0])
	board.event(0, election.Vacated, s.keys[0])
	s.keys = s.keys[1:]
	_, err := s.root.API.ACL().TokenDelete(s.token.AccessorID, nil)
	must(t, err)
	board.event(0, election.ConnectionLost, "")
	s.noneVacated(board)
}

// With default policy allow and no token, a response does not indicate whether the policy of the anonymous token
// filtered it.
func TestADenyRuleForTheAnonymousTokenVacatesNoElection(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL(), consultest.WithConfig(`{"acl":{"default_policy":"allow"}}`))
	root := newBackend(t, consulx.Config{Address: agent.Addr(), Token: agent.Token()})
	holder := root.Session()
	s := &aclStage{root: root, keys: []string{"service/a/leader", "service/b/leader"}}
	for _, key := range s.keys {
		root.Acquire(api.KVPair{Key: key, Session: holder})
	}
	board := observeBriefly(t, newClient(t, consulx.Config{Address: agent.Addr()}))
	board.loaded()
	policy, _, err := root.API.ACL().PolicyCreate(&api.ACLPolicy{Name: "deny", Rules: `key_prefix "service/" { policy = "deny" }`}, nil)
	must(t, err)
	anonymous, _, err := root.API.ACL().TokenRead("00000000-0000-0000-0000-000000000002", nil)
	must(t, err)
	anonymous.Policies = append(slices.Clone(anonymous.Policies), &api.ACLLink{ID: policy.ID})
	_, _, err = root.API.ACL().TokenUpdate(anonymous, nil)
	must(t, err)
	board.unreadable(len(s.keys))
	s.noneVacated(board)
}

// A key does not change when the token gains the permission to read the session of its leader.
func TestASessionThatBecomesReadableIsRead(t *testing.T) {
	s := newACLStage(t, 3)
	s.allow(`key_prefix "service/" { policy = "read" }`)
	board := observeBriefly(t, s.client(t))
	board.loaded()
	s.allow(boardRules)
	board.until("all sessions", func() bool {
		return !slices.ContainsFunc(board.last.Elections, func(e *election.Election) bool { return e.Session == nil })
	})
}

// Consul rejects an unknown token. This must be reported neither as an outage nor as a missing rule.
func TestUnknownToken(t *testing.T) {
	s := newACLStage(t, 1)
	client := newClient(t, consulx.Config{Address: s.root.Addr, Token: "5e8c4f2a-0000-4000-8000-000000000001"})
	_, err := Once(t.Context(), client, patterns(t, election.DefaultPattern), election.HistoryRead{})
	if text := consulx.Describe(err); !errors.Is(err, consulx.ErrDenied) || text != "Consul rejects this token: it does not exist in this datacenter, or was revoked" {
		t.Errorf("the read returned the error %v, want ErrDenied about the token", err)
	}
	report, err := consulx.Doctor(t.Context(), client, patterns(t, election.DefaultPattern))
	must(t, err)
	if last := report.Rows[len(report.Rows)-1]; last.Subject != "ACLs" || last.Status != consulx.StatusDenied || !strings.Contains(last.Detail, "rejects this token") {
		t.Errorf("the last row of the report is %+v, want a denied row about the token", last)
	}
	board := observe(t, client, election.DefaultPattern)
	board.until("a refusal", func() bool {
		return board.last.Connection.Refused && strings.Contains(board.last.Connection.Error, "rejects this token")
	})
}

// With a token that can read only keys, the board must work and show the missing rules.
func TestTokenForKeysOnlyGetsTheMissingRules(t *testing.T) {
	root := underACLs(t)
	session := root.Session()
	board := observeBriefly(t, with(t, root, `key_prefix "service/" { policy = "read" }`))
	board.loaded()
	const key = "service/web/leader"
	board.o.Study(key)
	board.o.WatchChecks([]string{root.Node})
	board.o.WatchSessions(true)
	root.Acquire(api.KVPair{Key: key, Session: session, Value: []byte("web-1")})
	root.Acquire(api.KVPair{Key: "service/web/members/a", Session: session})
	if e, _ := board.event(0, election.Elected, key); e.Leader != "web-1" {
		t.Fatalf("%+v", e)
	}
	const sessions = "sessions: not readable with this token"
	board.until("plain words", func() bool {
		s := board.last
		around, list := s.Surroundings, s.SessionList
		return around != nil && len(around.Siblings) == 1 && around.SiblingsErr == "" && around.SessionsErr == sessions &&
			s.Checks[root.Node].Err == "not readable with this token" && list != nil && list.Err == sessions && list.Denied
	})
	if s := with(t, root, "").Survey(t.Context(), []string{key})[0]; s.SiblingsErr != "sibling keys: not readable with this token" || s.SessionsErr != sessions {
		t.Fatalf("%+v", s)
	}
}
