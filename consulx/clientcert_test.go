package consulx

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// mutualTLS starts a server that requests a client certificate. It returns the server's URL and the file with its CA.
func mutualTLS(t *testing.T, clientAuth tls.ClientAuthType) (url, ca string, server *httptest.Server) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `"127.0.0.1:8300"`)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{ClientAuth: clientAuth}
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

// The client sends its configured certificate.
func TestClientCertificateIsSent(t *testing.T) {
	cert, key := selfSigned(t)
	address, ca, s := mutualTLS(t, tls.RequireAnyClientCert)
	c := newClient(t, Config{Address: address, CAFile: ca, ClientCert: cert, ClientKey: key})
	if _, err := c.ConsensusLeader(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestQueriesShareAConnectionOverTLS(t *testing.T) {
	const queries = 100
	var waiting, all sync.WaitGroup
	waiting.Add(queries)
	var conns sync.Map
	address, ca, s := mutualTLS(t, tls.NoClientCert)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conns.Store(r.RemoteAddr, true)
		waiting.Done()
		waiting.Wait() // every query arrives before the first response is sent
		w.Header().Set("X-Consul-Index", "7")
		_, _ = io.WriteString(w, `["a"]`)
	})
	c := newClient(t, Config{Address: address, CAFile: ca})
	for range queries {
		all.Go(func() {
			q := c.Read(t.Context())
			q.WaitIndex = 5
			if _, _, err := c.Reader(q).KeyNames("a", q); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if n == 0 || n > 10 {
		t.Errorf("%d queries used %d connections, want 1 to 10", queries, n)
	}
}
