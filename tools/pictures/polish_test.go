package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// drawn is a picture as svg-term draws it, with one element of each kind.
const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="1024" height="675.3">` +
	`<rect width="1024" height="675.3" rx="0" ry="0" class="a"></rect><svg viewBox="0 0 100 65.13">` +
	`<style>.a{fill:rgb(28,28,28)}.b{font-family:Monaco, Consolas, 'X', monospace}.c{fill:rgb(95, 175, 255);white-space:pre}</style>` +
	`<g font-family="Monaco, &#x27;X&#x27;" class="b">` +
	`<rect height="2.171" width="40" x="2.004" y="6.513" class="a"></rect><text x="2.004" y="8.183" class="c"> auth   &lt;1ms</text><text x="14.027999999999999" y="1.67" class="c">` + returnStandIn + `</text>` +
	`<text x="0" y="1.67" class="c">──╮ x</text></g></svg></svg>`

func TestPolish(t *testing.T) {
	got := polish(drawn, themes()[0])
	for _, want := range []string{
		`<text x="3.006" y="8.183" class="c" textLength="4.008">auth</text>`,    // each word has its own position and width
		`<text x="10.02" y="8.183" class="c" textLength="4.008">&lt;1ms</text>`, // the same after several spaces
		`<text x="14.028" y="1.67" class="c">⏎</text>`,                          // svg-term does not draw this character
		`<path class="c" d="M0 1.025h2.505v0.12h-2.505z`,                        // lines join
		`<rect height="2.171" width="40.08" x="2.004"`,                          // backgrounds join
		`viewBox="0 0 1024 675.3"`, `fill="#444444"`, fonts, `.c{fill:#5fafff}`, `<text x="4.008" y="1.67" class="c">x</text>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
	}
}

func TestBoxesJoinAtTheEdgesOfTheirCells(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"─", "M0 1.025h1.002v0.12h-1.002z"},
		{"━━", "M0 0.925h2.004v0.32h-2.004z"},
		{"╼━", "M0 1.025h0.501v0.12h-0.501zM0.501 0.925h1.503v0.32h-1.503z"},
		{"│", "M0.441 0h0.12v1.146h-0.12zM0.441 1.025h0.12v1.146h-0.12z"},
		{"▌", "M0 0h0.501v2.171h-0.501z"},
	} {
		if got, ok := drawBoxes(tt.word, 0, 0); got != tt.want || !ok {
			t.Errorf("%s: got %s, want %s", tt.word, got, tt.want)
		}
	}
	if got, ok := drawBoxes("x", 0, 0); ok {
		t.Errorf("a letter was drawn as the box %s, want no box", got)
	}
}
