package consulx

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutualTLS starts a server that requests a client certificate. It returns the server's URL and the file with its CA.
func mutualTLS(t *testing.T, clientAuth tls.ClientAuthType, version uint16, http2 bool) (url, ca string, server *httptest.Server) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `"127.0.0.1:8300"`)
	}))
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: clientAuth, MaxVersion: version}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	writePEM(t, ca, "CERTIFICATE", s.Certificate().Raw)
	return s.URL, ca, s
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// selfSigned writes a self-signed certificate and its key.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, cert, "CERTIFICATE", der)
	writePEM(t, key, "EC PRIVATE KEY", keyDER)
	return cert, key
}

// In TLS 1.3 the server's alert races with the request, so one run is not enough.
func TestServerThatRequiresAClientCertificate(t *testing.T) {
	const runs = 40
	cert, key := selfSigned(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, http2 := range []bool{false, true} {
			address, ca, _ := mutualTLS(t, tls.RequireAndVerifyClientCert, version, http2)
			for range runs {
				_, none := newClient(t, Config{Address: address, CAFile: ca}).ConsensusLeader(t.Context())
				_, looked := Sessions(t.Context(), newClient(t, Config{Address: address, CAFile: ca}))
				for _, err := range []error{none, looked} {
					if text := Describe(err); !errors.Is(err, ErrUnreachable) || !strings.Contains(text, "requested a client certificate") ||
						!strings.Contains(text, "--client-cert") {
						t.Fatalf("without a certificate, %s: got %s, want an error that names --client-cert", tls.VersionName(version), text)
					}
				}
				_, wrong := newClient(t, Config{Address: address, CAFile: ca, ClientCert: cert, ClientKey: key}).ConsensusLeader(t.Context())
				if text := Describe(wrong); !strings.Contains(text, "client certificate") {
					t.Fatalf("with a wrong certificate, %s: got %s, want an error about the client certificate", tls.VersionName(version), text)
				}
			}
		}
	}
}

// The first write of a client must return the same clear error, whatever its length.
func TestWriteToAServerThatRequiresAClientCertificate(t *testing.T) {
	address, ca, _ := mutualTLS(t, tls.RequireAndVerifyClientCert, tls.VersionTLS13, false)
	for range 40 {
		c := newClient(t, Config{Address: address, CAFile: ca})
		_, err := c.api.Raw().Write("/v1/session/create", strings.Repeat("x", 300_000), nil, c.Write(t.Context()))
		if text := Describe(c.Wrap(err)); !strings.Contains(text, "requested a client certificate") {
			t.Fatalf("got %s", text)
		}
	}
}

// A server that requests a certificate without requiring it also responds without a certificate. Later errors have
// other causes.
func TestServerThatOnlyAsksForAClientCertificate(t *testing.T) {
	address, ca, s := mutualTLS(t, tls.RequestClientCert, tls.VersionTLS13, false)
	c := newClient(t, Config{Address: address, CAFile: ca})
	if _, err := c.ConsensusLeader(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := c.ConsensusLeader(t.Context()); err == nil || strings.Contains(Describe(err), "certificate") {
		t.Errorf("got %v", err)
	}
}

// The client sends its configured certificate.
func TestClientCertificateIsSent(t *testing.T) {
	cert, key := selfSigned(t)
	address, ca, s := mutualTLS(t, tls.RequireAnyClientCert, tls.VersionTLS13, true)
	c := newClient(t, Config{Address: address, CAFile: ca, ClientCert: cert, ClientKey: key})
	if _, err := c.ConsensusLeader(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
}
