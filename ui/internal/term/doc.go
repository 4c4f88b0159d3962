// Package term draws text: spans with roles, lines of exact width, boxes, pages of wrapped
// text, and an input line. Its texts must be safe for a terminal.
package term
