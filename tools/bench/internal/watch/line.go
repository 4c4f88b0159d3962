package watch

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// Line is one parsed line of a watcher's output. The zero value is a line without a measured event.
type Line struct {
	Ready  int       // number of elections that the watcher reported at the start
	Change int       // number of the reported change, or 0 if the line reports no change
	At     time.Time // timestamp of the watcher; zero if bench must use the time at which it read the line
}

// changePrefix precedes the number of the change, which has changeDigits digits.
const (
	changePrefix = "change-"
	changeDigits = 8
)

// ChangeName returns the leader's name after a change.
func ChangeName(change int) string { return fmt.Sprintf("%s%0*d", changePrefix, changeDigits, change) }

// changeIn returns the number of the change in the text, or 0 if the text contains no change.
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

// ParseEvent reads a line of `electop watch -o json`.
func ParseEvent(line []byte) Line {
	switch {
	case bytes.Contains(line, []byte(`"initial":true`)):
		return Line{Ready: 1}
	case bytes.Contains(line, []byte(`"type":"updated"`)), bytes.Contains(line, []byte(`"type":"elected"`)):
		return Line{Change: changeIn(line)}
	}
	return Line{} // ignore the event: it contains the name of the former leader, and therefore the number of the previous change
}

// ParseLine reads a line of bench's own watchers: "ready N", or the value of a changed key. The line may begin with
// "@", a time in nanoseconds and a space.
func ParseLine(line []byte) Line {
	var s Line
	if rest, ok := bytes.CutPrefix(line, []byte("@")); ok {
		stamp, rest, _ := bytes.Cut(rest, []byte(" "))
		if n, err := strconv.ParseInt(string(stamp), 10, 64); err == nil {
			s.At = time.Unix(0, n)
		}
		line = rest
	}
	if count, ok := bytes.CutPrefix(line, []byte("ready ")); ok {
		s.Ready, _ = strconv.Atoi(string(count))
		return s
	}
	s.Change = changeIn(line)
	return s
}
