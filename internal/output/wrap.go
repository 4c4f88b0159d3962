package output

import (
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

const (
	// LabelWidth is the width in columns of a label at the beginning of a line.
	LabelWidth = 12
	// DefaultWidth is the line width if the output is not a terminal.
	DefaultWidth = 80
	// indentWidth is the indentation of continuation lines if the text has no label.
	indentWidth = 4
	// minWidth is the minimum space for text after a label.
	minWidth = 2 * LabelWidth
)

// TerminalWidth returns the number of columns of a terminal, or 0 if w is not a terminal.
func TerminalWidth(w io.Writer) int {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		return DefaultWidth
	}
	return width
}

// Wrap breaks a line between words and indents the continuation lines to the text after the label. It does not break
// a word that is longer than a line, so that users can copy the word.
func Wrap(line string, width int) string {
	width = max(width, minWidth)
	if ansi.StringWidth(line) <= width {
		return line
	}
	indent := labelWidth(line)
	text := strings.TrimLeft(line[indent:], " ")
	var b strings.Builder
	b.WriteString(line[:indent])
	column := indent
	for i, word := range strings.Split(text, " ") {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case column+1+n > width:
			column = max(indent, indentWidth)
			b.WriteString("\n" + strings.Repeat(" ", column))
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// labelWidth returns the column of the text after the label, or 0 if the line has no label.
func labelWidth(line string) int {
	if len(line) > LabelWidth && strings.HasPrefix(line, "  ") && line[2] != ' ' && line[LabelWidth-1] == ' ' {
		return LabelWidth
	}
	return 0
}
