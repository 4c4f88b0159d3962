package dialog

import (
	"strconv"
	"time"

	"electop/ui/kit"
	"electop/ui/scene"
)

// writeSearch shows how a search ended and what it found. listed is the number of known keys.
func writeSearch(page *kit.Page, s *scene.Search, listed int, now time.Time) {
	when := ", as of " + kit.ClockTime(s.At) + searchAge(s, now)
	count := kit.Plural(listed, "key") + " in all"
	if listed == 0 {
		count = "no keys"
	}
	r, text := kit.Quiet, ""
	switch {
	case !s.Over:
		return
	case s.Stopped:
		r, text = kit.Delay, "Stopped after "+s.Far()+": "+count+" so far"+when+"."
	case s.Err != nil:
		r, text = kit.Bad, "The scan failed after "+s.Far()+": "+scene.Clean(s.Err.Error())
	case s.Incomplete:
		r, text = kit.Delay, "Scanned "+kit.Thousands(s.Total.Load())+" keys: "+count+when+". This token cannot read all keys: there may be more keys."
	default:
		text = "Scanned all " + kit.Thousands(s.Total.Load()) + " keys: " + count + when + "."
	}
	page.Indented(2, kit.Span{r, text})
}

// searchAge formats the age of an earlier search. The text contains no seconds, because each change to the visible
// text disables the action for a moment.
func searchAge(s *scene.Search, now time.Time) string {
	age := now.Sub(s.At)
	switch {
	case !s.Earlier:
		return ""
	case age < time.Minute:
		return ", <1m ago"
	case age < time.Hour:
		return ", " + strconv.Itoa(int(age/time.Minute)) + "m ago"
	}
	return ", " + kit.Duration(age) + " ago"
}
