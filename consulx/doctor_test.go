package consulx

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"electop/election"
	"electop/internal/consultest"
)

// row returns the row of a report with this subject.
func (r Report) row(t *testing.T, subject string) Row {
	t.Helper()
	for _, row := range r.Rows {
		if row.Subject == subject {
			return row
		}
	}
	t.Fatalf("the report contains no row about %q: %+v", subject, r.Rows)
	return Row{}
}

func diagnose(t *testing.T, c *Client, texts ...string) Report {
	t.Helper()
	r, err := Doctor(t.Context(), c, patterns(t, texts...))
	must(t, err)
	for _, row := range r.Rows {
		if row.Subject == "" || row.Detail == "" || strings.ContainsAny(row.Detail+row.Rule, "\n\x1b") {
			t.Errorf("row %+v", row)
		}
	}
	return r
}

func TestDoctorWithoutACLs(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		b.Put(p+"web/leader", "v")
		r := diagnose(t, b.client, p+"*/leader", p+"none/*")
		for _, row := range r.Rows {
			if row.Status != StatusOK || row.Rule != "" {
				t.Errorf("without ACLs: got row %+v, want status ok without a rule", row)
			}
		}
		if row := r.row(t, "keys "+p+"*/leader"); !strings.HasPrefix(row.Detail, "1 election ") {
			t.Errorf("%+v", row)
		}
		if r.Node != b.Node || r.ConsensusLeader == "" || r.Address != b.client.Address() {
			t.Errorf("%+v", r)
		}
	})
}

func TestDoctorUnderACLs(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	root.Put("service/web/leader", "v")
	root.Session()
	const (
		keys      = `key_prefix "service/" { policy = "read" }`
		all       = `key_prefix "" { policy = "read" } session_prefix "" { policy = "read" } node_prefix "" { policy = "read" } service_prefix "" { policy = "read" }`
		allAndMay = `key_prefix "service/" { policy = "write" } session_prefix "" { policy = "write" } node_prefix "" { policy = "read" } service_prefix "" { policy = "read" } agent_prefix "" { policy = "read" }`
	)
	t.Setenv("CONSUL_HTTP_TOKEN", "")
	for _, c := range []struct {
		name, token string
		// statuses of acls, agent, keys, sessions, nodes, checks, release and destroy
		want string
	}{
		{"management", agent.Token(), "ok ok ok ok ok ok ok ok"},
		{"may act", root.Token(allAndMay), "ok ok ok ok ok ok ok ok"},
		{"may read", root.Token(all), "ok limited ok ok ok ok denied denied"},
		{"keys only", root.Token(keys), "ok limited ok denied denied denied denied denied"},
		{"nothing", root.Token(""), "ok limited denied denied denied denied denied denied"},
		{"anonymous", "", "limited limited denied denied denied denied denied denied"},
	} {
		r := diagnose(t, newClient(t, Config{Address: agent.Addr(), Token: c.token}), "service/*/leader")
		subjects := []string{
			"ACLs", "agent", "keys service/*/leader", "sessions", "nodes and their checks", "service checks",
			"release service/*/leader", "destroy",
		}
		got := make([]string, 0, len(subjects))
		for _, subject := range subjects {
			row := r.row(t, subject)
			got = append(got, row.Status)
			if row.Status == StatusDenied && row.Rule == "" && subject != "ACLs" {
				t.Errorf("%s: the row of a denied permission contains no rule: %+v", c.name, row)
			}
			if c.token != "" && strings.Contains(row.Detail, c.token) {
				t.Errorf("%s: the report contains the token: %+v", c.name, row)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s\n%+v", c.name, text, c.want, r.Rows)
		}
	}
}

func TestDoctorWithoutConsul(t *testing.T) {
	c := newClient(t, Config{Address: "127.0.0.1:1"})
	if _, err := Doctor(t.Context(), c, patterns(t, "a/*")); !errors.Is(err, ErrUnreachable) {
		t.Fatal(err)
	}
	quorumless := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/v1/status/leader" {
			return consultest.Answer(r, 200, 1, `""`), nil
		}
		if r.URL.Path == "/v1/agent/self" {
			return consultest.Answer(r, 200, 1, `{"Config":{"Datacenter":"dc1","NodeName":"n","Version":"1.22.7"}}`), nil
		}
		t.Errorf("%s was requested without a quorum", r.URL.Path)
		return consultest.Answer(r, 500, 1, "No cluster leader"), nil
	}))
	r, err := Doctor(t.Context(), quorumless, patterns(t, "a/*"))
	if row := r.row(t, "consensus leader"); err != nil || row.Status != StatusDenied {
		t.Fatal(row, err)
	}
}

func TestRights(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	root := newBackend(t, Config{Address: agent.Addr(), Token: agent.Token()})
	const odd = "odd \"${key}\\/\x1b\u202e/ü//leader"
	target := election.Target{Key: "service/web/leader", Node: "node-1"}
	oddTarget := election.Target{Key: odd, Node: "node-${1}\""}
	none := election.MissingRules{
		election.ActionRelease: `key "service/web/leader" { policy = "write" }`, election.ActionDestroy: `session "node-1" { policy = "write" }`,
	}
	ask := func(token string, target election.Target) election.MissingRules {
		t.Helper()
		got, err := NewOperator(newClient(t, Config{Address: agent.Addr(), Token: token}), nil).Rights(t.Context(), target)
		must(t, err)
		return got
	}
	reader := root.Token(`key_prefix "" { policy = "read" }`)
	if got := ask(reader, target); !maps.Equal(got, none) {
		t.Errorf("a reader: %+v", got)
	}
	// A token with all rules that the report names as missing must have every permission.
	missing := ask(reader, oddTarget)
	for _, c := range []struct {
		rules  string
		target election.Target
	}{
		{none[election.ActionRelease] + none[election.ActionDestroy], target}, {missing[election.ActionRelease] + missing[election.ActionDestroy], oddTarget},
	} {
		if got := ask(root.Token(c.rules), c.target); len(got) > 0 {
			t.Errorf("with %s: %+v", c.rules, got)
		}
	}
	if got := ask("e1ec0709-0000-4000-8000-00000000dead", target); got != nil {
		t.Errorf("an unknown token: got %+v, want unknown rights", got)
	}
	if got := ask(reader, election.Target{Key: "a"}); got[election.ActionDestroy] != `session_prefix "" { policy = "write" }` {
		t.Errorf("without a node: got %+v, want the rule for all sessions", got)
	}
}

func TestUnknownRightsDisableNothing(t *testing.T) {
	onBoth(t, func(b backend) {
		got, err := NewOperator(b.client, nil).Rights(b.T.Context(), election.Target{Key: "a", Node: "n"})
		if err != nil || got != nil {
			b.T.Fatal(got, err)
		}
	})
	c := newClient(t, Config{Address: "127.0.0.1:1"})
	if got, err := NewOperator(c, nil).Rights(t.Context(), election.Target{Key: "a"}); !errors.Is(err, ErrUnreachable) || got != nil {
		t.Fatal(got, err)
	}
}

func TestProbeNeedsWriteOnTheKey(t *testing.T) {
	_, with := underACLs(t)
	if _, err := ProbeLockDelay(t.Context(), with(`key_prefix "" { policy = "read" }`), "service/web/leader"); !errors.Is(err, ErrDenied) {
		t.Fatal(err)
	}
}

// A server may return the token in every field. The report, like errors, must not contain it.
func TestDoctorHidesReflectedTokens(t *testing.T) {
	client := newClient(t, Config{Address: "consul.test", Token: secret, Transport: consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
		token := r.Header.Get("X-Consul-Token")
		status, body := 500, token
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/status"):
			status, body = 200, `"`+token+`"`
		case r.URL.Path == "/v1/agent/self":
			status, body = 200, `{"Config":{"Datacenter":"`+token+`","NodeName":"`+token+`","Version":"`+token+`"}}`
		case r.URL.Path == "/v1/acl/token/self":
			status, body = 200, `{"AccessorID":"`+token+`","SecretID":"`+token+`","Description":"`+token+`"}`
		}
		response := consultest.Answer(r, status, 1, body)
		response.Header.Set("X-Consul-Default-Acl-Policy", token)
		return response, nil
	})})
	report, err := Doctor(t.Context(), client, patterns(t))
	if text := fmt.Sprintf("%+v %v", report, err); len(report.Rows) == 0 || strings.Contains(text, secret) || !strings.Contains(text, "<hidden>") {
		t.Error(text)
	}
}
