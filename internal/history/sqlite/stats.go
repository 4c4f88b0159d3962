package sqlite

import (
	"cmp"
	"context"
	"database/sql"
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
	cover := history.NewCoverage(observations, q.Range)
	all := cover.Any()
	st.Observed, st.LongestGap = history.Seconds(all.Observed()), history.Seconds(all.LongestGap())
	ids, err := f.electionIDs(ctx, q)
	if err != nil {
		return st, err
	}
	only := ""
	if len(ids) > 0 {
		only = " AND e.id IN (" + joined(ids) + ")"
	}
	elections, err := f.summaries(ctx, q, only, cover)
	if err != nil {
		return st, err
	}
	if err := f.sumTerms(ctx, q, only, elections); err != nil {
		return st, err
	}
	if err := f.addMissed(ctx, q, elections); err != nil {
		return st, err
	}
	total := summing{Summary: history.Summary{Causes: map[election.Cause]int{}}}
	for _, s := range elections {
		total.add(s)
		s.finish()
		st.Elections = append(st.Elections, s.Summary)
	}
	total.finish()
	st.Total = total.Summary
	slices.SortFunc(st.Elections, func(a, b history.Summary) int { return cmp.Compare(a.Key, b.Key) })
	return st, nil
}

// summing is an unfinished summary.
type summing struct {
	history.Summary
	total               time.Duration
	vacancies           []int64
	firstSeen, lastSeen time.Time
	observed            history.Periods
	// known is the time between firstSeen and lastSeen, and led is the part of it in terms.
	known, led time.Duration
}

// summaries returns the elections, with the time for which each was observed.
func (f *File) summaries(ctx context.Context, q history.Filter, only string, cover *history.Coverage) (map[int64]*summing, error) {
	found := map[int64]*summing{}
	scan := func(rows *sql.Rows) (none struct{}, err error) {
		var id, first int64
		s := &summing{Summary: history.Summary{Causes: map[election.Cause]int{}}}
		err = rows.Scan(&id, &s.Election, &s.Key, &s.Datacenter, &first)
		s.firstSeen, s.observed = moment(first), cover.Of(s.Datacenter, s.Key)
		if q.Since.After(s.firstSeen) {
			s.firstSeen = q.Since
		}
		s.lastSeen = s.observed.End()
		s.Observed = history.Seconds(s.observed.Within(s.firstSeen, s.lastSeen))
		end := s.lastSeen
		if !q.Until.IsZero() && q.Until.Sub(end) >= history.AliveWithin {
			end = q.Until // nothing is known about the time after the last observation
		}
		s.known = max(0, end.Sub(s.firstSeen))
		found[id] = s
		return none, err
	}
	_, err := list(ctx, f.reading, scan, `SELECT e.id, e.name, e.key, e.datacenter, e.found
		FROM elections e WHERE e.key <> '' AND (EXISTS (SELECT 1 FROM terms WHERE election = e.id)
		OR NOT EXISTS (SELECT 1 FROM events WHERE election = e.id AND type IN ('entered', 'left')))`+only)
	return found, err
}

// sumTerms adds the terms that overlap the range.
func (f *File) sumTerms(ctx context.Context, q history.Filter, only string, elections map[int64]*summing) error {
	var id, started int64
	var ended, seen, vacancy sql.NullInt64
	var cause sql.RawBytes
	scan := func(rows *sql.Rows) (none struct{}, err error) {
		err = rows.Scan(&id, &started, &ended, &seen, &vacancy, &cause)
		s := elections[id]
		if err != nil || s == nil {
			return none, err
		}
		to := moment(seen.Int64)
		if !ended.Valid {
			to = s.lastSeen
		}
		s.term(moment(started), to)
		if ended.Valid && (q.Until.IsZero() || ended.Int64 <= until(q.Range)) {
			s.end(cause, vacancy)
		}
		return none, nil
	}
	_, err := list(ctx, f.reading, scan, `SELECT t.election, t.started, t.ended, ifnull(t.seen_until, t.ended), t.vacancy, t.cause
		FROM elections e CROSS JOIN terms t INDEXED BY terms_by_election ON t.election = e.id
		WHERE t.started <= ? AND (t.ended IS NULL OR t.ended >= ?)`+only, until(q.Range), since(q.Range))
	return err
}

func (s *summing) term(from, to time.Time) {
	s.Terms++
	held := max(0, to.Sub(from))
	s.total += held
	s.Longest = max(s.Longest, history.Seconds(held))
	if from.Before(s.firstSeen) {
		from = s.firstSeen
	}
	s.Led += history.Seconds(s.observed.Within(from, to))
	s.led += max(0, to.Sub(from))
}

func (s *summing) end(cause []byte, vacancy sql.NullInt64) {
	if c := election.Cause(cause); c != "" {
		s.Causes[c]++
	} else {
		s.Causes[election.Unknown]++
	}
	if vacancy.Valid {
		s.vacancies = append(s.vacancies, vacancy.Int64)
	} else {
		s.Unmeasured++
	}
}

func (f *File) addMissed(ctx context.Context, q history.Filter, elections map[int64]*summing) error {
	scan := func(rows *sql.Rows) (none struct{}, err error) {
		var id, count int64
		if err = rows.Scan(&id, &count); elections[id] != nil {
			elections[id].Missed += unsigned(count)
		}
		return none, err
	}
	_, err := list(ctx, f.reading, scan, "SELECT election, count FROM events WHERE type = 'missed' AND time >= ? AND time <= ?", since(q.Range), until(q.Range))
	return err
}

// add adds another unfinished summary.
func (s *summing) add(o *summing) {
	s.Terms += o.Terms
	s.Missed += o.Missed
	s.total += o.total
	s.Longest = max(s.Longest, o.Longest)
	s.Observed += o.Observed
	s.Led += o.Led
	s.known += o.known
	s.led += o.led
	s.vacancies = append(s.vacancies, o.vacancies...)
	s.Unmeasured += o.Unmeasured
	for cause, n := range o.Causes {
		s.Causes[cause] += n
	}
}

// finish computes the values that depend on all terms.
func (s *summing) finish() {
	if s.Terms > 0 {
		s.Mean = history.Seconds(s.total / time.Duration(s.Terms))
	}
	s.Led = min(s.Led, s.Observed) // the sum is greater than Observed if terms overlap because the clock was set back
	if s.Vacancies = len(s.vacancies); s.Vacancies > 0 {
		slices.Sort(s.vacancies)
		s.VacancyP50, s.VacancyP95 = percentile(s.vacancies, 50), percentile(s.vacancies, 95)
		s.VacancyMax = history.Seconds(s.vacancies[s.Vacancies-1])
	}
	if s.Observed > 0 {
		s.AvailabilityMin = new(min(1, float64(s.led)/float64(s.known)))
		s.AvailabilityMax = new(max(*s.AvailabilityMin, 1-float64(s.Observed-s.Led)/float64(s.known)))
	}
	s.vacancies, s.observed = nil, nil
}

// percentile returns the smallest value that is greater than or equal to p percent of the values.
func percentile(sorted []int64, p int) history.Seconds {
	return history.Seconds(sorted[max(0, (len(sorted)*p+99)/100-1)])
}
