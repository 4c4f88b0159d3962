package cli

import (
	"cmp"
	"io"
	"strings"

	"electop/ui/kit"
)

// pipeWidth is the width of a page that is not written to a terminal.
const pipeWidth = 1000

// page returns an empty page of the dashboard, for the command line.
func (o *options) page(w io.Writer) *kit.Page {
	page := &kit.Page{Width: cmp.Or(terminalWidth(w), pipeWidth), Sym: kit.Unicode()}
	if o.ascii {
		page.Sym = kit.ASCII()
	}
	return page
}

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
