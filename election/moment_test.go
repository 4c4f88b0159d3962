package election_test

import (
	"testing"
	"time"

	"electop/election"
)

func TestParseMoment(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 1, 9, 0, time.FixedZone("CET", 3600))
	for text, want := range map[string]string{
		"24h": "2026-11-20T12:01:09+01:00", "90m": "2026-11-21T10:31:09+01:00", "7d": "2026-11-14T12:01:09+01:00",
		"2026-11-20": "2026-11-20T00:00:00+01:00", "2026-11-20T03:12": "2026-11-20T03:12:00+01:00",
		"2026-11-20 03:12:05": "2026-11-20T03:12:05+01:00", "2026-11-20T03:12:05Z": "2026-11-20T03:12:05Z",
		"03:12": "2026-11-21T03:12:00+01:00", "12:01:10": "2026-11-20T12:01:10+01:00", "": "", "yesterday": "", "-1h": "", "-2d": "", "99999999999d": "", "2026-13-01": "",
	} {
		at, err := election.ParseMoment(text, now)
		if got := at.Format(time.RFC3339); (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %s, %v, want %q", text, got, err, want)
		}
	}
}
