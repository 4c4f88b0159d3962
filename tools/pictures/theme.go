package main

import (
	"fmt"
	"strings"
)

// theme is a terminal with a dark or a light background. electop uses the 256-colour palette, which is the same in
// both themes, and the terminal's own colours for text and background.
type theme struct {
	name                     string
	background, text, border string
	// caption is the sequence that sets the colours of a caption.
	caption string
}

func themes() []theme {
	return []theme{
		{"dark", "#1c1c1c", "#dadada", "#444444", "\x1b[1;38;5;234;48;5;75m"},
		{"light", "#ffffff", "#1c1c1c", "#c6c6c6", "\x1b[1;38;5;231;48;5;26m"},
	}
}

// xresources returns the theme as a profile for svg-term. svg-term requires all 16 colours, but electop uses none of
// them.
func (t theme) xresources() string {
	var b strings.Builder
	fmt.Fprintf(&b, "*.background: %s\n*.foreground: %s\n*.colorBD: %s\n*.cursorColor: %s\n", t.background, t.text, t.text, t.text)
	for i := range 16 {
		fmt.Fprintf(&b, "*.color%d: %s\n", i, t.text)
	}
	return b.String()
}
