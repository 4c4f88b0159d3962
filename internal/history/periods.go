package history

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"
)

// span is a range of time in nanoseconds.
type span struct{ from, to int64 }

// periods are ranges of time in order, none of which touches another.
type periods []span

// merge puts ranges in order and joins those that touch.
func merge(all []span) periods {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var p periods
	for _, s := range all {
		if n := len(p); n > 0 && s.from <= p[n-1].to {
			p[n-1].to = max(p[n-1].to, s.to)
			continue
		}
		p = append(p, s)
	}
	return p
}

// within is how much of a range the periods cover.
func (p periods) within(from, to int64) int64 {
	var sum int64
	for i := sort.Search(len(p), func(i int) bool { return p[i].to > from }); i < len(p) && p[i].from < to; i++ {
		sum += min(p[i].to, to) - max(p[i].from, from)
	}
	return sum
}

// longestGap is the longest range between two periods.
func (p periods) longestGap() (longest int64) {
	for i := 1; i < len(p); i++ {
		longest = max(longest, p[i].from-p[i-1].to)
	}
	return longest
}

// end is when the last period ended, 0 if there is none.
func (p periods) end() int64 {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].to
}

// shortestGap is the shortest time without observation that counts as a gap.
const shortestGap = time.Second

// Coverage is when each key was observed, within a range of time.
type Coverage struct {
	r      Range
	groups []coverGroup
	merged map[string]periods
}

// coverGroup are the observations with the same patterns.
type coverGroup struct {
	datacenter, patterns string
	spans                []span
}

// NewCoverage cuts observations to a range of time. One that lasts ends with its
// latest heartbeat.
func NewCoverage(all []Observation, r Range) *Coverage {
	c := &Coverage{r: r, merged: map[string]periods{}}
	for _, o := range all {
		s := span{max(nanos(o.From), r.since()), min(nanos(o.To), r.until())}
		patterns := strings.Join(o.Patterns, "\n")
		i := slices.IndexFunc(c.groups, func(g coverGroup) bool { return g.datacenter == o.Datacenter && g.patterns == patterns })
		if i < 0 {
			i = len(c.groups)
			c.groups = append(c.groups, coverGroup{datacenter: o.Datacenter, patterns: patterns})
		}
		c.groups[i].spans = append(c.groups[i].spans, s)
	}
	return c
}

// Gaps lists the times in which no observer was running, oldest first. The range
// must have an end; without a beginning, it begins with the first observation.
func (c *Coverage) Gaps() []Range { return c.gaps(c.any()) }

// GapsOf lists the times in which no observer watched a key. An empty datacenter
// means any.
func (c *Coverage) GapsOf(datacenter, key string) []Range { return c.gaps(c.of(datacenter, key)) }

// Until is the end of the latest observation of a key, zero if there is none.
func (c *Coverage) Until(datacenter, key string) time.Time {
	return moment(c.of(datacenter, key).end())
}

func (c *Coverage) gaps(observed periods) []Range {
	from := c.r.since()
	if c.r.Since.IsZero() && len(observed) > 0 {
		from = observed[0].from
	}
	var gaps []Range
	add := func(from, to int64, least time.Duration) {
		if to > from && duration(to-from) >= least {
			gaps = append(gaps, Range{Since: moment(from), Until: moment(to)})
		}
	}
	for _, s := range observed {
		add(from, s.from, shortestGap)
		from = s.to
	}
	if len(observed) > 0 || !c.r.Since.IsZero() {
		add(from, c.r.until(), aliveWithin) // the latest heartbeat may be that old
	}
	return gaps
}

// of gives the periods in which a key was observed.
func (c *Coverage) of(datacenter, key string) periods {
	mark := make([]byte, len(c.groups))
	for i, g := range c.groups {
		if (datacenter == "" || g.datacenter == datacenter) && covers(g.patterns, key) {
			mark[i] = 1
		}
	}
	p, known := c.merged[string(mark)]
	if !known {
		var all []span
		for i, g := range c.groups {
			if mark[i] == 1 {
				all = append(all, g.spans...)
			}
		}
		p = merge(all)
		c.merged[string(mark)] = p
	}
	return p
}

// any gives the periods in which something was observed.
func (c *Coverage) any() periods {
	var all []span
	for _, g := range c.groups {
		all = append(all, g.spans...)
	}
	return merge(all)
}
