// Package redact removes tokens and passwords from text.
package redact

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	// wordLength is the minimum length of a secret that is also hidden inside a word. Otherwise the secret "a" would
	// hide every letter a.
	wordLength = 6
	hidden     = "<hidden>"
)

// Secrets contains the tokens and passwords that no message may contain, in every encoding in which a server may
// return them, longest first.
type Secrets []string

// New returns the list of secrets with these texts. It ignores empty texts.
func New(plain ...string) Secrets {
	var all Secrets
	for _, text := range plain {
		if text != "" {
			all = append(all, encodings(text)...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// encodings returns text and its forms in URLs, JSON, Go, HTML and base64.
func encodings(text string) []string {
	all := []string{text, url.QueryEscape(text), url.PathEscape(text), html.EscapeString(text), unquoted(strconv.Quote(text))}
	for _, escapeHTML := range []bool{false, true} {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(escapeHTML)
		_ = enc.Encode(text) // a text has no encoding error
		all = append(all, unquoted(strings.TrimSpace(out.String())))
	}
	return append(all, base64Cores(text)...)
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// base64Cores returns the base64 characters that depend only on text if text is part of a longer encoded text. It
// returns one result for each alignment and alphabet.
func base64Cores(text string) []string {
	var cores []string
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			core := enc.EncodeToString(append(make([]byte, before), text...))
			core = core[(before*4+2)/3:]
			if (before+len(text))%3 != 0 {
				core = core[:len(core)-1] // the last character also depends on the byte that follows text
			}
			if len(core) >= wordLength {
				cores = append(cores, core)
			}
		}
	}
	return cores
}

// Redact replaces every secret in text.
func (s Secrets) Redact(text string) string {
	for _, secret := range s {
		if len(secret) >= wordLength || !utf8.ValidString(secret) {
			text = strings.ReplaceAll(text, secret, hidden)
		} else {
			word := regexp.MustCompile(`(^|[^\pL\pN])` + regexp.QuoteMeta(secret) + `($|[^\pL\pN])`)
			for word.MatchString(text) { // two words may have one space between them
				text = word.ReplaceAllString(text, "${1}"+hidden+"${2}")
			}
		}
	}
	return text
}

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
