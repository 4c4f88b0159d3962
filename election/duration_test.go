package election_test

import (
	"testing"
	"time"

	"electop/election"
)

func TestBriefDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {0, "0s"}, {999 * time.Millisecond, "0s"}, {59 * time.Second, "59s"}, {192 * time.Second, "3m12s"},
		{time.Hour, "1h00m"}, {52*time.Hour + 59*time.Minute, "2d04h"}, {99*24*time.Hour + 23*time.Hour, "99d23h"},
		{123 * 24 * time.Hour, "123d"},
	} {
		if got := election.BriefDuration(c.d); got != c.want {
			t.Errorf("duration(%s) = %s, want %s", c.d, got, c.want)
		}
	}
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{0, "<1ms"}, {1400 * time.Microsecond, "1ms"}, {340 * time.Millisecond, "340ms"}, {1204 * time.Millisecond, "1.2s"}, {15 * time.Second, "15s"}} {
		if got := election.PreciseDuration(c.d); got != c.want {
			t.Errorf("precise(%s) = %s, want %s", c.d, got, c.want)
		}
	}
	for d, want := range map[time.Duration]string{
		13600 * time.Microsecond: "13ms, at most 14ms", 1020 * time.Millisecond: "1.02s, at most 1.02s", 109500 * time.Millisecond: "1m49s, at most 1m50s",
		time.Minute: "1m00s, at most 1m00s", time.Hour + time.Second: "1h00m, at most 1h01m", 25*time.Hour + time.Second: "1d01h, at most 1d02h",
	} {
		if got := election.FormatDuration(d) + ", at most " + election.AtMost(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
