package kit

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Capital changes the first letter to upper case.
func Capital(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + text[n:]
}

// Dated formats a time in the zone of now. It adds the date unless the time is today. A time in
// another year is only the date.
func Dated(t, now time.Time, seconds bool) string {
	t = t.In(now.Location())
	switch {
	case IsToday(t, now):
		return t.Format("15:04:05")
	case t.Year() != now.Year():
		return t.Format(time.DateOnly)
	case seconds:
		return t.Format("Jan 02 15:04:05")
	}
	return t.Format("Jan 02 15:04")
}

// IsToday reports whether t is on the same day as now, in the zone of now.
func IsToday(t, now time.Time) bool {
	return t.In(now.Location()).Format(time.DateOnly) == now.Format(time.DateOnly)
}

// ClockTime formats a recent time as a time of day.
func ClockTime(t time.Time) string { return t.Format("15:04:05") }

// Plural formats a number with its noun: "1 key", "2 keys".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// Size formats the number of bytes of a value, of which Consul accepts 512 KiB.
func Size(n int) string {
	if n < 1024 {
		return Plural(n, "byte")
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
}
