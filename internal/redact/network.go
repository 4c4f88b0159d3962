package redact

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// Reason returns the text of the original network error, because the outer errors repeat the address. known is false if the
// text can contain a part of a response.
func Reason(err error) (reason string, known bool) {
	var (
		errno   syscall.Errno
		dns     *net.DNSError
		notTLS  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		netw    net.Error
		asked   *url.Error
	)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed", true
	case errors.As(err, &errno):
		return errno.Error(), true
	case errors.As(err, &dns):
		return "host not found", true
	case errors.As(err, &notTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not use TLS; use http:// instead of https://", true
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an unknown authority (--ca-file)", true
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netw) && netw.Timeout():
		return "request timed out", true
	case errors.As(err, &asked):
		return asked.Err.Error(), false
	}
	return err.Error(), false
}
