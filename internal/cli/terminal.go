package cli

import (
	"cmp"
	"strings"
)

// defaultWidth is the line width of a plan if the output is not a terminal.
const defaultWidth = 80

// isUTF8 reports whether the locale uses UTF-8. If no locale is set, it returns true, because containers and services
// often have no locale.
func isUTF8(getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if locale == "" {
		return true
	}
	_, charset, _ := strings.Cut(locale, ".")
	charset, _, _ = strings.Cut(charset, "@")
	return strings.EqualFold(strings.ReplaceAll(charset, "-", ""), "utf8")
}
