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

// TimeOfDay parses a time of day in the zone of now. A time that is later than now is on the previous day.
func TimeOfDay(text string, now time.Time) (at time.Time, ok bool) {
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, now.Format(time.DateOnly)+" "+text, now.Location()); err == nil {
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, true
		}
	}
	return at, false
}
