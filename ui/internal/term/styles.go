package term

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Role is the meaning of a text, which determines its colour. Only this file maps roles to colours.
type Role uint8

// The roles of text. The last ones also set the background.
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
	TermA
	TermB
	Key
	Badge
	Alarm
	Past
	Button
	ButtonOn
	roleCount
)

// Tone is the background of a line.
type Tone uint8

// The backgrounds of lines.
const (
	Plain Tone = iota
	toneSelected
	Stale // stale data: everything in one grey
	toneStaleSelected
	toneCount
)

// Selected is the background of a selected line among lines with this one.
func (t Tone) Selected() Tone {
	if t == Stale {
		return toneStaleSelected
	}
	return toneSelected
}

// depth is the number of colours of the terminal.
type depth uint8

const (
	depthTrue depth = iota
	depth16
	depthNone
)

// depthOf maps the name of a terminal's colour profile.
func depthOf(profile string) depth {
	switch profile {
	case "Ascii", "NoTTY", "Unknown":
		return depthNone
	case "ANSI":
		return depth16
	}
	return depthTrue
}

// theme contains the colours of the dashboard: greys, one accent, and warm colours for
// problems only.
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
	// Every colour is also in the 256-colour palette, so that tmux shows the same.
	return theme{
		quiet: of("#6c6c6c", "#949494"), faint: of("#b2b2b2", "#585858"), accent: of("#005fd7", "#5fafff"),
		led: of("#00875f", "#87d787"), vacant: of("#d70000", "#ff875f"), delay: of("#875f00", "#ffd75f"),
		bad:   of("#af005f", "#ff5f87"),
		termA: of("#5f875f", "#5faf87"), termB: of("#5f87af", "#5f87af"), onBadge: of("#ffffff", "#1c1c1c"),
		selection: of("#e4e4e4", "#3a3a3a"), selectedText: of("#121212", "#ffffff"),
		selectedQuiet: of("#585858", "#bcbcbc"),
	}
}

// Styles holds the escape sequence of every tone and role. Precomputing them matters: a
// frame has up to ten thousand cells.
type Styles struct {
	inks [toneCount][roleCount]string
}

// NewStyles returns the styles for a dark or light background and the name of a colour
// profile ("TrueColor", "ANSI256", "ANSI", "Ascii").
func NewStyles(dark bool, profile string) *Styles {
	d := depthOf(profile)
	t := newTheme(dark, d)
	s := &Styles{}
	for r := range roleCount {
		plain := roleStyle(t, d, r)
		s.inks[Plain][r] = opening(plain)
		s.inks[toneSelected][r] = opening(selected(t, d, r, plain))
		s.inks[Stale][r] = opening(staleStyle(t, d, r, plain))
		s.inks[toneStaleSelected][r] = opening(selected(t, d, Quiet, staleStyle(t, d, r, plain)))
	}
	return s
}

func roleStyle(t theme, d depth, r Role) lipgloss.Style {
	s := lipgloss.NewStyle()
	switch r {
	case Quiet:
		return s.Foreground(t.quiet)
	case Faint:
		return s.Foreground(t.faint)
	case Strong:
		return s.Bold(true)
	case Accent:
		return s.Foreground(t.accent).Bold(true)
	case Head:
		return s.Foreground(t.quiet).Bold(true)
	case Led:
		return s.Foreground(t.led)
	case Vacant:
		return s.Foreground(t.vacant).Bold(true)
	case Delay:
		return s.Foreground(t.delay).Bold(true)
	case Bad:
		return s.Foreground(t.bad).Bold(true)
	case TermA:
		return s.Foreground(t.termA)
	case TermB:
		return s.Foreground(t.termB)
	case Key:
		return s.Foreground(t.accent)
	default:
		return blockStyle(t, d, r)
	}
}

// blockStyle styles text with a background of its own. Without colours it is the
// terminal's reverse video.
func blockStyle(t theme, d depth, r Role) lipgloss.Style {
	s := lipgloss.NewStyle()
	ground := map[Role]color.Color{Badge: t.accent, Alarm: t.vacant, Past: t.delay, ButtonOn: t.accent, Button: t.faint}[r]
	switch {
	case ground == nil:
		return s
	case d == depthNone && r == Button:
		return s
	case d == depthNone:
		return s.Reverse(true).Bold(true)
	case r == Button:
		return s.Background(t.selection).Foreground(t.selectedText)
	}
	return s.Background(ground).Foreground(t.onBadge).Bold(true)
}

// selected applies the background of the selected row to a role.
func selected(t theme, d depth, r Role, plain lipgloss.Style) lipgloss.Style {
	if d == depthNone {
		return plain.Reverse(true)
	}
	plain = plain.Background(t.selection)
	switch r {
	case Text, Strong:
		return plain.Foreground(t.selectedText)
	case Quiet, Faint, Head:
		return plain.Foreground(t.selectedQuiet)
	default:
		return plain
	}
}

// staleStyle makes a role grey. Roles with a background keep their colours, because they describe electop and not the
// data.
func staleStyle(t theme, d depth, r Role, plain lipgloss.Style) lipgloss.Style {
	switch {
	case r >= Badge:
		return plain
	case d == depthNone:
		return plain.Faint(true)
	}
	return lipgloss.NewStyle().Foreground(t.quiet)
}

// opening is the escape sequence that begins a style.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// Ink is the escape sequence of a role, empty for plain text.
func (s *Styles) Ink(t Tone, r Role) string { return s.inks[t][r] }
