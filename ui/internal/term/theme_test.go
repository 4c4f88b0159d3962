package term_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"electop/ui/internal/term"
)

// rgb is a colour with components from 0 to 1.
type rgb [3]float64

func hex(t testing.TB, text string) rgb {
	t.Helper()
	var c rgb
	for i := range c {
		n, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c[i] = float64(n) / 255
	}
	return c
}

// linear returns the components in proportion to the intensity of the light.
func (c rgb) linear() rgb {
	for i, v := range c {
		if c[i] = v / 12.92; v > 0.04045 {
			c[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return c
}

// luminance returns the relative luminance of WCAG 2.
func (c rgb) luminance() float64 {
	l := c.linear()
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

// contrast returns the contrast ratio of WCAG 2.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// lab converts linear RGB to CIELAB with the D65 white point.
func lab(l rgb) rgb {
	f := func(v float64) float64 {
		if v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.9505)
	y := f(0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2])
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.089)
	return rgb{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// seen simulates how a person whose eyes lack one kind of cone sees a colour (Viénot, Brettel and Mollon 1999).
func (c rgb) seen(by string) rgb {
	l := c.linear()
	switch by {
	case "protanopia":
		v := 0.11238*l[0] + 0.88762*l[1]
		return rgb{v, v, 0.00401*l[0] - 0.00401*l[1] + l[2]}
	case "deuteranopia":
		v := 0.29275*l[0] + 0.70725*l[1]
		return rgb{v, v, -0.02234*l[0] + 0.02234*l[1] + l[2]}
	}
	return l
}

// distance returns the CIELAB distance of two colours; about 2 is just noticeable.
func distance(a, b rgb, by string) float64 {
	x, y := lab(a.seen(by)), lab(b.seen(by))
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// ink returns the colours of an escape sequence. If the sequence sets no colour, it returns the colour of the
// terminal.
func ink(t testing.TB, escape string, text, ground rgb) (rgb, rgb) {
	t.Helper()
	for _, m := range regexp.MustCompile(`([34])8;2;(\d+);(\d+);(\d+)`).FindAllStringSubmatch(escape, -1) {
		var n [3]uint64
		for i := range n {
			n[i], _ = strconv.ParseUint(m[2+i], 10, 8)
		}
		c := hex(t, fmt.Sprintf("#%02x%02x%02x", n[0], n[1], n[2]))
		if m[1] == "3" {
			text = c
		} else {
			ground = c
		}
	}
	return text, ground
}

// assumed returns the backgrounds for which the themes are designed, with the usual colour of text.
func assumed(dark bool) (grounds []string, text string) {
	if dark {
		return []string{"#000000", "#1e1e1e"}, "#d0d0d0"
	}
	return []string{"#ffffff", "#fafafa"}, "#1c1c1c"
}

func textRoles() map[string]term.Role {
	return map[string]term.Role{
		"text": term.Text, "quiet": term.Quiet, "faint": term.Faint, "strong": term.Strong, "accent": term.Accent, "head": term.Head,
		"led": term.Led, "vacant": term.Vacant, "delay": term.Delay, "bad": term.Bad, "key": term.Key,
		"badge": term.Badge, "alarm": term.Alarm, "past": term.Past, "button": term.Button, "button on": term.ButtonOn,
	}
}

func tones() map[string]term.Tone {
	return map[string]term.Tone{
		"plain": term.Plain, "selected": term.Plain.Selected(), "stale": term.Stale,
		"stale and selected": term.Stale.Selected(), "changed": term.Plain.Changed(),
	}
}

func TestContrastOfTheThemes(t *testing.T) {
	for _, theme := range term.Themes() {
		if theme == term.ThemeTerminal {
			continue // the user chose the colours
		}
		for _, dark := range []bool{true, false} {
			if theme == term.ThemeDark && !dark || theme == term.ThemeLight && dark {
				continue
			}
			least := 4.5 // WCAG 2 AA
			grounds, text := assumed(dark)
			if theme == term.ThemeContrast {
				least = 7 // AAA
				grounds, text = grounds[:1], map[bool]string{true: "#ffffff", false: "#000000"}[dark]
			}
			styles := term.NewStyles(theme, dark, "TrueColor")
			for _, ground := range grounds {
				for name, role := range textRoles() {
					for tone, of := range tones() {
						fg, bg := ink(t, styles.Ink(of, role), hex(t, text), hex(t, ground))
						if got := contrast(fg, bg); got < least {
							t.Errorf("%s, dark %v, on %s: %s in a line that is %s has %.2f:1, want %.1f:1", theme, dark, ground, name, tone, got, least)
						}
					}
				}
				for name, role := range map[string]term.Role{"one term of a lane": term.TermA, "the next": term.TermB} {
					fg, bg := ink(t, styles.Ink(term.Plain, role), hex(t, text), hex(t, ground))
					if got := contrast(fg, bg); got < 3 { // graphics
						t.Errorf("%s, dark %v, on %s: %s has %.2f:1, want 3:1", theme, dark, ground, name, got)
					}
				}
			}
		}
	}
}

// A person who cannot distinguish red from green distinguishes the colours of a leader from those
// of problems. The signs and words differ as well: TestColoursDoNotChangeTheText.
func TestColoursForColourBlindPeople(t *testing.T) {
	const least = 15
	for _, theme := range []term.Theme{term.ThemeDark, term.ThemeLight, term.ThemeContrast} {
		for _, dark := range []bool{true, false} {
			styles := term.NewStyles(theme, dark, "TrueColor")
			of := func(r term.Role) rgb {
				fg, _ := ink(t, styles.Ink(term.Plain, r), rgb{}, rgb{})
				return fg
			}
			for name, problem := range map[string]term.Role{"vacant": term.Vacant, "delay": term.Delay, "bad": term.Bad} {
				for _, by := range []string{"", "protanopia", "deuteranopia"} {
					if got := distance(of(term.Led), of(problem), by); got < least {
						t.Errorf("%s, dark %v: led and %s differ by %.1f with %q, want %d", theme, dark, name, got, by, least)
					}
				}
			}
		}
	}
}

func TestThemesOfTerminalsWithFewColours(t *testing.T) {
	for _, theme := range term.Themes() {
		for _, dark := range []bool{true, false} {
			for tone, of := range tones() {
				for name, role := range textRoles() {
					if got := term.NewStyles(theme, dark, "Ascii").Ink(of, role); regexp.MustCompile(`[34]\d|9\d`).MatchString(got) {
						t.Errorf("%s without colours: %s, %s has the colour %q", theme, tone, name, got)
					}
					if got := term.NewStyles(theme, dark, "ANSI").Ink(of, role); strings.Contains(got, "8;") {
						t.Errorf("%s with 16 colours: %s, %s has %q", theme, tone, name, got)
					}
				}
			}
		}
	}
	for _, role := range textRoles() {
		if got := term.NewStyles(term.ThemeTerminal, true, "TrueColor").Ink(term.Plain, role); strings.Contains(got, "8;") {
			t.Errorf("the terminal's own colours contain %q", got)
		}
	}
}

// A changed line differs from others with and without colours, and a selected line from both.
func TestChangedLinesAreHighlighted(t *testing.T) {
	for _, theme := range term.Themes() {
		for _, profile := range []string{"TrueColor", "ANSI", "Ascii"} {
			for _, dark := range []bool{true, false} {
				styles := term.NewStyles(theme, dark, profile)
				plain, changed, selected := styles.Ink(term.Plain, term.Text), styles.Ink(term.Plain.Changed(), term.Text), styles.Ink(term.Plain.Selected(), term.Text)
				if plain == changed || changed == selected || plain == selected {
					t.Errorf("%s, %s, dark %v: plain %q, changed %q, selected %q", theme, profile, dark, plain, changed, selected)
				}
			}
		}
	}
	if term.Stale.Changed() != term.Stale || term.Plain.Selected().Changed() != term.Plain.Selected() {
		t.Error("a stale or selected line is highlighted")
	}
}
