package election

import (
	"testing"
	"time"
)

func TestOutage(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Date(2026, 11, 20, 1, 40, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	ttl := func(seconds int) *Session { return &Session{TTL: time.Duration(seconds) * time.Second} }
	known := Term{Start: at(-3600), StartKnown: true, End: at(59)}
	with := func(set func(*Term)) Term {
		term := known
		set(&term)
		return term
	}
	for name, tt := range map[string]struct {
		term    Term
		session *Session
		cause   Cause
		want    string
	}{
		"a TTL that expired":            {known, ttl(10), SessionExpiredOrDestroyed, ", outage 2 to 23s (the holder's last sign of life was after 01:40:39)"},
		"a long TTL":                    {known, ttl(60), SessionExpiredOrDestroyed, ", outage 2s to 2m3s (the holder's last sign of life was after 01:38:59)"},
		"no longer than the term":       {with(func(t *Term) { t.Start = at(49) }), ttl(10), SessionExpiredOrDestroyed, ", outage 2 to 13s (the holder's last sign of life was after 01:40:49)"},
		"a term that began earlier":     {with(func(t *Term) { t.Start, t.StartKnown = at(49), false }), ttl(10), CheckCritical, ", outage 2 to 23s (the holder's last sign of life was after 01:40:39)"},
		"a critical check, no TTL":      {known, ttl(0), CheckCritical, ", outage at least 2.1s"},
		"a failed node":                 {known, ttl(10), NodeGone, ", outage 2 to 23s (the holder's last sign of life was after 01:40:39)"},
		"destroyed with electop":        {known, ttl(10), OperatorDestroy, ", outage 2 to 23s (the holder's last sign of life was after 01:40:39)"},
		"a session that was never read": {known, nil, Unknown, ", outage at least 2.1s"},
		"released":                      {known, ttl(10), Released, ""},
		"released with electop":         {known, ttl(10), OperatorRelease, ""},
		"the key was deleted":           {known, ttl(10), KeyDeleted, ""},
		"destroyed by its client":       {known, ttl(0), SessionDestroyed, ""},
	} {
		tt.term.Cause = tt.cause
		tt.term.AliveUntil = tt.term.LastSign(tt.session)
		got := tt.term.Outage(&Term{Start: at(61.1), StartKnown: true}).Beside(func(at time.Time) string { return at.Format(time.TimeOnly) })
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		seenUntil float64 // the beginning of a gap in observation, or 0
		cause     Cause
		known     bool
		want      string
	}{
		{29, SessionExpiredOrDestroyed, true, ", outage at most 52s"},
		{0, SessionExpiredOrDestroyed, false, ", outage at most 22s"},
		{29, Released, true, ""},
		{0, Released, false, ""},
	} {
		term := with(func(t *Term) { t.Cause = tt.cause })
		if tt.seenUntil > 0 {
			term.SeenUntil = at(tt.seenUntil)
		}
		term.AliveUntil = term.LastSign(ttl(10))
		if got := term.Outage(&Term{Start: at(61), StartKnown: tt.known}).Beside(nil); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
	if running := NewOutage(at(31), at(61), at(63.6)).String(); running != "2 to 33s" {
		t.Errorf("after a vacancy of 2.6s, the outage is %s", running)
	}
	two := NewOutage(at(30), at(31), at(32))
	if two.Extend(2 * time.Second); two.String() != "3 to 4s" {
		t.Errorf("the sum is %s", two)
	}
}
