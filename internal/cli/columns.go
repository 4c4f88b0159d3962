package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is between two columns, in cells.
const columnGap = 2

// columns is a text/tabwriter that counts the cells of a terminal: tabwriter
// counts runes, and a Chinese character takes two cells.
type columns struct {
	w   io.Writer
	buf bytes.Buffer
}

func newColumns(w io.Writer) *columns { return &columns{w: w} }

// Write takes lines whose cells are separated by tabs.
func (c *columns) Write(p []byte) (int, error) { return c.buf.Write(p) }

// Flush writes all lines with their cells aligned. The last cell of a line is as
// wide as it is.
func (c *columns) Flush() error {
	var widths []int
	var rows [][]string
	for line := range strings.Lines(c.buf.String()) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, cells)
		for i, cell := range cells[:len(cells)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	c.buf.Reset()
	for _, cells := range rows {
		last := len(cells) - 1
		for i, cell := range cells[:last] {
			c.buf.WriteString(cell)
			c.buf.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+columnGap))
		}
		c.buf.WriteString(cells[last] + "\n")
	}
	_, err := c.w.Write(c.buf.Bytes())
	return err
}
