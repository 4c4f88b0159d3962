package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// sight is what one line of a watcher tells.
type sight struct {
	ready  int       // so many elections told of at the start
	change int       // this change was seen
	at     time.Time // when, by the watcher's own clock; zero: when the line is read
}

// changePrefix begins the leader's name in every value that is written as a
// change. The number of the change follows, in changeDigits digits.
const (
	changePrefix = "change-"
	changeDigits = 8
)

// changeName is what the leader is called after a change.
func changeName(change int) string { return fmt.Sprintf("%s%0*d", changePrefix, changeDigits, change) }

// changeIn finds the number of the change in a text, 0 without one.
func changeIn(text []byte) int {
	_, after, ok := bytes.Cut(text, []byte(changePrefix))
	if !ok || len(after) < changeDigits {
		return 0
	}
	n, err := strconv.Atoi(string(after[:changeDigits]))
	if err != nil {
		return 0
	}
	return n
}

// sightOfEvent reads a line of `electop watch -o json`.
func sightOfEvent(line []byte) sight {
	switch {
	case bytes.Contains(line, []byte(`"initial":true`)):
		return sight{ready: 1}
	case bytes.Contains(line, []byte(`"type":"updated"`)), bytes.Contains(line, []byte(`"type":"elected"`)):
		return sight{change: changeIn(line)}
	}
	return sight{} // the end of a term names the change before
}

// sightOfLine reads a line of bench's own watchers: "ready N", or the value of a
// key that changed, or one of these after "@", nanoseconds and a space.
func sightOfLine(line []byte) sight {
	var s sight
	if rest, ok := bytes.CutPrefix(line, []byte("@")); ok {
		stamp, rest, _ := bytes.Cut(rest, []byte(" "))
		if n, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			s.at = time.Unix(0, n)
		}
		line = rest
	}
	if count, ok := bytes.CutPrefix(line, []byte("ready ")); ok {
		s.ready, _ = strconv.Atoi(string(count))
		return s
	}
	s.change = changeIn(line)
	return s
}
