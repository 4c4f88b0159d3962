package wire

import "strings"

// LiteralPrefix is the longest beginning of prefix that Consul's HTTP API takes
// literally. It cleans paths: "a//b", "a/./b" and "a/x/../b" ask for other keys.
func LiteralPrefix(prefix string) string {
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

// Literal reports a key that the HTTP API takes literally.
func Literal(key string) bool { return key != "" && LiteralPrefix(key) == key }
