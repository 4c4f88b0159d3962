package ui

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// textLimit is the longest text from Consul that is considered for one line.
const textLimit = 400

// clean makes a text from Consul fit for one line of the screen.
func clean(s string) string { return oneLine(s, textLimit) }

// oneLine is [sanitize.Line], which looks at every rune, with a short way for
// what nearly every text is: short printable ASCII.
func oneLine(s string, limit int) string {
	if isPlain(s, limit) {
		return s
	}
	return sanitize.Line(s, limit)
}

// isPlain reports printable ASCII of at most limit characters without blanks at
// its ends.
func isPlain(s string, limit int) bool {
	if len(s) > limit || s == "" || s[0] == ' ' || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// duration writes a duration the way people say it: 6s, 3m12s, 2h04m, 2d04h, 123d.
func duration(d time.Duration) string {
	var b [16]byte
	s := int64(max(0, d) / time.Second)
	switch {
	case s < 60:
		return string(append(strconv.AppendInt(b[:0], s, 10), 's'))
	case s < 3600:
		return string(two(b[:0], s/60, 'm', s%60, 's'))
	case s < 24*3600:
		return string(two(b[:0], s/3600, 'h', s/60%60, 'm'))
	case s < 100*24*3600:
		return string(two(b[:0], s/86400, 'd', s/3600%24, 'h'))
	}
	return string(append(strconv.AppendInt(b[:0], s/86400, 10), 'd'))
}

func two(b []byte, high int64, unit byte, low int64, lowUnit byte) []byte {
	b = append(strconv.AppendInt(b, high, 10), unit)
	if low < 10 {
		b = append(b, '0')
	}
	return append(strconv.AppendInt(b, low, 10), lowUnit)
}

// age writes a duration in its greatest unit: 45s, 12m, 3h, 2d.
func age(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

// short writes a setting: 15s, 1m30s, 1ms.
func short(d time.Duration) string {
	text := d.String()
	if d >= time.Minute && strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// precise writes a short duration with what matters of a failover: 340ms,
// 1.2s, then as duration does.
func precise(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return duration(d)
}

// held writes how long a leader led. Below a second it is precise: "0s" would read
// as no time at all.
func held(sym *symbols, d time.Duration, known bool) string {
	switch {
	case !known && d < time.Millisecond:
		return "an unknown time"
	case d < time.Second:
		return atLeast(sym, precise(d), known)
	}
	return atLeast(sym, duration(d), known)
}

// atLeast marks a duration whose beginning nobody saw.
func atLeast(sym *symbols, text string, known bool) string {
	if known {
		return text
	}
	return sym.atLeast + text
}

// clock writes a moment as a time of day in the zone of now, with the date when
// it is not of the last day.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if age := now.Sub(t); age > 24*time.Hour || age < -24*time.Hour {
		return t.Format("Jan 02 15:04")
	}
	return t.Format("15:04:05")
}

// clockTime writes a moment of this run as a time of day.
func clockTime(t time.Time) string { return t.Format("15:04:05") }

// plural writes "1 key", "2 keys".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// size writes a number of bytes.
func size(n int) string {
	switch {
	case n < 1024:
		return plural(n, "byte")
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

func causeWords(c election.Cause) string {
	switch c {
	case election.Released:
		return "it was released"
	case election.CheckCritical:
		return "a check of its session went critical"
	case election.CheckGone:
		return "a check of its session was deregistered"
	case election.NodeGone:
		return "its node was deregistered"
	case election.SessionDestroyed:
		return "its session was destroyed"
	case election.SessionExpiredOrDestroyed:
		return "its session expired or was destroyed"
	case election.KeyDeleted:
		return "the key was deleted"
	case election.OperatorRelease:
		return "electop released it"
	case election.OperatorDestroy:
		return "electop destroyed its session"
	default:
		return "not known"
	}
}

// byOperator reports causes whose words say everything: their evidence is that
// this program did it.
func byOperator(c election.Cause) bool {
	return c == election.OperatorRelease || c == election.OperatorDestroy
}

// causeLabel is the vocabulary's word for a cause, as it stands in lists.
func causeLabel(c election.Cause) string {
	switch c {
	case election.Released:
		return "released"
	case election.CheckCritical:
		return "check critical"
	case election.CheckGone:
		return "check gone"
	case election.NodeGone:
		return "node gone"
	case election.SessionDestroyed:
		return "session destroyed"
	case election.SessionExpiredOrDestroyed:
		return "session expired or destroyed"
	case election.KeyDeleted:
		return "key deleted"
	case election.OperatorRelease:
		return "released by electop"
	case election.OperatorDestroy:
		return "destroyed by electop"
	default:
		return "cause unknown"
	}
}
