package history

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"electop/election"
	"electop/internal/history/internal/dbfile"
)

// Summary sums up the terms and vacancies of one election or of several.
type Summary struct {
	Election, Key, Datacenter string
	// Terms counts the terms that overlap the range, Missed those that passed
	// without being observed, as LockIndex tells.
	Terms  int
	Missed uint64
	// Mean and Longest are of whole terms, of those that were not observed from
	// end to end the part that was.
	Mean, Longest time.Duration
	// Observed is for how long the election was observed, Led for how long of that
	// it had a leader. For several elections both are sums.
	Observed, Led time.Duration
	// Vacancies counts those with an observed beginning and end; the others say how
	// long they were.
	Vacancies           int
	VacancyP50          time.Duration
	VacancyP95          time.Duration
	VacancyMax          time.Duration
	Causes              map[election.Cause]int
	total               time.Duration
	vacancies           []int64
	firstSeen, lastSeen int64
	observed            periods
}

// Availability is the share of the observed time with a leader; !ok if nothing was observed.
func (s *Summary) Availability() (share float64, ok bool) {
	if s.Observed <= 0 {
		return 0, false
	}
	return float64(s.Led) / float64(s.Observed), true
}

// Stats are the summaries of the elections of a range of time, by key.
type Stats struct {
	Range
	// Total sums up all elections.
	Total     Summary
	Elections []Summary
	// Observed is for how long anything was observed, LongestGap the longest time
	// between two periods of observation.
	Observed   time.Duration
	LongestGap time.Duration
}

// Stats sums up the terms and vacancies that overlap a range of time. Semaphores
// have no terms and are left out.
func (f *File) Stats(ctx context.Context, q Filter) (Stats, error) {
	st := Stats{Range: q.Range}
	observations, err := f.Observations(ctx, q.Range)
	if err != nil {
		return st, err
	}
	cover := NewCoverage(observations, q.Range)
	all := cover.any()
	if st.LongestGap = duration(all.longestGap()); len(all) > 0 {
		st.Observed = duration(all.within(all[0].from, all.end()))
	}
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
	st.Total.Causes = map[election.Cause]int{}
	for _, s := range elections {
		st.Total.add(s)
		s.finish()
		st.Elections = append(st.Elections, *s)
	}
	st.Total.finish()
	slices.SortFunc(st.Elections, func(a, b Summary) int { return cmp.Compare(a.Key, b.Key) })
	return st, nil
}

// summaries finds the elections, and for how long each was observed.
func (f *File) summaries(ctx context.Context, q Filter, cover *Coverage) (map[int64]*Summary, error) {
	var w where
	if err := w.elections(ctx, f, "e.id", q.Names); err != nil {
		return nil, err
	}
	w.add("e.key <> ''")
	w.add(`(EXISTS (SELECT 1 FROM terms WHERE election = e.id)
		OR NOT EXISTS (SELECT 1 FROM events WHERE election = e.id AND type IN ` + dbfile.StateTypes + ` AND type IN ('entered', 'left')))`)
	//nolint:gosec // the conditions hold no text of users
	rows, err := f.db.QueryContext(ctx, `SELECT e.id, e.name, e.key, e.datacenter,
		ifnull((SELECT time FROM events WHERE election = e.id ORDER BY time LIMIT 1), 0),
		ifnull((SELECT started FROM terms WHERE election = e.id ORDER BY started LIMIT 1), 0)
		FROM elections e`+w.String(), w.args...)
	if err != nil {
		return nil, dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	found := map[int64]*Summary{}
	for rows.Next() {
		var id, event, term int64
		s := &Summary{Causes: map[election.Cause]int{}}
		if err := rows.Scan(&id, &s.Election, &s.Key, &s.Datacenter, &event, &term); err != nil {
			return nil, dbfile.Wrap(f.path, err)
		}
		if s.firstSeen = event; term != 0 && term < event {
			s.firstSeen = term
		}
		s.observed = cover.of(s.Datacenter, s.Key)
		s.lastSeen = s.observed.end()
		s.Observed = duration(s.observed.within(s.firstSeen, s.lastSeen))
		found[id] = s
	}
	return found, dbfile.Wrap(f.path, rows.Err())
}

// addTerms adds up the terms that overlap the range.
func (f *File) addTerms(ctx context.Context, q Filter, elections map[int64]*Summary) error {
	var w where
	if err := w.elections(ctx, f, "election", q.Names); err != nil {
		return err
	}
	if !q.Since.IsZero() {
		w.add("(ended IS NULL OR ended >= ?)", q.since())
	}
	if !q.Until.IsZero() {
		w.add("started <= ?", q.until())
	}
	//nolint:gosec // the conditions hold no text of users
	rows, err := f.db.QueryContext(ctx, "SELECT election, started, ended, ifnull(seen_until, ended), vacancy, cause FROM terms"+w.String(), w.args...)
	if err != nil {
		return dbfile.Wrap(f.path, err)
	}
	defer rows.Close()
	var id, started int64
	var ended, until, vacancy sql.NullInt64
	var cause sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&id, &started, &ended, &until, &vacancy, &cause); err != nil {
			return dbfile.Wrap(f.path, err)
		}
		s := elections[id]
		if s == nil {
			continue
		}
		to := until.Int64
		if !ended.Valid {
			to = max(started, s.lastSeen)
		}
		s.term(started, to)
		if ended.Valid && (q.Until.IsZero() || ended.Int64 <= q.until()) {
			s.end(cause, vacancy)
		}
	}
	return dbfile.Wrap(f.path, rows.Err())
}

func (s *Summary) term(from, to int64) {
	s.Terms++
	held := duration(max(0, to-from))
	s.total += held
	s.Longest = max(s.Longest, held)
	s.Led += duration(s.observed.within(max(from, s.firstSeen), to))
}

func (s *Summary) end(cause []byte, vacancy sql.NullInt64) {
	if c := election.Cause(cause); c != "" {
		s.Causes[c]++
	} else {
		s.Causes[election.Unknown]++
	}
	if vacancy.Valid {
		s.vacancies = append(s.vacancies, vacancy.Int64)
	}
}

func (f *File) addMissed(ctx context.Context, q Filter, elections map[int64]*Summary) error {
	rows, err := f.db.QueryContext(ctx, "SELECT election, count FROM events WHERE type = 'missed' AND time >= ? AND time <= ?", q.since(), q.until())
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

// add adds another election that is not finished.
func (s *Summary) add(o *Summary) {
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

// finish computes what needs all terms.
func (s *Summary) finish() {
	if s.Terms > 0 {
		s.Mean = s.total / time.Duration(s.Terms)
	}
	s.Led = min(s.Led, s.Observed) // terms of a clock that was set back overlap
	if s.Vacancies = len(s.vacancies); s.Vacancies > 0 {
		slices.Sort(s.vacancies)
		s.VacancyP50, s.VacancyP95 = percentile(s.vacancies, 50), percentile(s.vacancies, 95)
		s.VacancyMax = duration(s.vacancies[s.Vacancies-1])
	}
	s.vacancies, s.observed = nil, nil
}

// percentile is the smallest value that p percent of the values do not exceed.
func percentile(sorted []int64, p int) time.Duration {
	return duration(sorted[max(0, (len(sorted)*p+99)/100-1)])
}
