package election

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// outages are a term that ended at 01:40:59, and what is said beside its vacancy. Unless other words say so, the term began an
// hour before, its session was read and has no TTL, and the next term began at 01:41:01.
const outages = `
session_expired_or_destroyed ttl=10 next=61.6: , outage 2.6 to 24s (the holder's last sign of life was after 01:40:38)
session_expired_or_destroyed ttl=60 next=61.1: , outage 2.1s to 2m03s (the holder's last sign of life was after 01:38:58)
session_expired_or_destroyed ttl=10 next=61.1 start=49: , outage 2.1 to 13s (the holder's last sign of life was after 01:40:49)
check_critical ttl=10 next=61.1 start=49 unknown-start: , outage 2.1 to 23s (the holder's last sign of life was after 01:40:38)
session_expired_or_destroyed ttl=10 next=59.4: , outage 400ms to 21s (the holder's last sign of life was after 01:40:38)
session_expired_or_destroyed ttl=10 next=64.96 start=58.5:
check_critical next=61.1: , outage at least 2.1s
node_gone ttl=10 next=61.1: , outage 2.1 to 23s (the holder's last sign of life was after 01:40:38)
operator_destroy ttl=10 next=61.1: , outage 2.1 to 23s (the holder's last sign of life was after 01:40:38)
unknown unread next=61.1: , outage at least 2.1s
released ttl=10:
operator_release ttl=10:
key_deleted ttl=10:
session_destroyed:
session_expired_or_destroyed ttl=10 gap=29: , outage 2 to 53s (the holder's last sign of life was after 01:40:08)
session_expired_or_destroyed ttl=10 unknown-next: , outage at most 23s (the holder's last sign of life was after 01:40:38)
released ttl=10 gap=29: , outage 2 to 32s (the holder's last sign of life was after 01:40:29)
released ttl=10 unknown-next: , outage at most 2s (the holder's last sign of life was after 01:40:59)
`

func TestOutage(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Date(2026, 11, 20, 1, 40, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	for line := range strings.Lines(outages[1:]) {
		given, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		term, next, session := Term{Start: at(-3600), StartKnown: true, End: at(59)}, Term{Start: at(61), StartKnown: true}, &Session{}
		for _, word := range strings.Fields(given) {
			name, value, _ := strings.Cut(word, "=")
			n, _ := strconv.ParseFloat(value, 64) // 0 if there is none
			switch name {
			case "ttl":
				session.TTL = time.Duration(n) * time.Second
			case "unread":
				session = nil
			case "start":
				term.Start = at(n)
			case "unknown-start":
				term.StartKnown = false
			case "gap":
				term.SeenUntil = at(n)
			case "next":
				next.Start = at(n)
			case "unknown-next":
				next.StartKnown = false
			default:
				term.Cause = Cause(word)
			}
		}
		term.AliveUntil = term.LastSign(session)
		clock := func(at time.Time) string { return at.Format(time.TimeOnly) }
		got, e := term.Outage(&next).Beside(clock), &Election{Terms: []Term{term}, VacantSince: term.End}
		if so := e.Outage(next.Start).Beside(clock); got != strings.TrimSpace(want) || next.StartKnown && term.SeenUntil.IsZero() && so != got {
			t.Errorf("%s: %q, before the next term %q, want %q", given, got, so, want)
		}
	}
	two := NewOutage(at(30), at(31), at(32))
	if two.Extend(NewOutage(at(30), at(30), at(32))); two.String() != "3 to 4s" {
		t.Errorf("the sum is %s", two)
	}
}
