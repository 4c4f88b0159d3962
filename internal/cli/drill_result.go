package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// drillSummary contains the measurements of a drill.
type drillSummary struct {
	measured      int
	p50, p95, max time.Duration
	winners       []winner
	histogram     []bucket
}

// winner is a leader and the number of failovers after which this leader led.
type winner struct {
	Leader string `json:"leader"`
	Count  int    `json:"count"`
}

// bucket counts the vacancies that are longer than the bound of the previous bucket, but not longer than upTo. upTo is
// 0 in the bucket without a bound.
type bucket struct {
	upTo  time.Duration
	count int
}

// bucketBounds returns the upper bounds of the histogram.
func bucketBounds() []time.Duration {
	var all []time.Duration
	for decade := time.Millisecond; decade <= 10*time.Second; decade *= 10 {
		all = append(all, decade, 2*decade, 5*decade)
	}
	return all
}

// summarize computes the statistics of the failovers. A failover whose vacancy is unknown counts only for its new
// leader.
func summarize(failovers []insight.Outcome) drillSummary {
	var s drillSummary
	var vacancies []time.Duration
	for _, o := range failovers {
		if o.VacancyKnown {
			vacancies = append(vacancies, o.Vacancy)
		}
		if o.New.Session != "" {
			s.addWinner(o.New.Leader)
		}
	}
	slices.SortStableFunc(s.winners, func(a, b winner) int { return cmp.Compare(b.Count, a.Count) })
	if s.measured = len(vacancies); s.measured == 0 {
		return s
	}
	slices.Sort(vacancies)
	// nearestRank returns the smallest value v such that at least p percent of the values are at most v.
	nearestRank := func(p int) time.Duration { return vacancies[(len(vacancies)*p+99)/100-1] }
	s.p50, s.p95, s.max = nearestRank(50), nearestRank(95), nearestRank(100)
	s.histogram = histogram(vacancies)
	return s
}

func (s *drillSummary) addWinner(leader string) {
	i := slices.IndexFunc(s.winners, func(w winner) bool { return w.Leader == leader })
	if i < 0 {
		s.winners = append(s.winners, winner{leader, 1})
		return
	}
	s.winners[i].Count++
}

// histogram returns the buckets. It omits empty buckets at both ends.
func histogram(sorted []time.Duration) []bucket {
	bounds := bucketBounds()
	all := make([]bucket, len(bounds)+1)
	for i, bound := range bounds {
		all[i].upTo = bound
	}
	first, last := len(bounds), 0
	for _, d := range sorted {
		i, _ := slices.BinarySearch(bounds, d)
		all[i].count++
		first, last = min(first, i), max(last, i)
	}
	return all[first : last+1]
}

func (r *drill) writeResult() error {
	if r.output == "json" {
		return r.writeJSON()
	}
	return r.writeText()
}

type bucketJSON struct {
	UpToMS *int64 `json:"up_to_ms"` // null for the bucket without a bound
	Count  int    `json:"count"`
}

type drillJSON struct {
	Election   string            `json:"election"`
	Key        string            `json:"key"`
	Datacenter string            `json:"datacenter"`
	Times      int               `json:"times"`
	Result     string            `json:"result"`
	Reason     string            `json:"reason,omitempty"`
	Failovers  []insight.Outcome `json:"failovers"`
	P50MS      *int64            `json:"p50_ms,omitempty"`
	P95MS      *int64            `json:"p95_ms,omitempty"`
	MaxMS      *int64            `json:"max_ms,omitempty"`
	Winners    []winner          `json:"winners"`
	Histogram  []bucketJSON      `json:"histogram"`
}

func (r *drill) writeJSON() error {
	t, s := r.items[0].target(), summarize(r.failovers)
	j := drillJSON{
		Election: t.Election, Key: t.Key, Datacenter: r.snapshot.Datacenter, Times: r.times, Result: "done", Reason: r.problem,
		Failovers: append([]insight.Outcome{}, r.failovers...), Winners: append([]winner{}, s.winners...), Histogram: []bucketJSON{},
	}
	if r.problem != "" {
		j.Result = "stopped"
	}
	if s.measured > 0 {
		p50, p95, most := s.p50.Milliseconds(), s.p95.Milliseconds(), s.max.Milliseconds()
		j.P50MS, j.P95MS, j.MaxMS = &p50, &p95, &most
	}
	for _, b := range s.histogram {
		counted := bucketJSON{Count: b.count}
		if ms := b.upTo.Milliseconds(); ms > 0 {
			counted.UpToMS = &ms
		}
		j.Histogram = append(j.Histogram, counted)
	}
	return output.WriteIndented(r.d.stdout, j)
}

func (r *drill) writeText() error {
	if len(r.failovers) > 0 {
		if _, err := io.WriteString(r.d.stdout, r.summaryText()); err != nil {
			return err
		}
	}
	if r.problem == "" {
		return nil
	}
	r.printMessage(fmt.Sprintf("electop: drill of %s stopped after %d of %d: %s",
		r.items[0].name(), len(r.failovers), r.times, sanitize.Line(r.problem, 1000)))
	if better := r.items[0].effect.Better; len(r.failovers) == 0 && better != "" {
		fmt.Fprintln(r.d.stderr, "  instead   "+better)
	}
	return nil
}

// barWidth is the length of the longest bar of the histogram.
const barWidth = 40

func (r *drill) summaryText() string {
	var b strings.Builder
	s := summarize(r.failovers)
	fmt.Fprintf(&b, "%s: %s measured", r.items[0].name(), election.Plural(uint64(s.measured), "failover")) //nolint:gosec // not negative
	if s.measured > 0 {
		fmt.Fprintf(&b, "; vacancy p50 %s, p95 %s, max %s", election.FormatDuration(s.p50), election.FormatDuration(s.p95), election.FormatDuration(s.max))
	}
	b.WriteString("\n")
	for _, w := range s.winners {
		fmt.Fprintf(&b, "  won    %4d  %s\n", w.Count, election.ShortLeader(w.Leader))
	}
	writeBars(&b, s.histogram, r.o.ascii)
	return b.String()
}

func writeBars(w io.Writer, rows []bucket, ascii bool) {
	mark, upTo, most := "█", "≤ ", 0
	if ascii {
		mark, upTo = "#", "<= "
	}
	for _, row := range rows {
		most = max(most, row.count)
	}
	for _, row := range rows {
		label := upTo + row.upTo.String()
		if row.upTo == 0 {
			label = "longer"
		}
		line := fmt.Sprintf("  %-8s %3d  %s", label, row.count, strings.Repeat(mark, (row.count*barWidth+most-1)/most))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
