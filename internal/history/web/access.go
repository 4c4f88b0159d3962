package web

import (
	"compress/gzip"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// withHeaders sets the headers of all responses.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// authorized accepts requests with the token. Without a token, it rejects requests that a web page
// of another site can have sent.
func (s *server) authorized(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(s.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		switch {
		case s.Token == "" && s.Local && !namesLoopback(r.Host):
			writeError(w, http.StatusForbidden, errorJSON{Error: "the host of the address must be localhost or a loopback address"})
		case s.Token != "" && (!strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], want[:]) == 0):
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, http.StatusUnauthorized, errorJSON{Error: "missing or wrong bearer token"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// namesLoopback reports whether a Host header names this host. A web page that resolves
// its own name to 127.0.0.1 (DNS rebinding) sends that name.
func namesLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return Loopback(strings.Trim(host, "[]"))
}

// Loopback reports whether a host name or address is that of this host only.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// compressFrom is the size from which a response is compressed.
const compressFrom = 1 << 10

// writeBody sends a response, compressed if the client accepts that.
func writeBody(w http.ResponseWriter, r *http.Request, text []byte) {
	w.Header().Set("Vary", "Accept-Encoding")
	if len(text) < compressFrom || !acceptsGzip(r.Header.Get("Accept-Encoding")) {
		w.Write(text) //nolint:errcheck,gosec // the client has gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	if _, err := z.Write(text); err == nil {
		z.Close() //nolint:gosec // the client has gone
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
