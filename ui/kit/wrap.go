package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Flow breaks spans into lines of at most width cells, if possible between words.
func Flow(spans []Span, width int) [][]Span {
	lines, used := [][]Span{nil}, 0
	put := func(s Span) {
		lines[len(lines)-1] = append(lines[len(lines)-1], s)
		used += Width(s.Text)
	}
	for _, s := range spans {
		if used+Width(s.Text) <= width {
			put(s)
			continue
		}
		for _, word := range words(s.Text) {
			if used > 0 && used+Width(strings.TrimRight(word, " ")) > width {
				lines, used = append(lines, nil), 0
				word = strings.TrimLeft(word, " ")
			}
			if used+Width(word) > width {
				word = strings.TrimRight(word, " ")
			}
			for i, part := range HardWrap(word, width) {
				if i > 0 {
					lines, used = append(lines, nil), 0
				}
				put(s.Role.Span(part))
			}
		}
	}
	return lines
}

// words splits a text into words. Each word keeps its leading spaces.
func words(s string) []string {
	var list []string
	start := 0
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' {
			list = append(list, s[start:i])
			start = i
		}
	}
	return append(list, s[start:])
}

// HardWrap breaks a text into lines of width cells, even within words.
func HardWrap(s string, width int) []string {
	return strings.Split(ansi.Hardwrap(s, width, true), "\n")
}
