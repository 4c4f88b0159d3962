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
			t.Errorf("%s: %s, want %s", c.d, got, c.want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s, at most 0s", 400 * time.Microsecond: "<1ms, at most 1ms", 13600 * time.Microsecond: "13ms, at most 14ms", 340 * time.Millisecond: "340ms, at most 340ms", 1020 * time.Millisecond: "1s, at most 1.1s",
		9950 * time.Millisecond: "9.9s, at most 10s", 15 * time.Second: "15s, at most 15s", 109500 * time.Millisecond: "1m49s, at most 1m50s",
		time.Minute: "1m00s, at most 1m00s", time.Hour + time.Second: "1h00m, at most 1h01m", 25*time.Hour + time.Second: "1d01h, at most 1d02h",
	} {
		if got := election.FormatDuration(d) + ", at most " + election.AtMost(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}
