package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
)

// certificateWatch detects a server that closes connections because it requires a client certificate. In TLS 1.3, the
// server's alert races with the request, so the error is often "broken pipe" or "use of closed network connection".
type certificateWatch struct {
	http.RoundTripper
	given    bool        // a certificate is configured
	asked    atomic.Bool // a server requested a certificate
	answered atomic.Bool // a request received a response
}

// observe changes the TLS configuration so that it records whether a server requests a certificate.
func (w *certificateWatch) observe(conf *tls.Config) {
	certs := conf.Certificates
	w.given = len(certs) > 0
	// crypto/tls would select the same certificate. This function only records the request.
	conf.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		w.asked.Store(true)
		for i := range certs {
			if asked.SupportsCertificate(&certs[i]) == nil {
				return &certs[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
}

func (w *certificateWatch) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	switch {
	case err == nil:
		w.answered.Store(true)
	case w.asked.Load() && !w.answered.Load() && !NeverSent(err) && !timedOut(err):
		err = &CertificateError{given: w.given, cause: err}
	}
	return answer, err
}

// timedOut reports whether a request ended because of its context or a timeout.
func timedOut(err error) bool {
	var netw net.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &netw) && netw.Timeout()
}

// CertificateError reports that a server requested a client certificate and closed the
// connection.
type CertificateError struct {
	given bool
	cause error
}

func (e *CertificateError) Error() string {
	if e.given {
		return "the server rejects the client certificate (--client-cert, --client-key)"
	}
	return "the server requested a client certificate and closed the connection (--client-cert, --client-key)"
}

func (e *CertificateError) Unwrap() error { return e.cause }

// NeverSent reports whether an error occurred before the request was sent.
func NeverSent(err error) bool {
	var (
		op      *net.OpError
		dns     *net.DNSError
		invalid *tls.CertificateVerificationError
		notTLS  tls.RecordHeaderError
	)
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || errors.As(err, &invalid) ||
		errors.As(err, &notTLS)
}
