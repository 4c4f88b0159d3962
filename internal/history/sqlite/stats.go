package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite/internal/dbfile"
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
	st.Observed, st.LongestGap = all.Observed(), all.LongestGap()
	elections, err := f.summaries(ctx, q, cover)
	if err != nil {
		return st, err
	}
	if err := f.addTerms(ctx, q, elections); err != nil {
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
}

// summaries returns the elections, with the time for which each was observed.
func (f *File) summaries(ctx context.Context, q history.Filter, cover *history.Coverage) (map[int64]*summing, error) {
	var w where
	if err := w.elections(ctx, f, "e.id", q.Names); err != nil {
		return nil, err
	}
	w.add("e.key <> ''")
	w.add(`(EXISTS (SELECT 1 FROM terms WHERE election = e.id)
		OR NOT EXISTS (SELECT 1 FROM events WHERE election = e.id AND type IN ` + dbfile.StateTypes + ` AND type IN ('entered', 'left')))`)
	//nolint:gosec // the conditions contain no user input
	rows, err := f.db.QueryContext(ctx, `SELECT e.id, e.name, e.key, e.datacenter,
		ifnull((SELECT time FROM events WHERE election = e.id ORDER BY time LIMIT 1), 0),
		ifnull((SELECT started FROM terms WHERE election = e.id ORDER BY started LIMIT 1), 0)
		FROM elections e`+w.String(), w.args...)
	if err != nil {
		return nil, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	found := map[int64]*summing{}
	for rows.Next() {
		var id, event, term int64
		s := &summing{Summary: history.Summary{Causes: map[election.Cause]int{}}}
		if err := rows.Scan(&id, &s.Election, &s.Key, &s.Datacenter, &event, &term); err != nil {
			return nil, dbfile.Wrap(f.path, err)
		}
		if s.firstSeen = history.Moment(event); term != 0 && term < event {
			s.firstSeen = history.Moment(term)
		}
		s.observed = cover.Of(s.Datacenter, s.Key)
		s.lastSeen = s.observed.End()
		s.Observed = s.observed.Within(s.firstSeen, s.lastSeen)
		found[id] = s
	}
	return found, dbfile.Wrap(f.path, rows.Err())
}

// addTerms adds the terms that overlap the range.
func (f *File) addTerms(ctx context.Context, q history.Filter, elections map[int64]*summing) error {
	var w where
	if err := w.elections(ctx, f, "election", q.Names); err != nil {
		return err
	}
	if !q.Since.IsZero() {
		w.add("(ended IS NULL OR ended >= ?)", since(q.Range))
	}
	if !q.Until.IsZero() {
		w.add("started <= ?", until(q.Range))
	}
	//nolint:gosec // the conditions contain no user input
	rows, err := f.db.QueryContext(ctx, "SELECT election, started, ended, ifnull(seen_until, ended), vacancy, cause FROM terms"+w.String(), w.args...)
	if err != nil {
		return dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	var id, started int64
	var ended, seen, vacancy sql.NullInt64
	var cause sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id, &started, &ended, &seen, &vacancy, &cause); err != nil {
			return dbfile.Wrap(f.path, err)
		}
		s := elections[id]
		if s == nil {
			continue
		}
		to := history.Moment(seen.Int64)
		if !ended.Valid {
			to = s.lastSeen
		}
		s.term(history.Moment(started), to)
		if ended.Valid && (q.Until.IsZero() || ended.Int64 <= until(q.Range)) {
			s.end(cause, vacancy)
		}
	}
	return dbfile.Wrap(f.path, rows.Err())
}

func (s *summing) term(from, to time.Time) {
	s.Terms++
	held := max(0, to.Sub(from))
	s.total += held
	s.Longest = max(s.Longest, held)
	if from.Before(s.firstSeen) {
		from = s.firstSeen
	}
	s.Led += s.observed.Within(from, to)
}

func (s *summing) end(cause []byte, vacancy sql.NullInt64) {
	if c := election.Cause(cause); c != "" {
		s.Causes[c]++
	} else {
		s.Causes[election.Unknown]++
	}
	if vacancy.Valid {
		s.vacancies = append(s.vacancies, vacancy.Int64)
	}
}

func (f *File) addMissed(ctx context.Context, q history.Filter, elections map[int64]*summing) error {
	rows, err := f.db.QueryContext(ctx, "SELECT election, count FROM events WHERE type = 'missed' AND time >= ? AND time <= ?", since(q.Range), until(q.Range))
	if err != nil {
		return dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, count int64
		if err := rows.Scan(&id, &count); err != nil {
			return dbfile.Wrap(f.path, err)
		}
		if s := elections[id]; s != nil {
			s.Missed += unsigned(count)
		}
	}
	return dbfile.Wrap(f.path, rows.Err())
}

// add adds another unfinished summary.
func (s *summing) add(o *summing) {
	s.Terms += o.Terms
	s.Missed += o.Missed
	s.total += o.total
	s.Longest = max(s.Longest, o.Longest)
	s.Observed += o.Observed
	s.Led += o.Led
	s.vacancies = append(s.vacancies, o.vacancies...)
	for cause, n := range o.Causes {
		s.Causes[cause] += n
	}
}

// finish computes the values that depend on all terms.
func (s *summing) finish() {
	if s.Terms > 0 {
		s.Mean = s.total / time.Duration(s.Terms)
	}
	s.Led = min(s.Led, s.Observed) // the sum is greater than Observed if terms overlap because the clock was set back
	if s.Vacancies = len(s.vacancies); s.Vacancies > 0 {
		slices.Sort(s.vacancies)
		s.VacancyP50, s.VacancyP95 = percentile(s.vacancies, 50), percentile(s.vacancies, 95)
		s.VacancyMax = duration(s.vacancies[s.Vacancies-1])
	}
	s.vacancies, s.observed = nil, nil
}

// percentile returns the smallest value that is greater than or equal to p percent of the values.
func percentile(sorted []int64, p int) time.Duration {
	return duration(sorted[max(0, (len(sorted)*p+99)/100-1)])
}
