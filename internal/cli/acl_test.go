package cli

import (
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// token creates a token with these rules.
func token(t *testing.T, client *api.Client, name, rules string) string {
	t.Helper()
	policy, _, err := client.ACL().PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, _, err := client.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.SecretID
}

// In a response to a request without a token, Consul does not report that ACLs hide keys or sessions.
func TestActionsOnANodeWithoutAToken(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	w.acquire("service/web/leader", w.session(nil), "web-1")
	w.acquire("service/hidden/leader", w.session(nil), "hidden-1")
	w.node("node-2")
	w.acquire("service/other/leader", w.sessionOn("node-2"), "other-1")
	anonymous := func(name, rules string) {
		policy, _, err := w.client.ACL().PolicyCreate(&api.ACLPolicy{Name: name, Rules: rules}, nil)
		if err != nil {
			t.Fatal(err)
		}
		public := &api.ACLToken{AccessorID: "00000000-0000-0000-0000-000000000002", Policies: []*api.ACLLink{{ID: policy.ID}}}
		if _, _, err := w.client.ACL().TokenUpdate(public, nil); err != nil {
			t.Fatal(err)
		}
	}
	some := token(t, w.client, "some", `key "service/web/leader" { policy = "read" } session_prefix "" { policy = "read" } node_prefix "" { policy = "read" } service_prefix "" { policy = "read" }`)
	has(t, w.run("rescue", "--yes", "--token", some).must(t, exitDenied).errOut, "not verified: elections that this token cannot read may be missing")
	const keys = `key_prefix "service/" { policy = "write" } key "service/hidden/leader" { policy = "deny" } node_prefix "" { policy = "read" }`
	anonymous("all-sessions", keys+` session_prefix "" { policy = "read" }`)
	r := w.run("release", "--node", agent.Node(), "--yes").must(t, exitDenied)
	has(t, r.errOut, "electop: without a token, Consul does not report hidden keys: elections may be missing\n", "electop: not verified")
	if w.get("service/web/leader").Session != "" {
		t.Error("not released")
	}
	for _, arg := range []string{"", some} { // a leader on the node may be hidden
		r = w.run("release", "--node", "node-3", "--yes", "--token", arg).must(t, exitDenied)
		has(t, r.errOut, "no session on node node-3 leads an election that this token can read")
	}
	anonymous("some-sessions", keys+` session_prefix "node-1" { policy = "read" }`)
	r = w.run("release", "--node", "node-2", "--yes").must(t, exitDenied)
	has(t, r.errOut, "the node of other's leader is unknown")
	r = w.run("drain", "node-2", "--yes").must(t, exitDenied)
	has(t, r.errOut, "their nodes are unknown", "other")
}

func TestCommandsWithLimitedTokens(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	p := prefix(t)
	cluster(w, p)
	keys := token(t, w.client, "keys", `key_prefix "" { policy = "read" }`)
	const reading = `key_prefix "" { policy = "read" } session_prefix "" { policy = "read" }
		node_prefix "" { policy = "read" } service_prefix "" { policy = "read" }`
	reads := token(t, w.client, "reads", reading)

	r := w.run("show", "db", "-k", p+"/*/leader", "--token", keys).must(t, exitOK)
	has(t, r.out, "sessions: not readable with this token", "Software ", "Patroni")
	r = w.run("list", "--advice", "-k", p+"/*/leader", "--token", keys).must(t, exitOK)
	has(t, r.errOut, "cannot read all sessions")
	r = w.run("doctor", "-k", p+"/*/leader", "--token", keys).must(t, exitDenied)
	has(t, r.out, "session_prefix")

	// If the token cannot read the leader's session, the leader could be on any node.
	r = w.run("release", "--node", "node-9", "--yes", "-k", p+"/*/leader", "--token", keys).must(t, exitDenied)
	has(t, r.errOut, "the node of db's leader is unknown")

	got := show1(t, w, "db", "-k", p+"/*/leader", "--token", reads)
	if len(got.Candidates) != 1 || len(got.Unread) != 0 || got.Software == nil {
		t.Errorf("%+v", got)
	}
	w.run("doctor", "-k", p+"/*/leader", "--token", reads).must(t, exitOK)
	r = w.run("show", "db", "--probe", "-k", p+"/*/leader", "--token", reads).must(t, exitDenied)
	has(t, r.out, "Leader       pg1") // readable data is still shown
	r = w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, "destroy", "db", "-k", p+"/*/leader", "--token", reads).must(t, exitDenied)
	has(t, r.errOut, `this token lacks session "node-1" { policy = "write" }`)

	// docs/access.md: a probe needs write on the key, campaign also session write on the agent's own node.
	probe := token(t, w.client, "probe", reading+` key_prefix "service/" { policy = "write" }`)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	w.run("show", "web", "--probe", "--token", probe).must(t, exitOK)
	w.run("campaign", "job", "--token", probe, "--", "true").must(t, exitDenied)
	campaign := token(t, w.client, "campaign", reading+` key_prefix "service/" { policy = "write" } session "`+agent.Node()+`" { policy = "write" }`)
	w.run("campaign", "job", "--token", campaign, "--", "true").must(t, exitOK)
}

// A rule for the anonymous token hides keys also if the default policy is "allow". Consul does not report it.
func TestActionsWithoutATokenIfTheDefaultPolicyIsAllow(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL(), consultest.WithConfig(`{"acl":{"default_policy":"allow"}}`))
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	policy, _, err := w.client.ACL().PolicyCreate(&api.ACLPolicy{Name: "hidden", Rules: `key "service/hidden/leader" { policy = "deny" }`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	public := &api.ACLToken{AccessorID: "00000000-0000-0000-0000-000000000002", Policies: []*api.ACLLink{{ID: policy.ID}}}
	if _, _, err := w.client.ACL().TokenUpdate(public, nil); err != nil {
		t.Fatal(err)
	}
	w.nodeHealth("node-9", api.HealthCritical)
	s := w.session(func(s *api.SessionEntry) { s.Node = "node-9" })
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("service/hidden/leader", s, "hidden-1")
	r := w.run("rescue", "--yes").must(t, exitNoLeader)
	has(t, r.errOut, "this token cannot read all keys")
	r = w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "destroy", "web").must(t, exitFailed)
	has(t, r.errOut, "This token cannot read all keys: there may be more.")
	w.alive(s)
	r = w.run("drain", "node-9", "--yes", "--wait", "10ms").must(t, exitDenied)
	has(t, r.errOut, "not verified whether sessions on node-9 lead an election")
	w.run("drain", "node-9", "--yes", "--token", agent.Token(), "--wait", "10ms").must(t, exitOK)
}
