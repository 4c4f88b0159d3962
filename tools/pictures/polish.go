package main

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The size of a cell in a picture that svg-term draws: the font size is 1.67, and the baseline of a line is 1.67 below
// the top of the line.
const (
	fontSize   = 1.67
	cellWidth  = fontSize * 0.6
	cellHeight = fontSize * 1.3
)

// fonts are the usual monospace fonts of macOS, Windows and Linux.
const fonts = `ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace`

var (
	// texts matches one or more words of the same colour. It captures their position, class and text.
	texts = regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)" class="(\w+)">([^<]*)</text>`)
	// grounds matches the background of text. svg-term draws the background too narrow, because a cell is wider than 1.
	grounds = regexp.MustCompile(`(<rect height="2\.171" width=")(\d+)(")`)
	// parts matches a word or a run of box characters.
	parts = regexp.MustCompile(`[\x{2500}-\x{259f}]+|[^\s\x{2500}-\x{259f}]+`)
)

// rules are additional CSS rules of a picture. They remove the gaps between the backgrounds of words. They also stop
// the animation for readers who prefer reduced motion.
const rules = `svg svg rect{shape-rendering:crispEdges}@media(prefers-reduced-motion:reduce){g{animation:none!important}}`

// polish corrects a picture from svg-term; see the package comment.
func polish(svg string, th theme) string {
	svg = texts.ReplaceAllStringFunc(svg, func(element string) string {
		f := texts.FindStringSubmatch(element)
		return drawText(number(f[1]), number(f[2]), f[3], html.UnescapeString(f[4]))
	})
	svg = grounds.ReplaceAllStringFunc(svg, func(element string) string {
		f := grounds.FindStringSubmatch(element)
		return f[1] + decimal(cellWidth*number(f[2])) + f[3]
	})
	svg = regexp.MustCompile(`></(rect|use)>`).ReplaceAllString(svg, "/>")
	svg = regexp.MustCompile(`\d+\.\d{4,}`).ReplaceAllStringFunc(svg, func(n string) string { return decimal(number(n)) })
	svg = regexp.MustCompile(`rgb\((\d+),\s*(\d+),\s*(\d+)\)`).ReplaceAllStringFunc(svg, hexColour)
	svg = regexp.MustCompile(`font-family:[^}]*}`).ReplaceAllString(svg, "font-family:"+fonts+"}")
	svg = regexp.MustCompile(` font-family="[^"]*"`).ReplaceAllString(svg, "")
	svg = strings.ReplaceAll(svg, ";white-space:pre", "")
	svg = strings.Replace(svg, "</style>", rules+"</style>", 1)
	// A picture with a view box can be scaled. The border separates the picture from a page of the same colour.
	return regexp.MustCompile(`^(<svg [^>]*)width="([\d.]+)" height="([\d.]+)"><rect [^>]*>`).ReplaceAllString(svg,
		`${1}width="$2" height="$3" viewBox="0 0 $2 $3"><rect width="100%" height="100%" rx="8" fill="`+th.border+`"/>`+
			`<rect x="1" y="1" width="99.8%" height="99.7%" rx="7" class="a"/>`)
}

// drawText draws text as words and box characters.
func drawText(x, y float64, class, text string) string {
	var b strings.Builder
	for _, part := range parts.FindAllStringIndex(text, -1) {
		word := text[part[0]:part[1]]
		left := x + cellWidth*float64(utf8.RuneCountInString(text[:part[0]]))
		if path, ok := drawBoxes(word, left, y-fontSize); ok {
			fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, class, path)
			continue
		}
		width := ""
		if n := utf8.RuneCountInString(word); n > 1 {
			width = fmt.Sprintf(` textLength="%s"`, decimal(cellWidth*float64(n)))
		}
		word = strings.ReplaceAll(word, returnStandIn, returnSign)
		fmt.Fprintf(&b, `<text x="%s" y="%s" class="%s"%s>%s</text>`, decimal(left), decimal(y), class, width, html.EscapeString(word))
	}
	return b.String()
}

// hexColour returns the short form of a colour.
func hexColour(rgb string) string {
	var c [3]int
	if _, err := fmt.Sscanf(strings.ReplaceAll(rgb, " ", ""), "rgb(%d,%d,%d)", &c[0], &c[1], &c[2]); err != nil {
		return rgb
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}

// number reads a number that a regular expression matched.
func number(digits string) float64 {
	n, _ := strconv.ParseFloat(digits, 64)
	return n
}

// decimal returns a number with at most 3 decimals.
func decimal(n float64) string {
	return strconv.FormatFloat(math.Round(n*1000)/1000, 'f', -1, 64)
}
