package history

import (
	"slices"
	"sort"
	"strings"
	"time"

	"electop/election"
)

// Observation is a period in which an observer watched the keys that match its patterns.
type Observation struct {
	Observer   string    `json:"observer"`
	Datacenter string    `json:"datacenter"`
	Patterns   []string  `json:"patterns"`
	From       time.Time `json:"from"`
	// To is the end, or the latest heartbeat. Lasting is set if the period had not ended when it was read.
	To      time.Time `json:"to"`
	Lasting bool      `json:"lasting"`
	// Ending is the reason why the period ended: stopped, connection_lost, suspended or patterns_changed. It is empty
	// if the process was killed.
	Ending string `json:"ending,omitempty"`
	// Dropped is the number of events that were not stored.
	Dropped uint64 `json:"dropped"`
	// Newest is the highest index of the store that was read, until this period ended.
	Newest uint64 `json:"newest,omitempty"`
}

// Periods are sorted time ranges that do not overlap and have gaps between them.
type Periods []Range

// merge sorts ranges and joins adjacent and overlapping ones.
func merge(all []Range) Periods {
	slices.SortFunc(all, func(a, b Range) int { return a.Since.Compare(b.Since) })
	var p Periods
	for _, r := range all {
		if n := len(p); n > 0 && !r.Since.After(p[n-1].Until) {
			p[n-1].Until = election.Later(p[n-1].Until, r.Until)
			continue
		}
		p = append(p, r)
	}
	return p
}

// Within returns the total length of the parts of the periods that lie between from and to.
func (p Periods) Within(from, to time.Time) time.Duration {
	var sum time.Duration
	for i := sort.Search(len(p), func(i int) bool { return p[i].Until.After(from) }); i < len(p) && p[i].Since.Before(to); i++ {
		since := election.Later(p[i].Since, from)
		sum += min(p[i].Until.Sub(since), to.Sub(since))
	}
	return sum
}

// LongestGap returns the longest time between two periods.
func (p Periods) LongestGap() (longest time.Duration) {
	for i := 1; i < len(p); i++ {
		longest = max(longest, p[i].Since.Sub(p[i-1].Until))
	}
	return longest
}

// End returns the end of the last period, or zero if there are no periods.
func (p Periods) End() time.Time {
	if len(p) == 0 {
		return time.Time{}
	}
	return p[len(p)-1].Until
}

const (
	// AliveWithin is the maximum age of the latest heartbeat of a current observation. An observation with an older
	// heartbeat counts as ended.
	AliveWithin = 10 * time.Second
	// shortestGap is the minimum time without observation that counts as a gap.
	shortestGap = time.Second
)

// Coverage contains the periods in which each key was observed, inside a time range.
type Coverage struct {
	r      Range
	groups []coverGroup
	merged map[string]Periods
}

// coverGroup contains the observations that have the same datacenter and patterns.
type coverGroup struct {
	datacenter string
	patterns   []string
	matches    election.Patterns // none if a pattern is invalid
	spans      []Range
}

// NewCoverage returns the coverage of a time range in the datacenters of a filter. An observation without an end ends
// with its latest heartbeat.
func NewCoverage(all []Observation, f Filter) *Coverage {
	c := &Coverage{r: f.Range, merged: map[string]Periods{}}
	for _, o := range all {
		if len(f.Datacenters) > 0 && !slices.Contains(f.Datacenters, o.Datacenter) {
			continue
		}
		s := Range{election.Later(o.From, f.Since), o.To}
		if !f.Until.IsZero() && f.Until.Before(o.To) {
			s.Until = f.Until
		}
		i := slices.IndexFunc(c.groups, func(g coverGroup) bool { return g.datacenter == o.Datacenter && slices.Equal(g.patterns, o.Patterns) })
		if i < 0 {
			i = len(c.groups)
			matches, _ := election.ParsePatterns(o.Patterns)
			c.groups = append(c.groups, coverGroup{o.Datacenter, o.Patterns, matches.Rooted(), nil})
		}
		c.groups[i].spans = append(c.groups[i].spans, s)
	}
	return c
}

// Gaps returns the times outside of periods of the coverage, oldest first. The range must have an end. If it has no
// start, it starts with the first observation.
func (c *Coverage) Gaps(observed Periods) []Range {
	from := c.r.Since
	if from.IsZero() && len(observed) > 0 {
		from = observed[0].Since
	}
	var gaps []Range
	add := func(from, to time.Time, least time.Duration) {
		if to.Sub(from) >= least {
			gaps = append(gaps, Range{from, to})
		}
	}
	for _, r := range observed {
		add(from, r.Since, shortestGap)
		from = r.Until
	}
	if len(observed) > 0 || !c.r.Since.IsZero() {
		add(from, c.r.Until, AliveWithin)
	}
	return gaps
}

// Of returns the periods in which a key was observed. An empty datacenter selects all datacenters.
func (c *Coverage) Of(datacenter, key string) Periods {
	mark := make([]byte, len(c.groups))
	for i, g := range c.groups {
		if _, ok := g.matches.Match(key); ok && (datacenter == "" || g.datacenter == datacenter) {
			mark[i] = 1
		}
	}
	return c.join(string(mark))
}

// Any returns the periods in which any key was observed.
func (c *Coverage) Any() Periods { return c.join(strings.Repeat("\x01", len(c.groups))) }

// join returns the periods of the marked groups.
func (c *Coverage) join(mark string) Periods {
	p, known := c.merged[mark]
	if !known {
		var all []Range
		for i, g := range c.groups {
			if mark[i] == 1 {
				all = append(all, g.spans...)
			}
		}
		p = merge(all)
		c.merged[mark] = p
	}
	return p
}
