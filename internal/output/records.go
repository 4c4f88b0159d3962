package output

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Record is a row of a table in the vertical layout: a title, and a line for each field.
type Record struct {
	Title  string
	Fields []Field
}

// Field is one line of a record. A field without text is omitted.
type Field struct{ Label, Text string }

// WriteRecords writes records, wrapped to the width, with an empty line between them.
func WriteRecords(w io.Writer, width int, all []Record) error {
	var b strings.Builder
	for i, r := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Wrap(r.Title, width) + "\n")
		for _, f := range r.Fields {
			if f.Text != "" {
				b.WriteString(Wrap(fmt.Sprintf("  %-*s%s", LabelWidth-2, f.Label, f.Text), width) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Fits reports whether all lines written since the last Flush are at most width cells wide.
func (t *Table) Fits(width int) bool {
	widths, last := map[int]int{}, 0
	for line := range strings.Lines(t.buf.String()) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i, cell := range cells[:len(cells)-1] {
			widths[i] = max(widths[i], ansi.StringWidth(cell)+columnGap)
		}
		last = max(last, ansi.StringWidth(cells[len(cells)-1]))
	}
	for _, n := range widths {
		last += n
	}
	return last <= width
}
