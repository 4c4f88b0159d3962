package faults

import (
	"crypto/tls"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// In each of these faults, Consul denies electop's requests, or electop rejects the server's certificate.
func TestAccessFaults(t *testing.T) {
	for _, f := range []fault{tokenRevoked(), certificateReplaced(false), certificateReplaced(true)} {
		t.Run(f.name, f.play)
	}
}

func tokenRevoked() fault {
	var token *api.ACLToken
	return fault{
		name: "token revoked and restored", lasts: 6 * time.Second, quick: true,
		at: func(t *testing.T) setting {
			agent := consultest.Dev(t, consultest.WithACL())
			token = readerToken(t, agent.Client())
			return setting{agent: agent, env: []string{"CONSUL_HTTP_TOKEN=" + token.SecretID}}
		},
		begin: func(s *stage) { s.must(revoke(s.agent.Client(), token)) },
		end:   func(s *stage) { s.must(restore(s.agent.Client(), token)) },
	}
}

// readerToken creates a token with the permissions that an observer needs.
func readerToken(t *testing.T, client *api.Client) *api.ACLToken {
	t.Helper()
	policy, _, err := client.ACL().PolicyCreate(&api.ACLPolicy{Name: "observer", Rules: `
		key_prefix "" { policy = "read" }
		session_prefix "" { policy = "read" }
		node_prefix "" { policy = "read" }
		service_prefix "" { policy = "read" }
		agent_prefix "" { policy = "read" }`}, nil)
	must(t, err)
	token, _, err := client.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	must(t, err)
	return token
}

func revoke(client *api.Client, token *api.ACLToken) error {
	_, err := client.ACL().TokenDelete(token.AccessorID, nil)
	return err
}

// restore creates a revoked token again with the same secret.
func restore(client *api.Client, token *api.ACLToken) error {
	_, _, err := client.ACL().TokenCreate(&api.ACLToken{
		AccessorID: token.AccessorID, SecretID: token.SecretID, Policies: token.Policies,
	}, nil)
	return err
}

// certificateReplaced restarts the proxy with a new certificate. trusted determines whether electop trusts the
// authority that signed the certificate.
func certificateReplaced(trusted bool) fault {
	var current atomic.Pointer[tls.Certificate]
	var first, second *tls.Certificate
	replace := func(s *stage, by *tls.Certificate) {
		current.Store(by)
		s.proxy.Reset()
	}
	f := fault{
		name: "certificate of an unknown authority", lasts: 6 * time.Second, quick: true,
		begin: func(s *stage) { replace(s, second) },
		end:   func(s *stage) { replace(s, first) },
	}
	if trusted {
		f.name, f.silent, f.quick = "certificate renewed", true, false
	}
	f.at = func(t *testing.T) setting {
		mine := consultest.NewCertificates(t, "one")
		other := mine
		if !trusted {
			other = consultest.NewCertificates(t, "two")
		}
		first, second = mine.Issue(t, "consul"), other.Issue(t, "consul")
		current.Store(first)
		return serves(t, mine, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }})
	}
	return f
}

// serves returns the environment with a proxy that uses this TLS configuration, and makes electop trust the CA.
func serves(t *testing.T, c *consultest.Certificates, config *tls.Config) setting {
	t.Helper()
	return setting{agent: consultest.Shared(t), tls: config, args: []string{"--ca-file", c.CA}}
}
