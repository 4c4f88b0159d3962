package consulx

import (
	"strings"
	"unicode"

	"electop/election"
	"electop/election/sanitize"
)

// LiteralPrefix returns the longest beginning of prefix that Consul's HTTP API does not change. Consul cleans paths:
// "a//b", "a/./b" and "a/x/../b" address other keys. It rejects paths with characters that are not printable.
func LiteralPrefix(prefix string) string {
	if i := strings.IndexFunc(prefix, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		prefix = prefix[:i]
	}
	start := 0
	for {
		segment, _, more := strings.Cut(prefix[start:], "/")
		switch {
		case segment == "." || segment == "..", segment == "" && more:
			return prefix[:start]
		case !more:
			return prefix
		}
		start += len(segment) + 1
	}
}

// Literal reports whether the HTTP API leaves a key unchanged.
func Literal(key string) bool { return key != "" && LiteralPrefix(key) == key }

// addressable returns an error for a key that is not UTF-8.
func addressable(key string) error {
	if election.Addressable(key) {
		return nil
	}
	return Fail(ErrRefused, "%s is not UTF-8: Consul replaces its invalid bytes, so the key cannot be addressed and other keys may look the same; "+
		"nothing was written", sanitize.Line(key, 100))
}
