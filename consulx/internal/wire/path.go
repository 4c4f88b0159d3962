package wire

import (
	"strings"
	"unicode"
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
