package main

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// outputLine is one parsed line of a watcher. Its zero value is a line that does
// not matter.
type outputLine struct {
	ready  int       // elections reported at the start
	change int       // number of the change that was seen, 0 for none
	at     time.Time // the watcher's timestamp; zero for the time of reading
}

// changePrefix is followed by the number of the change, in changeDigits digits.
const (
	changePrefix = "change-"
	changeDigits = 8
)

// changeName returns the leader's name after a change.
func changeName(change int) string { return fmt.Sprintf("%s%0*d", changePrefix, changeDigits, change) }

// changeIn returns the number of the change in a text, 0 if there is none.
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

// parseEvent reads a line of `electop watch -o json`.
func parseEvent(line []byte) outputLine {
	switch {
	case bytes.Contains(line, []byte(`"initial":true`)):
		return outputLine{ready: 1}
	case bytes.Contains(line, []byte(`"type":"updated"`)), bytes.Contains(line, []byte(`"type":"elected"`)):
		return outputLine{change: changeIn(line)}
	}
	return outputLine{} // the end of a term names the previous change
}

// parseLine reads a line of bench's own watchers: "ready N", or the value of a
// key that changed, or one of these after "@", nanoseconds and a space.
func parseLine(line []byte) outputLine {
	var s outputLine
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
