package kit

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Theme is the name of a set of colours.
type Theme = string

// The themes. ThemeAuto is dark or light, depending on the background that the terminal reports. ThemeTerminal uses
// only the 16 colours that the user configured in the terminal.
const (
	ThemeAuto     Theme = "auto"
	ThemeDark     Theme = "dark"
	ThemeLight    Theme = "light"
	ThemeContrast Theme = "contrast"
	ThemeTerminal Theme = "terminal"
)

// Themes lists the themes; the first is the default.
func Themes() []Theme {
	return []Theme{ThemeAuto, ThemeDark, ThemeLight, ThemeContrast, ThemeTerminal}
}

// palette contains the colours of a theme: greys, one accent, and warm colours for problems only. Normal text has the
// default colour of the terminal. Without colours, the palette is empty.
type palette struct {
	quiet, faint, line, accent      color.Color
	led, vacant, delay, bad         color.Color
	lane, onBadge                   color.Color
	selection, selectedText         color.Color
	selectedQuiet, selectedProblems color.Color // nil keeps the colours of the role
}

// newPalette returns the colours of a theme on a dark or light background.
func newPalette(t Theme, dark bool, d depth) palette {
	pick := lipgloss.LightDark(dark)
	of := func(light, dark string) color.Color { return pick(lipgloss.Color(light), lipgloss.Color(dark)) }
	switch {
	case d == depthNone:
		return palette{}
	case d != depthTrue:
		return terminalColours(of)
	case t == ThemeContrast:
		return highContrast(of)
	}
	// Every colour is also in the 256-colour palette, so that tmux shows the same colours.
	return palette{
		quiet: of("#585858", "#a8a8a8"), faint: of("#6c6c6c", "#949494"), line: of("#b2b2b2", "#585858"),
		accent: of("#005fd7", "#5fafff"), led: of("#005f5f", "#87d787"), vacant: of("#af0000", "#ff875f"),
		delay: of("#875f00", "#ffd75f"), bad: of("#af005f", "#ff87af"),
		lane: of("#5f875f", "#5faf87"), onBadge: of("#ffffff", "#1c1c1c"),
		selection: of("#e4e4e4", "#3a3a3a"), selectedText: of("#121212", "#ffffff"),
		selectedQuiet: of("#4e4e4e", "#bcbcbc"),
	}
}

// highContrast returns a palette with a contrast ratio of at least 7:1. The selected row is inverse.
func highContrast(of func(light, dark string) color.Color) palette {
	ink, ground := of("#000000", "#ffffff"), of("#ffffff", "#000000")
	return palette{
		quiet: of("#262626", "#e4e4e4"), faint: of("#3a3a3a", "#d0d0d0"), line: of("#585858", "#a8a8a8"),
		accent: of("#0000d7", "#87d7ff"), led: of("#005f00", "#87ffaf"), vacant: of("#af0000", "#ffaf5f"),
		delay: of("#5f005f", "#ffff5f"), bad: of("#87005f", "#ffafd7"),
		lane: of("#005f00", "#87ffaf"), onBadge: ground,
		selection: ink, selectedText: ground, selectedQuiet: ground, selectedProblems: ground,
	}
}

// terminalColours returns a palette of the terminal's own 16 colours.
func terminalColours(of func(light, dark string) color.Color) palette {
	return palette{
		quiet: of("8", "7"), faint: of("8", "7"), line: of("7", "8"), accent: of("4", "14"), led: of("2", "2"),
		vacant: of("1", "11"), delay: of("3", "3"), bad: of("1", "9"),
		lane: of("2", "2"), onBadge: of("15", "0"),
		selection: of("7", "8"), selectedText: of("0", "15"), selectedQuiet: of("0", "15"),
	}
}
