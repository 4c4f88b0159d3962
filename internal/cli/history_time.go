package cli

import (
	"time"

	"electop/election/sanitize"
	"electop/internal/history"
)

// parseMoment parses the value of a flag as a time: see [history.ParseMoment].
func parseMoment(flag, text string, now time.Time) (time.Time, error) {
	at, err := history.ParseMoment(text, now)
	if err != nil {
		return at, usagef("%s %q: %v", flag, sanitize.Line(text, 40), err)
	}
	return at, nil
}

// localTime formats a time for a table.
func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
