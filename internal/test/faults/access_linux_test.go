package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
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
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := client.ACL().TokenCreate(&api.ACLToken{Policies: []*api.ACLLink{{ID: policy.ID}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
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
		mine := newAuthority(t, "one")
		other := mine
		if !trusted {
			other = newAuthority(t, "two")
		}
		first, second = mine.issue(t, 2), other.issue(t, 3)
		current.Store(first)
		config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }}
		return mine.serves(t, config)
	}
	return f
}

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{}
	_, a.cert, a.key = sign(t, template, nil)
	return a
}

// serves returns the environment with a proxy that uses this TLS configuration, and makes electop trust the
// authority's certificates.
func (a *authority) serves(t *testing.T, config *tls.Config) setting {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return setting{agent: consultest.Shared(t), tls: config, args: []string{"--ca-file", file}}
}

func (a *authority) issue(t *testing.T, serial int64) *tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "consul"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, _, key := sign(t, template, a)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// sign creates a certificate with a new key. If by is nil, the certificate is self-signed.
func sign(t *testing.T, template *x509.Certificate, by *authority) ([]byte, *x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return der, cert, key
}
