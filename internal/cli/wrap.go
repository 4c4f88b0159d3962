package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

const (
	// labelColumn is how wide the labels of a plan are.
	labelColumn = 12
	// headIndent is more than that of a label.
	headIndent = 4
	// usualWidth is the width of a plan that no terminal shows.
	usualWidth = 80
	// leastWidth keeps some words on a line beside the labels.
	leastWidth = 2 * labelColumn
)

// terminalWidth is how many columns a terminal has, 0 for another writer.
func terminalWidth(w io.Writer) int {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		return usualWidth
	}
	return width
}

// planWidth is to how many columns a plan is wrapped.
func planWidth(w io.Writer) int {
	if width := terminalWidth(w); width > 0 {
		return width
	}
	return usualWidth
}

// explainLine writes a message to stderr, wrapped for a terminal only: a program
// that reads it finds one line.
func (j *job) explainLine(line string) {
	if width := terminalWidth(j.d.stderr); width > 0 {
		line = wrapped(line, width)
	}
	fmt.Fprintln(j.d.stderr, line)
}

// wrapped breaks a line between words, the rest indented to the column of its
// text. A word that is longer than a line stays whole, so that it can be copied.
func wrapped(line string, width int) string {
	width = max(width, leastWidth)
	if ansi.StringWidth(line) <= width || verbatim(line) {
		return line
	}
	indent := hanging(line)
	text := strings.TrimLeft(line[indent:], " ")
	var b strings.Builder
	b.WriteString(line[:indent])
	column := indent
	for i, word := range strings.Split(text, " ") {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case column+1+n > width:
			column = max(indent, headIndent)
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

// verbatim reports a line with a command to copy.
func verbatim(line string) bool { return strings.HasPrefix(line, betterLabel) }

// hanging is where the text of a line with a label begins, 0 without one.
func hanging(line string) int {
	if len(line) > labelColumn && strings.HasPrefix(line, "  ") && line[2] != ' ' && line[labelColumn-1] == ' ' {
		return labelColumn
	}
	return 0
}
