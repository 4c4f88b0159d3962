package election

import (
	"errors"
	"time"
)

// ParseMoment parses a time: a duration before now (24h, 7d), a time in RFC 3339 format, or, in the time zone of now, a
// date with an optional time, or the latest time of day.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if d, err := ParseDays(text); err == nil {
		return now.Add(-d), nil
	}
	for _, date := range []string{"", now.Format(time.DateOnly) + " "} {
		for _, layout := range []string{
			time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
		} {
			at, err := time.ParseInLocation(layout, date+text, now.Location())
			if err != nil {
				continue
			}
			if date != "" && at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a duration before now (24h, 7d) or a time (03:12, 2026-11-20T03:12)")
}
