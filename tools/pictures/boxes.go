package main

import (
	"fmt"
	"strings"
)

// The thickness of light and heavy lines.
const thin, thick = 0.12, 0.32

// box describes a box character: the thickness of the lines from its centre to its left, right, upper and lower edge.
type box struct{ left, right, up, down float64 }

// boxOf returns the lines of a box character, or false for other characters.
func boxOf(r rune) (box, bool) {
	b, ok := map[rune]box{
		'─': {left: thin, right: thin}, '━': {left: thick, right: thick},
		'╾': {left: thick, right: thin}, '╼': {left: thin, right: thick},
		'┿': {left: thick, right: thick, up: thin, down: thin}, '│': {up: thin, down: thin},
		'╭': {right: thin, down: thin}, '╮': {left: thin, down: thin},
		'╰': {right: thin, up: thin}, '╯': {left: thin, up: thin},
	}[r]
	return b, ok
}

// blockOf returns the part of a cell that a block element fills from the left, or false for other characters.
func blockOf(r rune) (float64, bool) {
	part, ok := map[rune]float64{'█': 1, '▌': 0.5, '▎': 0.25}[r]
	return part, ok
}

// drawBoxes returns the path of box characters and blocks, or false if the word has another character.
func drawBoxes(word string, x, y float64) (string, bool) {
	var b strings.Builder
	var line segment // a horizontal line that may continue in the next cell
	middle := y + cellHeight/2
	for i, r := range []rune(word) {
		left := x + cellWidth*float64(i)
		if part, ok := blockOf(r); ok {
			b.WriteString(rectangle(left, y, part*cellWidth, cellHeight))
			continue
		}
		c, ok := boxOf(r)
		if !ok {
			return "", false
		}
		centre := left + cellWidth/2
		line.extend(&b, middle, segment{left, centre, c.left})
		line.extend(&b, middle, segment{centre, left + cellWidth, c.right})
		if c.up > 0 {
			b.WriteString(rectangle(centre-c.up/2, y, c.up, cellHeight/2+thin/2))
		}
		if c.down > 0 {
			b.WriteString(rectangle(centre-c.down/2, middle-thin/2, c.down, cellHeight/2+thin/2))
		}
	}
	line.flush(&b, middle)
	return b.String(), b.Len() > 0
}

// segment is a horizontal line.
type segment struct{ from, to, thickness float64 }

// extend adds the next segment to the line, or draws the line and begins another one.
func (s *segment) extend(b *strings.Builder, middle float64, next segment) {
	if s.thickness == next.thickness {
		s.to = next.to
		return
	}
	s.flush(b, middle)
	*s = next
}

func (s *segment) flush(b *strings.Builder, middle float64) {
	if s.thickness > 0 {
		b.WriteString(rectangle(s.from, middle-s.thickness/2, s.to-s.from, s.thickness))
	}
}

// rectangle returns the path of a rectangle.
func rectangle(x, y, width, height float64) string {
	return fmt.Sprintf("M%s %sh%sv%sh-%sz", decimal(x), decimal(y), decimal(width), decimal(height), decimal(width))
}
