package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// table has a text column and any number of numeric columns.
type table struct {
	title string
	head  []string
	rows  [][]string
	notes []string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// text formats the table for a terminal.
func (t *table) text() string {
	widths := t.widths()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", t.title)
	for _, row := range append([][]string{t.head}, t.rows...) {
		b.WriteString(strings.TrimRight(padded(row, widths, "  "), " ") + "\n")
	}
	for _, note := range t.notes {
		fmt.Fprintf(&b, "\n%s", note)
	}
	return b.String() + "\n"
}

// markdown formats the table as Markdown.
func (t *table) markdown() string {
	widths := t.widths()
	rule := make([]string, len(widths))
	for i, w := range widths {
		rule[i] = strings.Repeat("-", max(w-1, 2)) + ":"
	}
	rule[0] = strings.Repeat("-", max(widths[0], 3))
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", t.title)
	for _, row := range append([][]string{t.head, rule}, t.rows...) {
		b.WriteString("| " + padded(row, widths, " | ") + " |\n")
	}
	for _, note := range t.notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	return b.String()
}

func (t *table) widths() []int {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	return widths
}

func padded(row []string, widths []int, between string) string {
	cells := make([]string, len(row))
	for i, cell := range row {
		fill := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if cells[i] = fill + cell; i == 0 {
			cells[i] = cell + fill
		}
	}
	return strings.Join(cells, between)
}

// ms formats a duration in milliseconds with three significant digits.
func ms(d time.Duration) string {
	f := float64(d) / float64(time.Millisecond)
	switch {
	case f >= 100 || f <= -100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10 || f <= -10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0f", float64(bytes)/(1<<20)) }

// thousands formats a number with commas as thousands separators.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
