package history

import (
	"math"
	"time"
)

// Nanos returns a time as Unix nanoseconds, the format of times in a history. It returns 0 for the zero time. It limits
// times outside the years 1678 to 2262, which this format cannot represent.
func Nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Moment converts a result of [Nanos] to a time in UTC.
func Moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
