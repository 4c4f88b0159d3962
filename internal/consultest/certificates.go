package consultest

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
	"testing"
	"time"
)

// Certificates are the paths of a CA, and of a certificate and a key for servers and clients.
type Certificates struct {
	CA, Cert, Key string

	authority *x509.Certificate
	signer    *ecdsa.PrivateKey
}

// NewCertificates creates certificates for 127.0.0.1. The common name of the client is the user.
func NewCertificates(tb testing.TB, user string) *Certificates {
	tb.Helper()
	dir := tb.TempDir()
	c := &Certificates{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), signer: newKey(tb)}
	c.authority = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := c.Issue(tb, user)
	der, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	Must(tb, err)
	WritePEM(tb, c.CA, "CERTIFICATE", c.sign(tb, c.authority, c.signer))
	WritePEM(tb, c.Cert, "CERTIFICATE", leaf.Certificate[0])
	WritePEM(tb, c.Key, "PRIVATE KEY", der)
	return c
}

// Issue returns another certificate of the CA.
func (c *Certificates) Issue(tb testing.TB, user string) *tls.Certificate {
	tb.Helper()
	key := newKey(tb)
	return &tls.Certificate{PrivateKey: key, Certificate: [][]byte{c.sign(tb, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: user}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, key)}}
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(tb, err)
	return key
}

func (c *Certificates) sign(tb testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	tb.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, c.authority, &key.PublicKey, c.signer)
	Must(tb, err)
	return der
}

// WritePEM writes a file with one block.
func WritePEM(tb testing.TB, path, kind string, der []byte) {
	tb.Helper()
	Must(tb, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

// Config returns the settings of a client.
func (c *Certificates) Config() *tls.Config {
	pool := x509.NewCertPool()
	ca, _ := os.ReadFile(c.CA)
	pool.AppendCertsFromPEM(ca)
	pair, _ := tls.LoadX509KeyPair(c.Cert, c.Key)
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
}
