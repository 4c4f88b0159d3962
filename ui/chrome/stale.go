package chrome

import (
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// staleParts holds the stale parts of one kind. since is the time when the first of them became stale.
type staleParts struct {
	kind    election.PartKind
	parts   []election.StalePart
	since   time.Time
	retryAt time.Time // zero while an attempt is in progress
}

// staleOf returns the stale parts of the first kind that has stale parts.
func staleOf(c election.Connection, kinds ...election.PartKind) (found staleParts, ok bool) {
	if c.State == election.Lost {
		return found, false // the banner about the lost connection describes all data
	}
	for _, kind := range kinds {
		for _, p := range c.Stale {
			if p.Kind == kind {
				found.add(p)
			}
		}
		if found.kind = kind; len(found.parts) > 0 {
			return found, true
		}
	}
	return found, false
}

func (s *staleParts) add(p election.StalePart) {
	if len(s.parts) == 0 || p.Since.Before(s.since) {
		s.since = p.Since
	}
	if len(s.parts) == 0 || p.RetryAt.Before(s.retryAt) {
		s.retryAt = p.RetryAt
	}
	s.parts = append(s.parts, p)
}

// where returns the range of the stale keys in at most width cells. It omits the common prefix of the keys if the
// range does not fit.
func (s *staleParts) where(sym *kit.Symbols, width int) string {
	first, last := s.parts[0].Range, s.parts[len(s.parts)-1].Range
	text := rangeName(sym, first, 0)
	if first != last {
		shared := 0
		for i := 0; i < min(len(first.From), len(last.From)) && first.From[i] == last.From[i]; i++ {
			if first.From[i] == '/' {
				shared = i + 1
			}
		}
		text += " to " + rangeName(sym, last, 0)
		if kit.Width(text) > width {
			text = rangeName(sym, first, shared) + " to " + rangeName(sym, last, shared)
		}
	}
	text, _ = kit.Cut(text, width, sym.Ellipsis)
	return text
}

// rangeName returns a key, or a prefix with an ellipsis. It omits the bytes before position from.
func rangeName(sym *kit.Symbols, r election.Range, from int) string {
	if r == election.KeyRange(r.From) {
		return scene.Clean(r.From[from:])
	}
	return scene.Clean(r.From[from:]) + sym.Ellipsis
}

// staleWord returns the header's text about the first kind that has stale parts. It is empty if everything is
// current.
func staleWord(s *scene.Scene) string {
	stale, ok := staleOf(s.Live.Connection, election.PartKeys, election.PartNames, election.PartSessions, election.PartChecks)
	if !ok {
		return ""
	}
	what := "list"
	switch n := s.Live.CountStale(); stale.kind {
	case election.PartKeys:
		what = "part"
		if n > 0 {
			what = strconv.Itoa(n)
		}
	case election.PartSessions, election.PartChecks:
		what = string(stale.kind)
	default:
	}
	return what + " stale " + kit.Duration(s.Now.Sub(stale.since))
}

// staleSpans returns the warning about stale parts. The header shows this warning instead of the latency.
func staleSpans(s *scene.Scene, width int) []kit.Span {
	word, sym := staleWord(s), s.Sym
	switch {
	case word == "":
		return nil
	case width < 64:
		_, word, _ = strings.Cut(word, " ") // the banner names the kind
		return []kit.Span{{kit.Delay, sym.Warning + " " + word}}
	}
	return []kit.Span{{kit.Led, sym.Live + " live"}, {kit.Quiet, " " + sym.Dot + " "}, {kit.Delay, word}}
}

// staleBanner shows the number of stale elections, their age, the error and the next retry. It returns nil if neither
// the keys nor the list of keys is stale, or if the connection is lost.
func staleBanner(s *scene.Scene, width int) []kit.Span {
	stale, ok := staleOf(s.Live.Connection, election.PartKeys, election.PartNames)
	if !ok {
		return nil
	}
	age, retry := "stale for "+kit.Duration(s.Now.Sub(stale.since)), retryText(s, stale.retryAt)
	text := "Keys " + age
	switch n := s.Live.CountStale(); {
	case stale.kind == election.PartNames:
		text = "List of keys " + age + ": new keys are not detected"
	case n > 0:
		text = strconv.Itoa(n) + " of " + kit.Plural(len(s.Live.Elections), "election") + " " + age
	}
	room := width - kit.Width("  () "+text+retry)
	b := []kit.Span{{kit.Alarm, " " + text + " (" + stale.where(s.Sym, max(12, room)) + ") "}, {kit.Text, " "}, {kit.Bad, retry}}
	if text := stale.parts[0].Error; text != "" {
		b = append(b, kit.Span{kit.Text, "  " + scene.OneLine(text, 200)})
	}
	return b
}
