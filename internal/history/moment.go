package history

import (
	"errors"
	"fmt"
	"math"
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
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("must be a duration before now (24h, 7d) or a time (2026-11-20T03:12)")
}

const day = 24 * time.Hour

// ParseDays parses a duration of at least 0, such as 90d, 12h or 1h30m.
func ParseDays(text string) (time.Duration, error) {
	if number, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.ParseUint(number, 10, 32)
		if err != nil || days > uint64(math.MaxInt64/day) {
			return 0, fmt.Errorf("invalid number of days %q", number)
		}
		return time.Duration(days) * day, nil
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("must be 0 or more")
	}
	return d, err
}
