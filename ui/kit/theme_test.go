package kit_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"electop/ui/kit"
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

func textRoles() map[string]kit.Role {
	return map[string]kit.Role{
		"text": kit.Text, "quiet": kit.Quiet, "faint": kit.Faint, "strong": kit.Strong, "accent": kit.Accent, "head": kit.Head,
		"led": kit.Led, "vacant": kit.Vacant, "delay": kit.Delay, "bad": kit.Bad, "key": kit.Key,
		"badge": kit.Badge, "alarm": kit.Alarm, "past": kit.Past, "button": kit.ButtonIdle, "button on": kit.ButtonOn,
	}
}

func tones() map[string]kit.Tone {
	return map[string]kit.Tone{
		"plain": kit.Plain, "selected": kit.Plain.Selected(), "stale": kit.Stale,
		"stale and selected": kit.Stale.Selected(),
	}
}

func TestContrastOfTheThemes(t *testing.T) {
	for _, theme := range kit.Themes() {
		if theme == "terminal" {
			continue // the user chose the colours
		}
		for _, dark := range []bool{true, false} {
			if theme == "dark" && !dark || theme == "light" && dark {
				continue
			}
			least := 4.5 // WCAG 2 AA
			grounds, text := assumed(dark)
			if theme == "contrast" {
				least = 7 // AAA
				grounds, text = grounds[:1], map[bool]string{true: "#ffffff", false: "#000000"}[dark]
			}
			styles := kit.NewStyles(theme, dark, "TrueColor")
			for _, ground := range grounds {
				for name, role := range textRoles() {
					for tone, of := range tones() {
						fg, bg := ink(t, styles.Ink(of, role), hex(t, text), hex(t, ground))
						if got := contrast(fg, bg); got < least {
							t.Errorf("%s, dark %v, on %s: %s in a line that is %s has %.2f:1, want %.1f:1", theme, dark, ground, name, tone, got, least)
						}
					}
				}
				fg, bg := ink(t, styles.Ink(kit.Plain, kit.Lane), hex(t, text), hex(t, ground))
				if got := contrast(fg, bg); got < 3 { // graphics
					t.Errorf("%s, dark %v, on %s: a lane has %.2f:1, want 3:1", theme, dark, ground, got)
				}
			}
		}
	}
}

// A person who cannot distinguish red from green distinguishes the colours of a leader from those
// of problems. The signs and words differ as well: ui.TestThemedScreens.
func TestColoursForColourBlindPeople(t *testing.T) {
	const least = 15
	for _, theme := range []string{"dark", "light", "contrast"} {
		for _, dark := range []bool{true, false} {
			styles := kit.NewStyles(theme, dark, "TrueColor")
			of := func(r kit.Role) rgb {
				fg, _ := ink(t, styles.Ink(kit.Plain, r), rgb{}, rgb{})
				return fg
			}
			for name, problem := range map[string]kit.Role{"vacant": kit.Vacant, "delay": kit.Delay, "bad": kit.Bad} {
				for _, by := range []string{"", "protanopia", "deuteranopia"} {
					if got := distance(of(kit.Led), of(problem), by); got < least {
						t.Errorf("%s, dark %v: led and %s differ by %.1f with %q, want %d", theme, dark, name, got, by, least)
					}
				}
			}
		}
	}
}

func TestThemesOfTerminalsWithFewColours(t *testing.T) {
	for _, theme := range kit.Themes() {
		for _, dark := range []bool{true, false} {
			for tone, of := range tones() {
				for name, role := range textRoles() {
					if got := kit.NewStyles(theme, dark, "Ascii").Ink(of, role); regexp.MustCompile(`[34]\d|9\d`).MatchString(got) {
						t.Errorf("%s without colours: %s, %s has the colour %q", theme, tone, name, got)
					}
					if got := kit.NewStyles(theme, dark, "ANSI").Ink(of, role); strings.Contains(got, "8;") {
						t.Errorf("%s with 16 colours: %s, %s has %q", theme, tone, name, got)
					}
				}
			}
		}
	}
	for _, role := range textRoles() {
		if got := kit.NewStyles("terminal", true, "TrueColor").Ink(kit.Plain, role); strings.Contains(got, "8;") {
			t.Errorf("the terminal's own colours contain %q", got)
		}
	}
}
