package observe

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/tracker"
)

// Once reads every election of the patterns once, with the sessions of the leaders. It omits sessions that the token
// may not read. Any other failure is returned as an error.
func Once(ctx context.Context, c *consulx.Client, ps election.Patterns) (*election.Snapshot, error) {
	return OnceAfter(ctx, c, ps, election.HistoryRead{})
}

// OnceAfter is like Once, but adds the elections of a history. It includes elections whose key no longer exists.
func OnceAfter(ctx context.Context, c *consulx.Client, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error) {
	watches := planWatches(ps, c.KeyQueries())
	reads := make([]election.KeysRead, len(watches))
	var info consulx.Info
	start := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(consulx.Parallel)
	g.Go(func() (err error) {
		info, err = c.Info(gctx)
		if err == nil && info.ConsensusLeader == "" && !c.Stale() {
			err = consulx.NoQuorum() // without a consensus leader, the other reads would time out
		}
		return err
	})
	for i, w := range watches {
		g.Go(func() (err error) {
			reads[i], err = readOnce(gctx, c, w, ps)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	took := time.Since(start)
	sessions, err := readHolders(ctx, c, reads)
	if err != nil {
		return nil, err
	}
	t := tracker.New(tracker.Options{Patterns: ps})
	t.Observe(election.DatacenterRead{At: time.Now(), Datacenter: info.Datacenter})
	if len(past.Elections) > 0 {
		t.Observe(past)
	}
	s := foldLook(t, reads, sessions, took)
	if !slices.ContainsFunc(s.Elections, (*election.Election).FoundVacant) {
		return s, nil
	}
	if sessions, err = c.AllSessions(c.Read(ctx)); err == nil { // otherwise, no election is reported as idle
		t.Observe(election.NoCandidates{At: time.Now(), Elections: insight.WithoutCandidates(s.Elections, sessions)})
		s = t.Snapshot(time.Now())
	}
	return s, nil
}

// readHolders reads the sessions that hold the keys.
func readHolders(ctx context.Context, c *consulx.Client, reads []election.KeysRead) ([]*election.Session, error) {
	var ids []string
	for _, read := range reads {
		ids = appendHolders(ids, read.Pairs)
	}
	slices.Sort(ids)
	sessions, _, err := c.SessionsByID(ctx, slices.Compact(ids))
	return sessions, err
}

// readOnce reads the keys of one shard.
func readOnce(ctx context.Context, c *consulx.Client, w watch, ps election.Patterns) (election.KeysRead, error) {
	got, meta, err := readKeys(c.Blocking(), w, ps, consulx.PairList{}, c.Read(ctx))
	if err != nil {
		return election.KeysRead{}, err
	}
	pairs := got.Pairs
	return election.KeysRead{
		At: time.Now(), Range: w.Range, Pairs: pairs,
		Filtered: meta.ResultsFilteredByACLs || c.Filtered(meta) && len(pairs) == 0,
	}, nil
}

// foldLook returns the snapshot after the reads. It passes the sessions to the tracker before and after the keys,
// because the tracker may drop sessions without keys.
func foldLook(t *tracker.Tracker, reads []election.KeysRead, sessions []*election.Session, took time.Duration) *election.Snapshot {
	t.Observe(election.SessionsRead{At: time.Now(), Sessions: sessions})
	for _, read := range reads {
		t.Observe(read)
	}
	t.Observe(election.SessionsRead{At: time.Now(), Sessions: sessions})
	now := time.Now()
	t.Observe(election.LinkUp{At: now, Source: probeSource, Latency: took})
	return t.Snapshot(now)
}
