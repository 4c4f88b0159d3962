package ui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// role is what a piece of text means; how that looks is decided in this file
// alone.
type role uint8

// The roles of text. The last ones have a ground of their own.
const (
	roleText role = iota
	roleQuiet
	roleFaint
	roleStrong
	roleAccent
	roleHead
	roleLed
	roleVacant
	roleDelay
	roleBad
	roleTermA
	roleTermB
	roleKey
	roleBadge
	roleAlarm
	roleButton
	roleButtonOn
	roleCount
)

// tone is the ground a line is drawn on.
type tone uint8

// The grounds of lines.
const (
	tonePlain tone = iota
	toneSelected
	toneStale // old data: everything in one grey
	toneStaleSelected
	toneCount
)

// selected is the ground of a selected line among lines on this one.
func (t tone) selected() tone {
	if t == toneStale {
		return toneStaleSelected
	}
	return toneSelected
}

// depth is how many colours the terminal has.
type depth uint8

const (
	depthTrue depth = iota
	depth16
	depthNone
)

// depthOf reads the name of a terminal's colour profile.
func depthOf(profile string) depth {
	switch profile {
	case "Ascii", "NoTTY", "Unknown":
		return depthNone
	case "ANSI":
		return depth16
	}
	return depthTrue
}

// theme is every colour of the dashboard: quiet greys, one accent, and warm
// colours for trouble only, so that the eye meets trouble first.
type theme struct {
	quiet, faint, accent, led, vacant, delay, bad color.Color
	termA, termB, onBadge                         color.Color
	selection, selectedText, selectedQuiet        color.Color
}

func newTheme(dark bool, d depth) theme {
	pick := lipgloss.LightDark(dark)
	of := func(light, dark string) color.Color { return pick(lipgloss.Color(light), lipgloss.Color(dark)) }
	if d == depth16 {
		return theme{
			quiet: of("8", "7"), faint: of("7", "8"), accent: of("4", "14"), led: of("2", "2"),
			vacant: of("1", "11"), delay: of("3", "3"), bad: of("1", "9"),
			termA: of("2", "2"), termB: of("6", "6"), onBadge: of("15", "0"),
			selection: of("7", "8"), selectedText: of("0", "15"), selectedQuiet: of("0", "7"),
		}
	}
	// Each of these is also a colour of the 256-colour palette, so that they
	// look the same inside tmux.
	return theme{
		quiet: of("#6c6c6c", "#949494"), faint: of("#b2b2b2", "#585858"), accent: of("#005fd7", "#5fafff"),
		led: of("#00875f", "#87d787"), vacant: of("#d70000", "#ff875f"), delay: of("#875f00", "#ffd75f"),
		bad:   of("#af005f", "#ff5f87"),
		termA: of("#5f875f", "#5faf87"), termB: of("#5f87af", "#5f87af"), onBadge: of("#ffffff", "#1c1c1c"),
		selection: of("#e4e4e4", "#3a3a3a"), selectedText: of("#121212", "#ffffff"),
		selectedQuiet: of("#585858", "#bcbcbc"),
	}
}

// Styles holds, for every tone and role, the sequence that turns it on. Cells
// are drawn by the ten thousand, so sequences are made once and then copied.
type Styles struct {
	inks [toneCount][roleCount]string
}

// NewStyles makes the styles for a dark or light background on a terminal
// whose colour profile has this name ("TrueColor", "ANSI256", "ANSI", "Ascii").
func NewStyles(dark bool, profile string) *Styles {
	d := depthOf(profile)
	t := newTheme(dark, d)
	s := &Styles{}
	for r := range roleCount {
		plain := roleStyle(t, d, r)
		s.inks[tonePlain][r] = opening(plain)
		s.inks[toneSelected][r] = opening(selected(t, d, r, plain))
		s.inks[toneStale][r] = opening(staleStyle(t, d, r, plain))
		s.inks[toneStaleSelected][r] = opening(selected(t, d, roleQuiet, staleStyle(t, d, r, plain)))
	}
	return s
}

func roleStyle(t theme, d depth, r role) lipgloss.Style {
	s := lipgloss.NewStyle()
	switch r {
	case roleQuiet:
		return s.Foreground(t.quiet)
	case roleFaint:
		return s.Foreground(t.faint)
	case roleStrong:
		return s.Bold(true)
	case roleAccent:
		return s.Foreground(t.accent).Bold(true)
	case roleHead:
		return s.Foreground(t.quiet).Bold(true)
	case roleLed:
		return s.Foreground(t.led)
	case roleVacant:
		return s.Foreground(t.vacant).Bold(true)
	case roleDelay:
		return s.Foreground(t.delay).Bold(true)
	case roleBad:
		return s.Foreground(t.bad).Bold(true)
	case roleTermA:
		return s.Foreground(t.termA)
	case roleTermB:
		return s.Foreground(t.termB)
	case roleKey:
		return s.Foreground(t.accent)
	default:
		return blockStyle(t, d, r)
	}
}

// blockStyle styles what stands on a ground of its own. Without colours the
// ground is the terminal's reversed one.
func blockStyle(t theme, d depth, r role) lipgloss.Style {
	s := lipgloss.NewStyle()
	ground := map[role]color.Color{roleBadge: t.accent, roleAlarm: t.vacant, roleButtonOn: t.accent, roleButton: t.faint}[r]
	switch {
	case ground == nil:
		return s
	case d == depthNone && r == roleButton:
		return s
	case d == depthNone:
		return s.Reverse(true).Bold(true)
	case r == roleButton:
		return s.Background(t.selection).Foreground(t.selectedText)
	}
	return s.Background(ground).Foreground(t.onBadge).Bold(true)
}

// selected puts a role on the ground of the selected row.
func selected(t theme, d depth, r role, plain lipgloss.Style) lipgloss.Style {
	if d == depthNone {
		return plain.Reverse(true)
	}
	plain = plain.Background(t.selection)
	switch r {
	case roleText, roleStrong:
		return plain.Foreground(t.selectedText)
	case roleQuiet, roleFaint, roleHead:
		return plain.Foreground(t.selectedQuiet)
	default:
		return plain
	}
}

// staleStyle greys a role; blocks keep their ground, they speak of the program
// and not of the data.
func staleStyle(t theme, d depth, r role, plain lipgloss.Style) lipgloss.Style {
	switch {
	case r >= roleBadge:
		return plain
	case d == depthNone:
		return plain.Faint(true)
	}
	return lipgloss.NewStyle().Foreground(t.quiet)
}

// opening is the escape sequence with which a style begins.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// ink is the sequence that turns a role on, empty for plain text.
func (s *Styles) ink(t tone, r role) string { return s.inks[t][r] }
