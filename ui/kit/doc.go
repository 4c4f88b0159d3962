// Package kit draws text: spans with roles, lines of exact width, boxes, pages of wrapped text, and an input line.
// Callers must sanitize texts first.
package kit
