package observe

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/tracker"
)

// Once reads every election of the patterns once, with the sessions of the leaders, and adds the elections of a history,
// even if their key no longer exists. It omits sessions that the token may not read. Any other failure is returned as an
// error.
func Once(ctx context.Context, c *consulx.Client, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error) {
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
		g.Go(func() error {
			got, _, err := readKeys(c, w, ps, consulx.PairList{}, c.Read(gctx))
			reads[i] = election.KeysRead{At: time.Now(), Range: w.Range, Pairs: got.Pairs, Filtered: got.filtered}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	took := time.Since(start)
	var ids []string
	for _, read := range reads {
		ids = append(ids, holders(read.Pairs)...)
	}
	slices.Sort(ids)
	sessions, _, err := c.SessionsByID(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	t := tracker.New(tracker.Options{Patterns: ps})
	t.Observe(election.DatacenterRead{At: time.Now(), Datacenter: cmp.Or(c.Datacenter(), info.Datacenter)})
	t.Observe(past)
	for _, read := range reads {
		t.Observe(read)
	}
	t.Observe(election.SessionsRead{At: time.Now(), Sessions: sessions})
	t.Observe(election.LinkUp{At: time.Now(), Source: probeSource, Latency: took})
	s := t.Snapshot(time.Now())
	if !slices.ContainsFunc(s.Elections, insight.Searchable) {
		return s, nil
	}
	if sessions, err = c.Sessions(ctx); err == nil { // otherwise, no election is reported as idle
		t.Observe(election.CandidatesRead{At: time.Now(), None: insight.WithoutCandidates(s.Elections, &election.Surroundings{At: time.Now(), Sessions: sessions})})
		s = t.Snapshot(time.Now())
	}
	return s, nil
}
