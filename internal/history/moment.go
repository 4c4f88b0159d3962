package history

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseMoment parses a time: a duration before now (24h, 7d), a time in RFC 3339 format, or a date with an optional
// time in the time zone of now.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if d, err := ParseDays(text); err == nil {
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

// ParseDays parses a duration of at least 0, such as 90d, 12h or 1h30m. 65,535 days are the maximum.
func ParseDays(text string) (time.Duration, error) {
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			err = fmt.Errorf("invalid number of days %q", number)
		}
		return time.Duration(days) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("must be 0 or more")
	}
	return d, err
}
