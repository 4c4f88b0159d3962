package cli

import (
	"time"

	"electop/election/sanitize"
)

// parseMoment parses a time: a duration before now (24h, 7d), RFC 3339, or a date with or without time in the local
// time zone.
func parseMoment(flag, text string, now time.Time) (time.Time, error) {
	if d, err := parseDays(text); err == nil {
		return now.Add(-d), nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usagef("%s %q: must be a duration before now (24h, 7d) or a time (2026-11-20T03:12)", flag, sanitize.Line(text, 40))
}

// localTime formats a time for a table.
func localTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
