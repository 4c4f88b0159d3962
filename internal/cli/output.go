package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/shell"
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
			_, _ = t.WriteString(cell)
		}
	}
	_, err := t.WriteTo(t.w)
	return err
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

// cleanLength is the maximum length of text from Consul or from the user in a message, in runes.
const cleanLength = 200

// clean makes text safe to print, in one line.
func clean(text string) string { return sanitize.Line(text, cleanLength) }

// printer writes the results of a command.
type printer struct {
	o       *options
	output  string
	written error // the first error of a write
}

// line writes one result: v as one line of JSON, or text. The text of a problem goes to stderr.
func (p *printer) line(v any, text string, isProblem bool) {
	var err error
	switch {
	case p.output == "json":
		err = writeLines(p.o.stdout, []any{v}, jsonLine)
	case isProblem:
		p.o.warn(text)
	default:
		_, err = fmt.Fprintln(p.o.stdout, text)
	}
	p.written = cmp.Or(p.written, err)
}

// shownNames is the maximum number of names or keys that a line contains.
const shownNames = 10

// lineNames joins names, safe to print.
func lineNames(names []string) string {
	for i := range names {
		names[i] = clean(names[i])
	}
	return election.NameList(names, shownNames)
}

// shellWords quotes and joins arguments for a shell.
func shellWords(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = shell.Quote(arg)
	}
	return strings.Join(quoted, " ")
}
