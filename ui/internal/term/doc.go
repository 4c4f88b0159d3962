// Package term draws text into lines of exactly the width that they are given:
// spans with roles, lines, boxes, pages of wrapped text, and a line that is edited.
// It knows nothing of what is drawn. Its texts must be safe for a terminal.
package term
