package web_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/internal/history"
	"electop/internal/history/web"
)

// slow is a source that returns elections only after a signal.
type slow struct {
	web.Source
	begun, end chan bool
}

func (s slow) Elections(context.Context) ([]history.Election, error) {
	s.begun <- true
	<-s.end
	return []history.Election{{Name: "web", Key: "service/web/leader"}}, nil
}

// certificate writes a self-signed certificate for 127.0.0.1 and returns its files and a pool with it.
func certificate(t *testing.T, folder string) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "recorder"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for path, text := range map[string][]byte{certFile: text, keyFile: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return certFile, keyFile, pool
}

// listening serves a source until stop is called.
func listening(t *testing.T, certFile, keyFile string, o web.Options) (url string, stop func() error) {
	t.Helper()
	l, err := web.Listen(t.Context(), "127.0.0.1:0", certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	o.Local, o.Metrics = true, http.NotFoundHandler()
	go func() { ended <- l.Serve(ctx, web.NewHandler(o), func(string) {}) }()
	t.Cleanup(cancel)
	return l.URL(), func() error { cancel(); return <-ended }
}

func TestTLSWithACertificateThatIsRenewed(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile, pool := certificate(t, folder)
	url, stop := listening(t, certFile, keyFile, web.Options{Source: past(t)})
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Error(url)
	}
	read := func(url string, pool *x509.CertPool) error {
		_, err := client(t, web.ClientOptions{URL: url, CAs: pool}).Elections(t.Context())
		return err
	}
	if err := read(url, pool); err != nil {
		t.Error(err)
	}
	if err := read(url, nil); err == nil || !strings.Contains(err.Error(), "unknown authority; use --history-ca-file") {
		t.Error(err)
	}
	if err := read(strings.Replace(url, "127.0.0.1", "localhost", 1), pool); err == nil || !strings.Contains(err.Error(), "not valid for this host") {
		t.Error(err)
	}
	if err := read("http"+strings.TrimPrefix(url, "https"), nil); err == nil || !strings.Contains(err.Error(), "use https://") {
		t.Error(err)
	}
	_, _, renewed := certificate(t, folder)
	if err := read(url, renewed); err != nil {
		t.Error("renewed:", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	plain, stop := listening(t, "", "", web.Options{Source: past(t)})
	if err := read("https"+strings.TrimPrefix(plain, "http"), nil); err == nil || !strings.Contains(err.Error(), "does not use TLS") {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := web.Listen(t.Context(), "127.0.0.1:0", keyFile, certFile); err == nil {
		t.Error("no error")
	}
}

func TestRequestsInProgressFinishAtTheEnd(t *testing.T) {
	source := slow{begun: make(chan bool, 1), end: make(chan bool)}
	url, stop := listening(t, "", "", web.Options{Source: source})
	read, stopped := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := client(t, web.ClientOptions{URL: url}).Elections(t.Context())
		read <- err
	}()
	<-source.begun
	go func() { stopped <- stop() }()
	close(source.end)
	if err := <-read; err != nil {
		t.Error(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
