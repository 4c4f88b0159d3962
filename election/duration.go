package election

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FormatTime formats a time for JSON: RFC 3339 in UTC with milliseconds. It returns "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

// stamp is a time whose JSON form is that of FormatTime, but without a loss of precision.
type stamp struct{ time.Time }

func (t stamp) MarshalJSON() ([]byte, error) {
	if t.Nanosecond()%int(time.Millisecond) == 0 {
		return json.Marshal(FormatTime(t.Time))
	}
	return json.Marshal(t.UTC())
}

// FormatDuration formats a duration that may be short: 0s, <1ms, 340ms, 1.2s. From 10 s on, its form is that of
// [BriefDuration]. It rounds down.
func FormatDuration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Truncate(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Truncate(100 * time.Millisecond).String()
	}
	return BriefDuration(d)
}

// AtMost formats an upper bound: it rounds up.
func AtMost(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < 10*time.Second:
		unit = 100 * time.Millisecond
	case d >= 24*time.Hour:
		unit = time.Hour
	case d >= time.Hour:
		unit = time.Minute
	}
	return FormatDuration((d + unit - 1).Truncate(unit))
}

// BriefDuration formats a duration in one or two units: 6s, 3m12s, 2h04m, 2d04h, 123d.
func BriefDuration(d time.Duration) string {
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

// BriefAge formats a duration in its largest unit, for narrow columns: 45s, 12m, 3h, 2d.
func BriefAge(d time.Duration) string {
	text := BriefDuration(d)
	return text[:strings.IndexAny(text, "smhd")+1]
}

// Remaining formats the time that is left of a wait, in whole seconds.
func Remaining(d time.Duration) string { return BriefDuration(d + time.Second - 1) }

// AfterVacancy describes when the next leader followed: "after 1.2s", or "immediately" if Consul returned the end of a
// term and the next leader in one response.
func AfterVacancy(d time.Duration) string {
	if d == 0 {
		return "immediately"
	}
	return "after " + FormatDuration(d)
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// durationJSON returns a duration as exact text and as a number of milliseconds, which scripts can compare.
func durationJSON(d time.Duration) (text string, ms *int64) {
	return d.String(), new(d.Milliseconds())
}

// parseDuration stores a duration in *into. It ignores empty text.
func parseDuration(text string, into *time.Duration) (err error) {
	if text != "" {
		*into, err = time.ParseDuration(text)
	}
	return err
}

// ParseDays parses a duration of at least 0 in Go's format, which days may precede: 90d, 2d04h, 1h30m. 65,535 days are the
// maximum.
func ParseDays(text string) (total time.Duration, err error) {
	if days, rest, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("invalid number of days %q", days)
		}
		if total, text = time.Duration(n)*24*time.Hour, rest; rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("must be 0 or more")
	}
	return total + d, err
}

// NameList joins at most limit names and adds the number of the other names: "a, b and 3 more".
func NameList(names []string, limit int) string {
	text := strings.Join(names[:min(len(names), limit)], ", ")
	if more := len(names) - limit; more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	return text
}

// Plural formats a number with a noun: "1 term", "2 terms".
func Plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
