package consulx

import (
	"context"
	"time"

	"electop/election"
)

const (
	defaultProbe = time.Second
	probeLimit   = 3 * time.Second
	probeSource  = "probe"
)

// probe asks who Consul's leader is, again and again: a query that is blocked
// stays silent when Consul loses its quorum or the network goes away.
func (o *Observer) probe(ctx context.Context, r *rounds) {
	ticker := time.NewTicker(o.probeEvery)
	defer ticker.Stop()
	lost := false
	for {
		start := time.Now()
		err := o.probeOnce(ctx)
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return
		case err != nil:
			lost = true
			o.send(true, election.LinkLost{
				At: now, Source: probeSource, Error: Describe(err), RetryAt: start.Add(o.probeEvery),
			})
		default:
			if lost {
				r.next()
			}
			lost = false
			o.send(true, election.LinkUp{At: now, Source: probeSource, Latency: max(now.Sub(start), 1)})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (o *Observer) probeOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	leader, err := o.client.consensusLeader(ctx)
	if err == nil && leader == "" {
		err = noQuorum()
	}
	return err
}
