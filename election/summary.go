package election

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"electop/election/sanitize"
)

// Summary describes the event in one line, without its time, election and type. The line is safe to print.
func (e Event) Summary() string {
	var parts []string
	if who := e.who(); who != "" {
		parts = append(parts, who)
	}
	switch e.Type {
	case Elected:
		if e.VacancyKnown && e.Vacancy > 0 {
			parts = append(parts, "after "+span(e.Vacancy)+" without a leader")
		}
	case Vacated:
		if e.HeldKnown {
			parts = append(parts, "led for "+span(e.Held))
		} else if e.Held > 0 {
			parts = append(parts, "led for at least "+span(e.Held))
		}
	case Overwritten:
		parts = append(parts, "a client wrote the key without the lock")
	case Deleted:
		parts = append(parts, "the key was deleted")
	case Missed:
		parts = append(parts, Plural(e.Count, "term")+" not observed")
	case Explained:
		parts = append(parts, e.explanation()...)
	case ConnectionLost:
		parts = append(parts, sanitize.Line(e.Error, EvidenceLength))
	case Unreadable, Readable:
		parts = append(parts, e.permission())
	case Entered, Left:
		parts = append(parts, fmt.Sprintf("%d of %s taken", e.Holders, Plural(uint64(max(0, e.Limit)), "slot")))
	case Updated, ConnectionRestored:
	}
	if e.Initial {
		parts = append(parts, "initial state")
	}
	if between := e.Between(e.Time.Local()); between != "" {
		parts = append(parts, between)
	}
	return strings.Join(parts, " · ")
}

// Between describes when the change happened if it was not observed, or returns "". See [Between].
func (e Event) Between(now time.Time) string {
	if e.SeenUntil.IsZero() || e.Initial || e.Type == Explained {
		return ""
	}
	return Between(e.SeenUntil, e.Time, now)
}

// who returns the leader, its term and its node, or "no leader" for the initial event of an election without a
// leader.
func (e Event) who() string {
	switch {
	case e.OfSlot():
		return e.slotHolder()
	case e.Leader == "" && e.Type == Vacated:
		return "no leader"
	case e.Leader == "":
		return ""
	}
	who := fmt.Sprintf("%s, term %d", e.Leader, e.Term)
	if e.Term == 0 { // a client wrote the key without the lock before electop first read it
		who = e.Leader + ", term unknown"
	}
	if e.Node != "" && e.Type == Elected && !NamesNode(e.Leader, e.Node) {
		who += ", " + sanitize.Line(e.Node, LabelLength)
	}
	return who
}

// slotHolder describes the session that entered or left.
func (e Event) slotHolder() string {
	if e.Session == "" {
		return "no holder"
	}
	who := "session " + ShortID(e.Session)
	if e.Leader != "" {
		who = sanitize.Line(e.Leader, LabelLength) + ", " + who
	}
	if e.Node != "" {
		who += ", " + sanitize.Line(e.Node, LabelLength)
	}
	return who
}

// permission describes the keys that the token can no longer read, or can read again.
func (e Event) permission() string {
	what := "the key"
	if e.Key == "" {
		what = Plural(e.Count, "key") + " under " + sanitize.Line(e.Prefix, LabelLength)
	}
	if e.Type == Unreadable {
		return "this token can no longer read " + what
	}
	return "this token can read " + what + " again"
}

func (e Event) explanation() []string {
	parts := []string{string(e.Cause)}
	if e.Evidence != "" {
		parts = append(parts, sanitize.Line(e.Evidence, EvidenceLength))
	}
	if !e.LockDelayUntil.IsZero() {
		parts = append(parts, "lock-delay until about "+e.LockDelayUntil.Local().Format(time.TimeOnly))
	}
	return parts
}

// span formats a duration for a sentence: like [FormatDuration], but "less than 1ms" instead of "0s".
func span(d time.Duration) string {
	if d.Round(time.Millisecond) == 0 {
		return "less than 1ms"
	}
	return FormatDuration(d)
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
func Plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// EvidenceLength is the maximum length of a check's output in an explanation, in runes.
const EvidenceLength = 200
