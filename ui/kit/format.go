package kit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Capital changes the first letter to upper case.
func Capital(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + text[n:]
}

// Duration formats a duration in one or two units: 6s, 3m12s, 2h04m, 2d04h, 123d.
func Duration(d time.Duration) string {
	switch s := int64(max(0, d) / time.Second); {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	case s < 100*24*3600:
		return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
	default:
		return fmt.Sprintf("%dd", s/86400)
	}
}

// Precise formats a short duration with milliseconds or tenths of a second: 340ms, 1.2s. It formats a longer duration
// like [Duration].
func Precise(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return Duration(d)
}

// AtLeast marks the text of a duration as a lower bound unless the duration is known exactly.
func AtLeast(sym *Symbols, text string, known bool) string {
	if known {
		return text
	}
	return sym.AtLeast + text
}

// Clock formats a time as [Dated] does, with seconds.
func Clock(t, now time.Time) string { return Dated(t, now, true) }

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
	year, month, day := t.In(now.Location()).Date()
	y, m, d := now.Date()
	return year == y && month == m && day == d
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

// Age formats a duration in its largest unit: 45s, 12m, 3h, 2d.
func Age(d time.Duration) string {
	text := Duration(d)
	if i := strings.IndexAny(text, "smhd"); i >= 0 {
		return text[:i+1]
	}
	return text
}
