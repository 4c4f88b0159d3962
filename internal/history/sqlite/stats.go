package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
)

// Stats returns statistics of the terms and vacancies that overlap a time range. It omits semaphores, because they
// have no terms.
func (f *File) Stats(ctx context.Context, q history.Filter) (history.Stats, error) {
	st := history.Stats{Range: q.Range}
	observations, err := f.Observations(ctx, q.Range)
	if err != nil {
		return st, err
	}
	cover := history.NewCoverage(observations, q)
	all := cover.Any()
	st.Observed, st.LongestGap = history.Seconds(all.Within(time.Time{}, all.End())), history.Seconds(all.LongestGap())
	ids, only, err := f.scope(ctx, q)
	if err != nil {
		return st, err
	}
	total := &summing{Summary: history.Summary{Causes: map[election.Cause]int{}}}
	elections, err := f.summaries(ctx, q, only, cover, total)
	if err == nil {
		err = f.sumTerms(ctx, q, ids, only, elections, total)
	}
	st.Elections, st.Total = election.Map(elections, (*summing).finish), total.finish()
	return st, err
}

// summing is an unfinished summary.
type summing struct {
	history.Summary
	id        int64
	vacancies []history.Seconds
	lastSeen  time.Time
	observed  history.Periods
	// held is the sum of the terms. known is the time between FirstSeen and lastSeen, and led is the part of it in terms,
	// until the last sign of life.
	held       history.Seconds
	known, led float64
	unsure     bool // the last sign of life of a leader is unknown
}

// summaries returns the elections in the order of their keys, with the time for which each was observed.
func (f *File) summaries(ctx context.Context, q history.Filter, only string, cover *history.Coverage, total *summing) (found []*summing, err error) {
	var row summing
	var led bool // ever: an election that no leader ever led is idle, and no outage
	err = f.each(ctx, []any{&row.id, &row.Election, &row.Key, &row.Datacenter, (*nano)(&row.FirstSeen), &row.Missed, &led}, func() {
		s := new(row)
		s.Causes, s.observed = map[election.Cause]int{}, cover.Of(s.Datacenter, s.Key)
		s.lastSeen = s.observed.End()
		s.Observed = history.Seconds(s.observed.Within(s.FirstSeen, s.lastSeen))
		end := s.lastSeen
		if q.Until.Sub(end) >= history.AliveWithin {
			end = q.Until // nothing is known about the time after the last observation
		}
		if led {
			s.known = float64(max(0, end.Sub(s.FirstSeen)))
			total.known += s.known
			total.Observed += s.Observed
		}
		total.Missed += s.Missed
		found = append(found, s)
	}, `WITH missed AS (SELECT election, sum(count) AS n FROM events WHERE type = (SELECT id FROM types WHERE name = 'missed') AND time BETWEEN ?1 AND ?2 GROUP BY election)
		SELECT e.id, e.name, e.key, e.datacenter, max(e.found, ?1), ifnull(m.n, 0), e.term IS NOT NULL FROM elections e LEFT JOIN missed m ON m.election = e.id
		WHERE e.key <> '' AND (e.deleted IS NULL OR e.deleted >= ?1) AND (e.term IS NOT NULL OR NOT EXISTS (SELECT 1 FROM events WHERE election = e.id AND type IN (SELECT id FROM types WHERE name IN ('entered', 'left')))) AND `+only+" ORDER BY e.key, e.datacenter",
		since(q.Range), until(q.Range))
	return found, err
}

// sumTerms adds the terms that ended in the range, and of each election the one that lasted until the end of the range.
func (f *File) sumTerms(ctx context.Context, q history.Filter, ids []int64, only string, elections []*summing, total *summing) error {
	byID := map[int64]*summing{}
	for _, s := range elections {
		byID[s.id] = s
	}
	index, some := "terms_by_end", "true"
	if ids != nil {
		index, some = "terms_by_election", in("election", ids)
	}
	var id int64
	var from, to, sure time.Time // sure is the last sign of life
	var vacancy *history.Seconds
	var over bool // in the range
	var cause election.Cause
	return f.each(ctx, []any{&id, (*nano)(&from), &over, (*nano)(&to), (*nano)(&sure), &vacancy, &cause}, func() {
		s := byID[id]
		if s == nil {
			return
		}
		if to.IsZero() {
			to, sure = s.lastSeen, s.lastSeen
		}
		held := history.Seconds(max(0, to.Sub(from)))
		from = election.Later(from, s.FirstSeen)
		observed := history.Seconds(s.observed.Within(from, to))
		for _, x := range []*summing{s, total} {
			x.Terms++
			x.held += held
			x.Longest = max(x.Longest, held)
			x.Led += observed
			x.led += float64(max(0, sure.Sub(from)))
			x.unsure = x.unsure || sure.IsZero()
			if !over {
				continue
			}
			if x.Causes[cause]++; vacancy != nil {
				x.vacancies = append(x.vacancies, *vacancy)
			} else {
				x.Unmeasured++
			}
		}
	}, fmt.Sprintf(`WITH some AS (SELECT id, term FROM elections e WHERE (deleted IS NULL OR deleted >= ?1) AND %s),
		lasting AS (SELECT term AS id, false AS over FROM some
			UNION SELECT (SELECT id FROM terms WHERE election = e.id AND started <= ?2 ORDER BY started DESC, id DESC LIMIT 1), false FROM some e),
		overlapping AS (SELECT * FROM lasting UNION ALL SELECT id, true FROM terms INDEXED BY %s WHERE ended BETWEEN ?1 AND ?2 AND %s)
		SELECT t.election, t.started, o.over, coalesce(t.seen_until, t.ended, 0), min(ifnull(t.alive_until, 0), ?2), t.vacancy, ifnull(t.cause, 'unknown')
		FROM overlapping o CROSS JOIN terms t ON t.id = o.id
		WHERE o.over OR t.started <= ?2 AND (t.ended IS NULL OR t.ended > ?2)`, only, index, some), since(q.Range), until(q.Range))
}

// finish computes the values that depend on all terms.
func (s *summing) finish() history.Summary {
	s.Mean = history.Seconds(math.Trunc(float64(s.held) / float64(max(1, s.Terms)))) // a whole number of nanoseconds, as in JSON
	s.Led = min(s.Led, s.Observed)                                                   // the sum is greater than Observed if terms overlap because the clock was set back
	if s.Vacancies = len(s.vacancies); s.Vacancies > 0 {
		slices.Sort(s.vacancies)
		s.VacancyP50, s.VacancyP95, s.VacancyMax = percentile(s.vacancies, 50), percentile(s.vacancies, 95), percentile(s.vacancies, 100)
	}
	if s.Observed > 0 && s.known > 0 {
		least := min(1, s.led/s.known)
		if s.AvailabilityMax = new(max(least, 1-float64(s.Observed-s.Led)/s.known)); !s.unsure {
			s.AvailabilityMin = &least
		}
	}
	return s.Summary
}

// percentile returns the smallest value that is greater than or equal to p percent of the values.
func percentile(sorted []history.Seconds, p int) history.Seconds {
	return sorted[(len(sorted)*p+99)/100-1]
}
