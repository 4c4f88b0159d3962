package history_test

import (
	"testing"
	"time"

	"electop/internal/history"
)

func start() time.Time { return time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC) }

func TestGaps(t *testing.T) {
	at := func(minute int) time.Time { return start().Add(time.Duration(minute) * time.Minute) }
	period := func(from, to int, patterns ...string) history.Observation {
		return history.Observation{Datacenter: "dc1", Patterns: patterns, From: at(from), To: at(to)}
	}
	span := func(from, to int) history.Range { return history.Range{Since: at(from), Until: at(to)} }
	for name, tt := range map[string]struct {
		observed []history.Observation
		r        history.Range
		want     []history.Range
	}{
		"no observation":                        {nil, span(0, 60), []history.Range{span(0, 60)}},
		"no observation, no start of the range": {nil, history.Range{Until: at(60)}, nil},
		"all the time":                          {[]history.Observation{period(-5, 70)}, span(0, 60), nil},
		"a gap in the middle":                   {[]history.Observation{period(-5, 10), period(20, 70)}, span(0, 60), []history.Range{span(10, 20)}},
		"gaps at both ends":                     {[]history.Observation{period(10, 50)}, span(0, 60), []history.Range{span(0, 10), span(50, 60)}},
		"two observers":                         {[]history.Observation{period(0, 30, "a"), period(20, 60, "b")}, span(0, 60), nil},
		"no start of the range":                 {[]history.Observation{period(10, 20), period(30, 60)}, history.Range{Until: at(60)}, []history.Range{span(20, 30)}},
		"a heartbeat is late":                   {[]history.Observation{{Datacenter: "dc1", From: at(0), To: at(60).Add(-9 * time.Second)}}, span(0, 60), nil},
	} {
		c := history.NewCoverage(tt.observed, history.Filter{Range: tt.r})
		got := c.Gaps(c.Any())
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
			continue
		}
		for i := range got {
			if !got[i].Since.Equal(tt.want[i].Since) || !got[i].Until.Equal(tt.want[i].Until) {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
}

func TestCoverageOfAKey(t *testing.T) {
	at := func(minute int) time.Time { return start().Add(time.Duration(minute) * time.Minute) }
	c := history.NewCoverage([]history.Observation{
		{Datacenter: "dc1", Patterns: []string{"service/*/leader"}, From: at(0), To: at(20)},
		{Datacenter: "dc1", Patterns: []string{"vault/core/lock"}, From: at(10), To: at(60)},
		{Datacenter: "dc2", Patterns: []string{"service/*/leader"}, From: at(10), To: at(30)},
	}, history.Filter{Range: history.Range{Since: at(0), Until: at(60)}})
	for _, tt := range []struct {
		datacenter, key string
		until           time.Time
		gaps            int
	}{
		{"dc1", "service/web/leader", at(20), 1},
		{"dc2", "service/web/leader", at(30), 2},
		{"", "service/web/leader", at(30), 1},
		{"dc1", "vault/core/lock", at(60), 1},
		{"dc1", "other", time.Time{}, 1},
	} {
		if got := c.Of(tt.datacenter, tt.key).End(); !got.Equal(tt.until) {
			t.Errorf("%+v: until %s", tt, got)
		}
		if got := c.Gaps(c.Of(tt.datacenter, tt.key)); len(got) != tt.gaps {
			t.Errorf("%+v: gaps %v", tt, got)
		}
	}
	if got := c.Gaps(c.Any()); len(got) != 0 {
		t.Errorf("gaps %v", got)
	}
}
