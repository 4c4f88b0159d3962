package main

import (
	"errors"
	"os"
	"strings"
)

// bench replaces the text between these two lines of a document.
const (
	markBegin = "<!-- make bench writes from here -->"
	markEnd   = "<!-- to here -->"
)

// updateMarkdown replaces the text between the marks of a document. It creates a
// document that does not exist.
func updateMarkdown(path, text string) error {
	old, err := os.ReadFile(path) //nolint:gosec // the file that a flag names
	if errors.Is(err, os.ErrNotExist) {
		old, err = []byte("# Performance\n\n"+markBegin+"\n"+markEnd+"\n"), nil
	}
	if err != nil {
		return err
	}
	updated, err := between(string(old), text)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(updated), 0o644) //nolint:gosec // a document
}

func between(document, text string) (string, error) {
	before, rest, ok := strings.Cut(document, markBegin)
	if !ok {
		return "", errors.New("the document lacks the line " + markBegin)
	}
	_, after, ok := strings.Cut(rest, markEnd)
	if !ok {
		return "", errors.New("the document lacks the line " + markEnd)
	}
	return before + markBegin + "\n\n" + strings.TrimSpace(text) + "\n\n" + markEnd + after, nil
}
