package history

import "time"

// Nanos returns a time as Unix nanoseconds, in which a history stores it, and 0 for the zero time.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Moment returns the time of a result of [Nanos], in UTC.
func Moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
