package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// reportedTerms returns a log with two terms of one key, and the events that report them.
func reportedTerms() (*truth, []line) {
	start := time.Now()
	at := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
	l := newTruth()
	l.begin("k", term{id: "one", session: "s1", create: 5, lock: 1, asked: at(0), began: at(0)})
	l.end("k", at(2), false)
	l.begin("k", term{id: "two", session: "s2", create: 5, lock: 2, asked: at(4), began: at(4)})
	event := func(n int, kind election.EventType, number uint64, id, session string) line {
		return line{election.Event{Type: kind, Key: "k", Term: number, CreateIndex: 5, Leader: id, Session: session}, at(n)}
	}
	return l, []line{
		event(1, election.Elected, 1, "one", "s1"),
		event(3, election.Vacated, 1, "one", "s1"),
		event(5, election.Elected, 2, "two", "s2"),
	}
}

// If the comparison did not detect false events, the fault tests would prove nothing.
func TestCompareFindsFalseEvents(t *testing.T) {
	for _, c := range []struct {
		name, want string
		falsify    func(l *truth, lines []line) []line
	}{
		{"nothing", "", func(_ *truth, lines []line) []line { return lines }},
		{"a term is reported twice", "no such term", func(_ *truth, lines []line) []line { return append(lines, lines[1], lines[2]) }},
		{"a term is not reported", "neither reported nor counted", func(_ *truth, lines []line) []line { return lines[2:] }},
		{"a current term is reported as ended", "the term has not ended", func(_ *truth, lines []line) []line {
			end := lines[1]
			end.Leader, end.Session, end.read = "two", "s2", lines[2].read.Add(time.Second)
			return append(lines, end)
		}},
		{"the end of a term is reported too early", "before the write that ended the term", func(_ *truth, lines []line) []line {
			lines[1].read = lines[0].read
			return lines
		}},
		{"another session", "the log contains session s2", func(_ *truth, lines []line) []line {
			lines[2].Session = "s1"
			return lines
		}},
		{"missed terms that never existed", "counted as missed", func(_ *truth, lines []line) []line {
			missed := lines[2]
			missed.Type, missed.Count = election.Missed, 1
			return append(lines, missed)
		}},
		{"a deletion that never happened", "was not deleted", func(_ *truth, lines []line) []line {
			deleted := lines[2]
			deleted.Type = election.Deleted
			return append(lines, deleted)
		}},
		{"a write that never happened", "no writer has made this change", func(_ *truth, lines []line) []line {
			overwritten := lines[2]
			overwritten.Type = election.Overwritten
			return append(lines, overwritten)
		}},
		{"the end of the term is not reported", "according to electop: true, according to the log: false", func(l *truth, lines []line) []line {
			l.end("k", time.Now(), false)
			return lines
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, lines := reportedTerms()
			wrong := l.compare(c.falsify(l, slices.Clone(lines))).wrong
			if all := strings.Join(wrong, "\n"); c.want == "" && all != "" || !strings.Contains(all, c.want) {
				t.Errorf("got %q, want %q", all, c.want)
			}
		})
	}
}
