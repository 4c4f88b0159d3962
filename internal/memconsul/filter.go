package memconsul

import (
	"fmt"
	"strings"
	"unicode"

	"electop/internal/memconsul/store"
)

// parseCheckFilter supports one form of Consul's filter language: comparisons of CheckID with quoted text, joined by
// "or". An empty expression matches every check.
func parseCheckFilter(expr string) (func(*store.Check) bool, error) {
	if expr == "" {
		return func(*store.Check) bool { return true }, nil
	}
	wanted := map[string]bool{}
	rest := expr
	for {
		id, after, ok := cutComparison(rest)
		if !ok {
			return nil, unsupportedFilter(expr)
		}
		wanted[id] = true
		after = strings.TrimSpace(after)
		if after == "" {
			return func(c *store.Check) bool { return wanted[c.CheckID] }, nil
		}
		next, found := strings.CutPrefix(after, "or")
		if !found || next == strings.TrimLeftFunc(next, unicode.IsSpace) {
			return nil, unsupportedFilter(expr)
		}
		rest = next
	}
}

func unsupportedFilter(expr string) error {
	return badRequest("memconsul supports only filters like %s, not %s",
		`CheckID == "a" or CheckID == "b"`, fmt.Sprintf("%q", expr))
}

// cutComparison cuts `CheckID == "x"` from the beginning. As in Consul, text in double quotes has no escapes.
func cutComparison(expr string) (id, after string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(expr), "CheckID")
	if !ok {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), "==")
	if !ok {
		return "", "", false
	}
	rest = strings.TrimSpace(rest)
	for _, quote := range []string{`"`, "`"} {
		if text, found := strings.CutPrefix(rest, quote); found {
			return strings.Cut(text, quote)
		}
	}
	return "", "", false
}
