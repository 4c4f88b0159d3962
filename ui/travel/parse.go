package travel

import (
	"errors"
	"strings"
	"time"

	"electop/internal/history"
	"electop/ui/scene"
)

// usage lists the times that :at accepts.
const usage = ":at requires a time of day (03:12), a date and time (2026-11-20T03:12), a duration before now (-2h, -3d) or now"

// parse parses a time that the user typed, in the zone of now. A time of day that is later than now is on the
// previous day.
func parse(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now, errors.New(usage)
	}
	at, ok := timeOfDay(text, now)
	if !ok {
		var err error
		if at, err = history.ParseMoment(strings.TrimPrefix(text, "-"), now); err != nil {
			return at, errors.New("Invalid time: " + scene.OneLine(text, 40) + ". " + usage)
		}
	}
	if at.After(now) {
		return at, errors.New(at.Format(time.DateTime) + " is in the future")
	}
	return at, nil
}

func timeOfDay(text string, now time.Time) (at time.Time, ok bool) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		at = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, true
	}
	return now, false
}
