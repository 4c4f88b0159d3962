package consulx

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"electop/election"
	"electop/election/tracker"
)

// Look reads every election that the patterns name once, with the sessions that
// lead. Sessions that may not be read are left out; anything else that fails,
// fails the whole look.
func Look(ctx context.Context, c *Client, ps election.Patterns) (*election.Snapshot, error) {
	watches := planWatches(ps, c.budget.forKeys(0))
	reads := make([]election.KeysRead, len(watches))
	var info Info
	start := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	g.Go(func() (err error) {
		info, err = c.Info(gctx)
		if err == nil && info.ConsensusLeader == "" && !c.stale {
			err = noQuorum() // the reads would fail too, many seconds later
		}
		return err
	})
	for i, w := range watches {
		g.Go(func() (err error) {
			reads[i], err = c.readOnce(gctx, w, ps)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return c.foldLook(ctx, ps, info, reads, time.Since(start))
}

// readOnce reads what a watch would.
func (c *Client) readOnce(ctx context.Context, w watch, ps election.Patterns) (election.KeysRead, error) {
	got, meta, err := c.waiting.readKeys(w, ps, reading{}, false, c.read(ctx))
	if err != nil {
		return election.KeysRead{}, err
	}
	pairs := got.pairs
	return election.KeysRead{
		At: time.Now(), Range: w.Range, Pairs: pairs,
		Filtered: meta.ResultsFilteredByACLs || c.filtered(meta) && len(pairs) == 0,
	}, nil
}

func (c *Client) foldLook(
	ctx context.Context, ps election.Patterns, info Info, reads []election.KeysRead, took time.Duration,
) (*election.Snapshot, error) {
	var pairs []election.Pair
	for _, read := range reads {
		pairs = append(pairs, read.Pairs...)
	}
	ids := holders(pairs)
	slices.Sort(ids)
	sessions, _, err := c.readSessions(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	t := tracker.New(tracker.Options{Patterns: ps})
	t.Observe(election.DatacenterRead{At: time.Now(), Datacenter: info.Datacenter})
	t.Observe(election.SessionsRead{At: time.Now(), Sessions: sessions})
	for _, read := range reads {
		t.Observe(read)
	}
	// Forgetting may have begun before all holders were known.
	t.Observe(election.SessionsRead{At: time.Now(), Sessions: sessions})
	now := time.Now()
	t.Observe(election.LinkUp{At: now, Source: probeSource, Latency: took})
	return t.Snapshot(now), nil
}
