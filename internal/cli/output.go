package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"electop/election/sanitize"
	"electop/ui/kit"
)

// pipeWidth is the width of a page that is not written to a terminal.
const pipeWidth = 1000

// document writes a value as JSON, or the page of the dashboard that draw fills.
func (o *options) document(w io.Writer, format string, value any, draw func(*kit.Page)) error {
	if format == "json" {
		return writeIndented(w, value)
	}
	return o.page(w, pipeWidth, draw)
}

// page writes the page of the dashboard that draw fills. width is its width if w is not a terminal.
func (o *options) page(w io.Writer, width int, draw func(*kit.Page)) error {
	page := &kit.Page{Width: cmp.Or(terminalWidth(w), width), Sym: kit.Unicode()}
	if o.ascii {
		page.Sym = kit.ASCII()
	}
	draw(page)
	_, err := io.WriteString(w, page.Plain())
	return err
}

// writeIndented writes a value as indented JSON, safe to print.
func writeIndented(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, sanitize.JSON(text), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// table aligns columns like text/tabwriter. Lines are written to its buffer, with a tab between two cells. It measures
// terminal cells instead of runes, because a Chinese character takes two cells.
type table struct {
	bytes.Buffer
	w      io.Writer
	widths []int
}

// newTable returns a table that Flush writes to w.
func newTable(w io.Writer) *table { return &table{w: w} }

// Flush writes all lines with aligned cells. It does not pad the last cell of a line. A column is at least as wide as
// in earlier calls to Flush.
func (t *table) Flush() error {
	var rows [][]string
	for line := range strings.Lines(t.String()) {
		cells := strings.Split(line, "\t")
		rows = append(rows, cells)
		for i, cell := range cells[:len(cells)-1] {
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], kit.Width(cell))
		}
	}
	t.Reset()
	for _, cells := range rows {
		for i, cell := range cells {
			if i < len(cells)-1 {
				cell = kit.PadTo(cell, t.widths[i]+2)
			}
			fmt.Fprint(t, cell)
		}
	}
	_, err := t.WriteTo(t.w)
	return err
}

const (
	// defaultWidth is the line width of a plan if the output is not a terminal.
	defaultWidth = 80
	// indentWidth is the indentation of continuation lines.
	indentWidth = 4
)

// terminalWidth returns the number of columns of a terminal, or 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		return defaultWidth
	}
	return width
}

// wrap breaks a line between words. It does not break a word that is longer than a line, so that users can copy the
// word.
func wrap(line string, width int) (text string) {
	column := 0
	for i, word := range strings.Split(line, " ") {
		n := kit.Width(word)
		switch {
		case i == 0:
		case column+1+n > width:
			text, column = text+"\n"+strings.Repeat(" ", indentWidth), indentWidth
		default:
			text, column = text+" ", column+1
		}
		text, column = text+word, column+n
	}
	return text
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

// cleanLength is the maximum length of text from Consul or from the user in a message, in runes.
const cleanLength = 200

// clean makes text safe to print, in one line.
func clean(text string) string { return sanitize.Line(text, cleanLength) }
