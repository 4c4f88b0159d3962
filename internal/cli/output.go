package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/shell"
)

// pipeWidth is the width of a page that is not written to a terminal.
const pipeWidth = 1000

// document writes a value as JSON, or the page of the dashboard that draw fills.
func (o *options) document(value any, draw func(*kit.Page)) error {
	if o.output == "json" {
		return writeIndented(o.stdout, value)
	}
	return o.page(o.stdout, pipeWidth, draw)
}

// page writes the page of the dashboard that draw fills. width is its width if w is not a terminal.
func (o *options) page(w io.Writer, width int, draw func(*kit.Page)) error {
	if f, isFile := w.(*os.File); isFile {
		if columns, _, err := term.GetSize(f.Fd()); err == nil { // a terminal, whose width may be unknown
			width = cmp.Or(columns, defaultWidth)
		}
	}
	page := &kit.Page{Width: width, Sym: kit.Unicode(), Unbroken: "consul kv "}
	if o.ascii {
		page.Sym = kit.ASCII()
	}
	draw(page)
	_, err := io.WriteString(w, page.Plain())
	return err
}

// writeIndented writes a value as indented JSON, safe to print.
func writeIndented(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		_, err = w.Write(append(sanitize.JSON(text), '\n'))
	}
	return err
}

// table aligns columns like text/tabwriter. It measures terminal cells instead of runes, because a Chinese character takes
// two cells.
type table struct {
	several bool // the first column is the datacenter
	rows    [][]string
	widths  []int
}

// row adds a row about a datacenter.
func (t *table) row(datacenter string, cells ...string) {
	if t.several {
		cells = slices.Insert(cells, 0, sanitize.Line(datacenter, 40))
	}
	for i, cell := range cells {
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], kit.Width(cell))
	}
	t.rows = append(t.rows, cells)
}

// write writes the rows since the last call with aligned cells. It does not pad the last cell of a row.
func (t *table) write(w io.Writer) error {
	var b strings.Builder
	for _, cells := range t.rows {
		last := len(cells) - 1
		for i, cell := range cells[:last] {
			b.WriteString(kit.PadTo(cell, t.widths[i]+2))
		}
		b.WriteString(cells[last] + "\n")
	}
	t.rows = nil
	_, err := io.WriteString(w, b.String())
	return err
}

// cleanLength is the maximum length of text from Consul or from the user in a message, in runes.
const cleanLength = 200

// clean makes text safe to print, in one line.
func clean(text string) string { return sanitize.Line(text, cleanLength) }

// print writes one result: v as one line of JSON, or text. The text of a problem goes to stderr.
func (o *options) print(v any, text string, isProblem bool) {
	var err error
	switch {
	case o.output == "json":
		err = writeLines(o.stdout, []any{v}, jsonLine)
	case isProblem:
		o.warn(text)
	default:
		_, err = fmt.Fprintln(o.stdout, text)
	}
	o.written = cmp.Or(o.written, err)
}

// shownNames is the maximum number of names or keys that a line contains.
const shownNames = 10

// lineNames joins names, safe to print.
func lineNames(names []string) string {
	return election.NameList(election.Map(names, clean), shownNames)
}

// shellWords quotes and joins arguments for a shell.
func shellWords(args []string) string { return strings.Join(election.Map(args, shell.Quote), " ") }
