package consulx

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/redact"
)

// Sentinel errors, for errors.Is. Package election describes those of every store. The message of [ErrUnknown] contains
// the state that was read afterwards.
var (
	ErrMoved       = election.ErrMoved
	ErrUnknown     = election.ErrUnknown
	ErrRefused     = election.ErrRefused
	ErrDenied      = election.ErrDenied
	ErrNoSession   = election.ErrNoSession
	ErrUnreachable = election.ErrUnreachable
	ErrIncomplete  = election.ErrIncomplete
	// ErrLimited reports that Consul, or a proxy, refused a request because of a limit (429). Consul is reachable, and
	// established connections still work.
	ErrLimited = errors.New("refused because of a limit")
	// ErrNoQuorum reports that Consul has no consensus leader.
	ErrNoQuorum = errors.New("no consensus leader")
	// errACLsOff reports that a request about ACLs failed because ACLs are off.
	errACLsOff = errors.New("ACLs are off")
)

const (
	// errorLength is the maximum length of an error message, in runes.
	errorLength = 300
	// sentenceLength exceeds the length of electop's own messages. A message must not be truncated, because its end
	// says what to do.
	sentenceLength = 1000
)

// lineError is a one-line error that may wrap a sentinel error.
type lineError struct {
	text  string
	kind  error // sentinel error, may be nil
	cause error // may be nil
}

func (f *lineError) Error() string { return f.text }

func (f *lineError) Unwrap() []error { return []error{f.kind, f.cause} }

// Fail returns a one-line error that wraps the sentinel error kind, which may be nil.
func Fail(kind error, format string, args ...any) error {
	return &lineError{text: sanitize.Line(fmt.Sprintf(format, args...), errorLength), kind: kind}
}

// isType reports whether an error is, or wraps, an error of the type E.
func isType[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// NoQuorum returns an [ErrNoQuorum] error.
func NoQuorum() error { return Fail(ErrNoQuorum, "Consul has no consensus leader") }

// Describe returns an error as one line that is safe to print and contains no token.
func Describe(err error) string {
	switch {
	case err == nil:
		return ""
	case isType[*lineError](err):
		return sanitize.Line(err.Error(), sentenceLength)
	case errors.Is(err, context.DeadlineExceeded):
		return "request timed out"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return sanitize.Line(err.Error(), errorLength)
}

// Wrap converts an error from Consul's library into a one-line error.
func (c *Client) Wrap(err error) error {
	if err == nil || isType[*lineError](err) {
		return err
	}
	f := &lineError{cause: plainCause(err)}
	var status api.StatusError
	switch {
	case errors.As(err, &status):
		f.text, f.kind = describeStatus(status)
	case isType[*http.MaxBytesError](err):
		f.text = fmt.Sprintf("the response from Consul at %s is larger than %d MB", c.address, bodyLimit>>20)
	case strings.HasPrefix(err.Error(), txnFailure):
		f.text, f.kind = describeFailure(strings.TrimPrefix(err.Error(), txnFailure))
	case denial(err.Error()):
		f.kind, f.text = ErrDenied, err.Error()
	case errors.Is(err, context.Canceled):
		f.text = "interrupted"
	case unreachable(err):
		reason, _ := redact.Reason(err)
		f.kind, f.text = ErrUnreachable, "cannot reach Consul at "+c.address+": "+reason
	default:
		f.text = err.Error()
		if flaw := flawOf(err); flaw != "" {
			detail := strings.TrimPrefix(f.text, "json: ")
			f.text = "the response from Consul at " + c.address + " " + flaw + ": " + detail
		}
	}
	f.text = sanitize.Line(c.Redact(f.text), errorLength)
	return f
}

// plainCause returns the cause of an error without the parts of the request, such as the token, that it may contain.
func plainCause(err error) error {
	for _, sentinel := range []error{context.Canceled, context.DeadlineExceeded, syscall.ECONNREFUSED, syscall.ETIMEDOUT} {
		if errors.Is(err, sentinel) {
			return sentinel
		}
	}
	return nil
}

// txnFailure is the prefix of the errors that Consul's library returns for a transaction. These errors do not contain
// the HTTP status.
const txnFailure = "Failed request: "

func describeStatus(s api.StatusError) (text string, kind error) {
	text, kind = describeFailure(s.Body)
	switch {
	case kind != nil:
		return text, kind
	case s.Code == http.StatusUnauthorized && text == "ACL support disabled":
		return "Consul answered 401: " + text, errACLsOff
	case s.Code == http.StatusForbidden && text != "": // a response from a proxy, or a blocked endpoint
		return "Consul answered 403: " + text, ErrDenied
	case s.Code == http.StatusForbidden:
		return "permission denied", ErrDenied
	case s.Code == http.StatusTooManyRequests && strings.Contains(text, "too many concurrent connections"):
		return "Consul refuses further connections from this host (429, http_max_conns_per_client)", ErrLimited
	case s.Code == http.StatusTooManyRequests: // Consul's request_limits, or a proxy
		return "the rate of requests is limited (429): " + text, ErrLimited
	case s.Code >= 300 && s.Code < 400:
		return fmt.Sprintf("Consul answered %d: electop does not follow redirects, because another host could receive the token", s.Code), nil
	case text == "":
		return fmt.Sprintf("Consul answered %d %s", s.Code, http.StatusText(s.Code)), nil
	}
	return fmt.Sprintf("Consul answered %d: %s", s.Code, text), nil
}

const rejection = "Consul rejects this token"

// describeFailure returns the text of an error response's body without prefixes, and the sentinel error for it.
func describeFailure(body string) (text string, kind error) {
	body = strings.TrimSpace(strings.TrimPrefix(body, "rpc error making call: "))
	switch {
	case tokenUnknown(body):
		return rejection + ": it does not exist in this datacenter, or was revoked", ErrDenied
	case denial(body):
		return body, ErrDenied
	case strings.Contains(body, "No cluster leader"):
		return "Consul has no consensus leader", ErrNoQuorum
	}
	return body, nil
}

// denial reports whether Consul denied the request. It checks only the beginning of the text, because the rest may
// contain a key with the same words.
func denial(text string) bool {
	text = strings.TrimPrefix(strings.TrimSpace(text), "Failed request: ")
	for forwarded := true; forwarded; { // each server that forwards the request adds this prefix
		text, forwarded = strings.CutPrefix(text, "rpc error making call: ")
	}
	return strings.HasPrefix(text, "Permission denied") || tokenUnknown(text)
}

// tokenUnknown reports whether Consul rejected an unknown token.
func tokenUnknown(text string) bool {
	return strings.HasPrefix(strings.TrimPrefix(text, "token does not exist: "), "ACL not found")
}

func unreachable(err error) bool {
	return isType[*url.Error](err) || isType[net.Error](err) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// flawOf describes a response that cannot be decoded. It returns "" for other errors.
func flawOf(err error) string {
	switch {
	case isType[*json.SyntaxError](err), isType[*jsontext.SyntacticError](err): // Consul's library uses the first
		return "is not valid JSON"
	case isType[*json.UnmarshalTypeError](err), isType[*jsonv2.SemanticError](err):
		return "has an unexpected form"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), isType[flate.CorruptInputError](err):
		return "is not valid gzip"
	}
	return ""
}

// IsDenied reports whether ACLs denied the request.
func IsDenied(err error) bool { return errors.Is(err, ErrDenied) }

// Unanswered reports whether a request failed for a reason other than a missing permission.
func Unanswered(err error) bool {
	return err != nil && !IsDenied(err) && !errors.Is(err, ErrIncomplete)
}

// incomplete returns an [ErrIncomplete] error about keys, sessions or nodes.
func incomplete(what string) error {
	return Fail(ErrIncomplete, "may be incomplete: this token cannot read all %s", what)
}

// ReadProblem describes why a read failed, such as "sessions: not readable with this token".
func ReadProblem(what string, err error) string {
	switch {
	case err == nil:
		return ""
	case LacksRule(err):
		return what + ": not readable with this token"
	case IsDenied(err):
		return what + ": " + rejection
	case errors.Is(err, ErrIncomplete):
		return what + ": " + ErrIncomplete.Error()
	}
	return what + ": " + Describe(err)
}

// LacksRule reports whether a read failed because the token lacks an ACL rule. For an unknown token it returns false,
// because no rule would help.
func LacksRule(err error) bool {
	return IsDenied(err) && !strings.HasPrefix(err.Error(), rejection)
}
