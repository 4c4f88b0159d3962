package history

import "time"

// Nanos returns a time as Unix nanoseconds, the format of times in a history. It returns 0 for the zero time.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
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
