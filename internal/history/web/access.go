package web

import (
	"compress/gzip"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// authorized accepts requests that contain the token. If no token is configured and only clients on this host can
// connect, it rejects requests whose Host header names another host, because a web page may have sent them.
func (s *server) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(s.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		switch {
		case s.Token == "" && s.Local && !namesLoopback(r.Host):
			writeError(w, http.StatusForbidden, errorJSON{Error: "the Host header must contain localhost or a loopback address"})
		case s.Token != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) == 0):
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, http.StatusUnauthorized, errorJSON{Error: "missing or invalid bearer token"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// namesLoopback reports whether a Host header contains a name or address of this host. After DNS rebinding, the name
// of an attacker's web page resolves to 127.0.0.1, and the browser sends that name.
func namesLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return Loopback(strings.Trim(host, "[]"))
}

// Loopback reports whether a host name or address is reachable only from this host.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// compressFrom is the minimum size in bytes of a response that writeBody compresses.
const compressFrom = 1 << 10

// stalledAfter is how long a client may take to read a part of a response. The server then closes the connection.
const stalledAfter = 10 * time.Second

// sender writes a response in parts, each with its own deadline.
type sender struct{ http.ResponseWriter }

func (s sender) Write(text []byte) (n int, err error) {
	for part := range slices.Chunk(text, 64<<10) {
		if err := http.NewResponseController(s.ResponseWriter).SetWriteDeadline(time.Now().Add(stalledAfter)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return n, err
		}
		sent, err := s.ResponseWriter.Write(part)
		if n += sent; err != nil {
			return n, err
		}
	}
	return n, nil
}

// writeBody sends a response. It compresses the response if the client accepts compression.
func writeBody(w http.ResponseWriter, r *http.Request, text []byte) {
	w.Header().Set("Vary", "Accept-Encoding")
	if len(text) < compressFrom || !acceptsGzip(r.Header.Get("Accept-Encoding")) {
		sender{w}.Write(text) //nolint:errcheck,gosec // fails if the client has disconnected
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(sender{w})
	if _, err := z.Write(text); err == nil {
		z.Close() //nolint:gosec // fails if the client has disconnected
	}
}

func acceptsGzip(header string) bool {
	for coding := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(coding, ";")
		if name = strings.TrimSpace(name); name != "gzip" && name != "*" {
			continue
		}
		text, weighted := strings.CutPrefix(strings.TrimSpace(params), "q=")
		q, err := strconv.ParseFloat(text, 64)
		return !weighted || err == nil && q > 0
	}
	return false
}
