// Package output formats results: tables, JSON, and lines wrapped for a terminal.
package output

import (
	"bytes"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is the space between two columns in terminal cells.
const columnGap = 2

// Table aligns columns like text/tabwriter. It measures terminal cells instead of runes, because a Chinese character
// takes two cells.
type Table struct {
	w      io.Writer
	buf    bytes.Buffer
	widths []int
}

// NewTable returns a table that Flush writes to w.
func NewTable(w io.Writer) *Table { return &Table{w: w} }

// Write adds lines whose cells are separated by tabs.
func (t *Table) Write(p []byte) (int, error) { return t.buf.Write(p) }

// Flush writes all lines with aligned cells. It does not pad the last cell of a line. A column is at least as wide as
// in earlier calls to Flush.
func (t *Table) Flush() error {
	var rows [][]string
	for line := range strings.Lines(t.buf.String()) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, cells)
		for i, cell := range cells[:len(cells)-1] {
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			t.widths[i] = max(t.widths[i], ansi.StringWidth(cell))
		}
	}
	t.buf.Reset()
	for _, cells := range rows {
		last := len(cells) - 1
		for i, cell := range cells[:last] {
			t.buf.WriteString(cell)
			t.buf.WriteString(strings.Repeat(" ", t.widths[i]-ansi.StringWidth(cell)+columnGap))
		}
		t.buf.WriteString(cells[last] + "\n")
	}
	_, err := t.w.Write(t.buf.Bytes())
	t.buf.Reset()
	return err
}
