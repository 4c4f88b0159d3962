package kit

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Themes lists the names of the sets of colours; the first is the default. The theme auto is dark or light, depending on
// the background that the terminal reports. The theme terminal uses only the 16 colours that the user configured in the
// terminal.
func Themes() []string { return []string{"auto", "dark", "light", "contrast", "terminal"} }

// palette contains the colours of a theme, each on a light and on a dark background: greys, one accent, and warm colours for
// problems only. Normal text has the default colour of the terminal. Without colours, the palette is empty.
type palette struct {
	quiet, faint, line, accent      string
	led, vacant, delay, bad         string
	lane, onBadge                   string
	selection, selectedText         string
	selectedQuiet, selectedProblems string // empty keeps the colours of the role
	dark                            bool   // the background is dark
}

// colour returns a colour of the palette on its background.
func (t palette) colour(pair string) color.Color {
	light, dark, _ := strings.Cut(pair, " ")
	return lipgloss.LightDark(t.dark)(lipgloss.Color(light), lipgloss.Color(dark))
}

// newPalette returns the colours of a theme.
func newPalette(theme string) palette {
	switch theme {
	case "none":
		return palette{}
	case "terminal":
		return palette{
			quiet: "8 7", faint: "8 7", line: "7 8", accent: "4 14", led: "2 2",
			vacant: "1 11", delay: "3 3", bad: "1 9",
			lane: "2 2", onBadge: "15 0",
			selection: "7 8", selectedText: "0 15", selectedQuiet: "0 15",
		}
	case "contrast": // at least 7:1; the selected row is inverse
		ink, ground := "#000000 #ffffff", "#ffffff #000000"
		return palette{
			quiet: "#262626 #e4e4e4", faint: "#3a3a3a #d0d0d0", line: "#585858 #a8a8a8",
			accent: "#0000d7 #87d7ff", led: "#005f00 #87ffaf", vacant: "#af0000 #ffaf5f",
			delay: "#5f005f #ffff5f", bad: "#87005f #ffafd7",
			lane: "#005f00 #87ffaf", onBadge: ground,
			selection: ink, selectedText: ground, selectedQuiet: ground, selectedProblems: ground,
		}
	}
	// Every colour is also in the 256-colour palette, so that tmux shows the same colours.
	return palette{
		quiet: "#585858 #a8a8a8", faint: "#6c6c6c #949494", line: "#b2b2b2 #585858",
		accent: "#005fd7 #5fafff", led: "#005f5f #87d787", vacant: "#af0000 #ff875f",
		delay: "#875f00 #ffd75f", bad: "#af005f #ff87af",
		lane: "#5f875f #5faf87", onBadge: "#ffffff #1c1c1c",
		selection: "#e4e4e4 #3a3a3a", selectedText: "#121212 #ffffff",
		selectedQuiet: "#4e4e4e #bcbcbc",
	}
}

// Role is the meaning of a text. It determines the colour of the text. Only this file maps roles to colours.
type Role uint8

// The roles of text. The roles from Badge to ButtonOn also set the background.
const (
	Text Role = iota
	Quiet
	Faint
	Strong
	Accent
	Head
	Led
	Vacant
	Delay
	Bad
	Lane // a leader in a lane
	Key
	Badge
	Alarm
	Past
	ButtonIdle
	ButtonOn
	Separator // lines between parts of the screen
	roleCount
)

// Tone is the background of a line.
type Tone uint8

// The backgrounds of lines.
const (
	Plain Tone = iota
	toneSelected
	Stale // stale data: all text is grey
	toneStaleSelected
	toneCount
)

// Selected returns the background of a selected line. t is the background of the other lines.
func (t Tone) Selected() Tone {
	if t == Stale {
		return toneStaleSelected
	}
	return toneSelected
}

// Styles contains the escape sequence of every tone and role. The sequences are precomputed, because a frame has up
// to ten thousand cells.
type Styles struct {
	inks [toneCount][roleCount]string
}

// NewStyles returns the styles of a theme. dark is set for a dark background. profile is the name of a colour
// profile: "TrueColor", "ANSI256", "ANSI", "Ascii".
func NewStyles(theme string, dark bool, profile string) *Styles {
	if theme == "dark" || theme == "light" {
		dark = theme == "dark"
	}
	switch profile {
	case "Ascii", "NoTTY", "Unknown":
		theme = "none"
	case "ANSI":
		theme = "terminal"
	}
	t := newPalette(theme)
	t.dark = dark
	s := &Styles{}
	for r := range roleCount {
		plain := roleStyle(t, r)
		s.inks[Plain][r] = opening(plain)
		s.inks[toneSelected][r] = opening(selected(t, r, plain))
		s.inks[Stale][r] = opening(staleStyle(t, r, plain))
		s.inks[toneStaleSelected][r] = opening(selected(t, Quiet, staleStyle(t, r, plain)))
	}
	return s
}

// roleStyle returns the style of a role on a normal line. A role that sets its own background is in reverse video if
// there are no colours.
func roleStyle(t palette, r Role) lipgloss.Style {
	s := lipgloss.NewStyle()
	pair := [roleCount]string{
		Quiet: t.quiet, Faint: t.faint, Separator: t.line, Accent: t.accent, Head: t.quiet, Led: t.led, Vacant: t.vacant, Delay: t.delay, Bad: t.bad,
		Lane: t.lane, Key: t.accent, Badge: t.accent, Alarm: t.vacant, Past: t.delay, ButtonOn: t.accent,
	}[r]
	switch r {
	case Strong, Accent, Head, Vacant, Delay, Bad, Badge, Alarm, Past, ButtonOn:
		s = s.Bold(true)
	default:
	}
	switch {
	case r == ButtonIdle && t.accent != "":
		return s.Background(t.colour(t.selection)).Foreground(t.colour(t.selectedText))
	case !r.block() && pair != "":
		return s.Foreground(t.colour(pair))
	case !r.block(), r == ButtonIdle:
		return s
	case t.accent == "":
		return s.Reverse(true)
	}
	return s.Background(t.colour(pair)).Foreground(t.colour(t.onBadge))
}

// block reports whether a role sets its own background.
func (r Role) block() bool { return r >= Badge && r <= ButtonOn }

// selected applies the background of the selected row to a role.
func selected(t palette, r Role, plain lipgloss.Style) lipgloss.Style {
	switch {
	case t.accent == "":
		return plain.Reverse(true)
	case r.block():
		return plain
	}
	plain = plain.Background(t.colour(t.selection))
	switch r {
	case Text, Strong:
		return plain.Foreground(t.colour(t.selectedText))
	case Quiet, Faint, Head, Separator:
		return plain.Foreground(t.colour(t.selectedQuiet))
	default:
	}
	if t.selectedProblems != "" {
		return plain.Foreground(t.colour(t.selectedProblems))
	}
	return plain
}

// staleStyle makes a role grey. Roles with their own background keep their colours, because their text describes
// electop, not the data.
func staleStyle(t palette, r Role, plain lipgloss.Style) lipgloss.Style {
	switch {
	case r.block():
		return plain
	case t.accent == "":
		return plain.Faint(true)
	}
	return lipgloss.NewStyle().Foreground(t.colour(t.quiet))
}

// opening returns the escape sequence that begins a style.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// Ink returns the escape sequence of a role, or "" for plain text.
func (s *Styles) Ink(t Tone, r Role) string { return s.inks[t][r] }
