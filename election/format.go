package election

import (
	"encoding/json"
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

// FormatDuration formats a duration in Go's format, rounded to milliseconds or, from one minute on, to seconds.
func FormatDuration(d time.Duration) string {
	unit := time.Millisecond
	if d >= time.Minute {
		unit = time.Second
	}
	return d.Round(unit).String()
}

// AfterVacancy describes when the next leader followed: "after 1.2s", or "immediately" if Consul returned the end of a
// term and the next leader in one response.
func AfterVacancy(d time.Duration) string {
	if d == 0 {
		return "immediately"
	}
	return "after " + FormatDuration(max(d, time.Millisecond))
}

// durationJSON returns a duration as exact text and as a number of milliseconds, which scripts can compare.
func durationJSON(d time.Duration) (text string, ms *int64) {
	return d.String(), new(d.Round(time.Millisecond).Milliseconds())
}

// parseDuration stores a duration in *into. It ignores empty text.
func parseDuration(text string, into *time.Duration) (err error) {
	if text != "" {
		*into, err = time.ParseDuration(text)
	}
	return err
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
