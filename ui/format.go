package ui

import (
	"strconv"
	"time"
)

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
