package consulx

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"electop/internal/consultest"
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
	consultest.WritePEM(t, ca, "CERTIFICATE", s.Certificate().Raw)
	return s.URL, ca, s
}

// The client sends its configured certificate.
func TestClientCertificateIsSent(t *testing.T) {
	own := consultest.NewCertificates(t, "electop")
	address, ca, s := mutualTLS(t, tls.RequireAnyClientCert)
	c := newClient(t, Config{Address: address, CAFile: ca, ClientCert: own.Cert, ClientKey: own.Key})
	_, err := c.ConsensusLeader(t.Context())
	must(t, err)
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
