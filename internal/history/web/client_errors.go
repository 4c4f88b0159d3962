package web

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"electop/internal/history"
)

// describe converts an error from the HTTP client to one line. Some errors contain parts of the response, and the
// response can contain the token. Therefore describe uses only the text of known types of errors.
func (c *Client) describe(ctx context.Context, err error) error {
	var (
		errno    syscall.Errno
		dns      *net.DNSError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		timeout  net.Error
	)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &errno):
		return c.errorf("%s", errno.Error()) // do not wrap the error, because a wrapped errno would look like an error from Consul
	case errors.As(err, &dns):
		return c.errorf("host not found")
	case errors.Is(err, http.ErrSchemeMismatch):
		return c.errorf("the recorder does not use TLS; use http://")
	case errors.As(err, &unknown):
		return c.errorf("the certificate is signed by an unknown authority; use --history-ca-file")
	case errors.As(err, &hostname):
		return c.errorf("the certificate is not valid for this host")
	case errors.As(err, &invalid):
		return c.errorf("the certificate is invalid or expired")
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return c.errorf("request timed out")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.errorf("the connection was closed")
	}
	return c.errNotHistory()
}

// rejection converts an unsuccessful response to an error. The error does not contain the body.
func (c *Client) rejection(r *http.Response) error {
	var e errorJSON
	if text, err := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)); err == nil && json.Unmarshal(text, &e) != nil {
		e = errorJSON{}
	}
	switch {
	case e.Code == codeNoElection:
		return c.errorf("%w", history.ErrNoElection)
	case e.Code == codeLarge:
		return c.errorf("%w", history.ErrLarge)
	case e.Code == codeCursor:
		return c.errorf("%w", history.ErrCursor)
	case r.StatusCode == http.StatusUnauthorized && c.token == "":
		return c.errorf("a token is required; use --history-token-file or ELECTOP_HISTORY_TOKEN")
	case r.StatusCode == http.StatusUnauthorized:
		return c.errorf("the token was rejected")
	case r.StatusCode/100 == 3:
		return c.errorf("the response is a redirect, which electop does not follow; use the final URL")
	case r.StatusCode == http.StatusBadRequest:
		return c.errorf("the request was rejected (HTTP 400); use https:// if the recorder uses TLS")
	case r.StatusCode == http.StatusNotFound:
		return c.errorf("there is no recorder at this URL")
	case r.StatusCode == http.StatusForbidden:
		return c.errorf("the recorder denied access (HTTP 403)")
	case r.StatusCode == http.StatusServiceUnavailable:
		return c.errorf("the recorder is overloaded or not available (HTTP 503)")
	}
	return c.errorf("the recorder failed (HTTP %d); see its log", r.StatusCode)
}
