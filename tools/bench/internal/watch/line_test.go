package watch_test

import (
	"testing"
	"time"

	"electop/tools/bench/internal/watch"
)

func TestParseEvent(t *testing.T) {
	for line, want := range map[string]watch.Line{
		`{"type":"elected","initial":true,"leader":"change-00000007"}`: {Ready: 1},
		`{"type":"vacated","initial":true}`:                            {Ready: 1},
		`{"type":"updated","leader":"change-00000007"}`:                {Change: 7},
		`{"type":"elected","leader":"change-00000012","term":3}`:       {Change: 12},
		`{"type":"vacated","leader":"change-00000007"}`:                {},
		`{"type":"explained","leader":"change-00000007"}`:              {},
		`{"type":"updated","leader":"somebody"}`:                       {},
	} {
		if got := watch.ParseEvent([]byte(line)); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}

func TestParseLine(t *testing.T) {
	for line, want := range map[string]watch.Line{
		"ready 100":                              {Ready: 100},
		`{"name":"` + watch.ChangeName(5) + `"}`: {Change: 5},
		"@1500000000 ready 3":                    {Ready: 3, At: time.Unix(0, 1500000000)},
		"@1500000000 change-00000042":            {Change: 42, At: time.Unix(0, 1500000000)},
		"change-42":                              {},
		"":                                       {},
	} {
		if got := watch.ParseLine([]byte(line)); got != want {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}
