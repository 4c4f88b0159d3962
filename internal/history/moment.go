package history

import (
	"errors"
	"time"

	"electop/election"
)

// ParseMoment parses a time: a duration before now (24h, 7d), a time in RFC 3339 format, or a date with an optional
// time in the time zone of now.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if d, err := election.ParseDays(text); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a duration before now (24h, 7d) or a time (2026-11-20T03:12)")
}
