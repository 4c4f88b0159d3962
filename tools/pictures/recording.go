package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// firstFrame is the time of the first frame in a cast. print removes the empty frame that svg-term adds at time 0.
const firstFrame = time.Second

// returnSign is a character that svg-term does not draw, because some shells write it after an incomplete line. The
// cast contains returnStandIn instead, a private-use character, and polish restores returnSign.
const returnSign, returnStandIn = "⏎", "\ue000"

// shot is a screen and the time at which it appears in the recording.
type shot struct {
	at             time.Duration
	frame, caption string
}

// recording is a list of screens. Consecutive equal screens appear once.
type recording struct {
	shots []shot
	// end is the time at which the recording ends.
	end  time.Duration
	last time.Time
}

// still returns a recording of one screen.
func still(frame string) recording {
	return recording{shots: []shot{{frame: frame}}, end: time.Second}
}

// see adds a screen. The previous screen is shown for its real duration, but at most for longestGap; hold can
// extend this time.
func (r *recording) see(frame, caption string, now time.Time) {
	if n := len(r.shots); n > 0 {
		if r.shots[n-1].frame == frame && r.shots[n-1].caption == caption {
			return
		}
		r.end = max(r.end, r.shots[n-1].at+min(now.Sub(r.last), longestGap))
	}
	r.shots = append(r.shots, shot{r.end, frame, caption})
	r.last = now
}

// hold sets how long the last screen is shown.
func (r *recording) hold(d time.Duration) {
	if n := len(r.shots); n > 0 {
		r.end = r.shots[n-1].at + d
	}
}

// cast returns the recording in asciinema's format, version 2.
func (r *recording) cast(th theme) []byte {
	height := lines
	for _, s := range r.shots {
		if s.caption != "" {
			height = lines + 2
		}
	}
	// svg-term's cells are a little wider than its frames allow. With one more column, frames do not overlap.
	var b bytes.Buffer
	write := func(v any) {
		line, _ := json.Marshal(v) // strings and numbers can always be encoded as JSON
		fmt.Fprintf(&b, "%s\n", line)
	}
	write(map[string]any{"version": 2, "width": columns + 1, "height": height, "title": "electop demo"})
	event := func(at time.Duration, text string) { write([]any{(firstFrame + at).Seconds(), "o", text}) }
	for _, s := range r.shots {
		event(s.at, s.screen(th))
	}
	event(r.end, "\x1b[0m") // svg-term does not show the last event
	return b.Bytes()
}

// screen returns the text that draws a screen and its caption on a terminal.
func (s shot) screen(th theme) string {
	var b strings.Builder
	b.WriteString("\x1b[0m\x1b[2J")
	for i, line := range strings.Split(s.frame, "\n") {
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, line)
	}
	if s.caption != "" {
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m%s%-*s", lines+2, th.caption, columns, " "+s.caption)
	}
	return strings.ReplaceAll(b.String(), returnSign, returnStandIn)
}
