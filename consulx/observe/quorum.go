package observe

import (
	"context"
	"errors"
	"time"

	"electop/consulx"
	"electop/election"
)

const (
	probeEvery  = time.Second
	probeLimit  = 3 * time.Second
	probeSource = "probe"
	// Every tokenEvery-th probe uses the token, because a blocked query does not detect a revoked token.
	tokenEvery = 5
)

// probe polls Consul's leader until ctx ends, because a blocked query detects neither a lost quorum nor a lost
// network.
func (o *Observer) probe(ctx context.Context) {
	p := &prober{o: o}
	for n := 0; ctx.Err() == nil; n++ {
		start := time.Now()
		p.probe(ctx, n%tokenEvery == 0)
		consulx.Sleep(ctx, probeEvery-time.Since(start))
	}
}

// prober stores the result of the latest probe.
type prober struct {
	o       *Observer
	err     error
	lost    bool          // a probe has failed since the latest epoch began
	latency time.Duration // latency that the latest snapshot contains
}

func (p *prober) probe(ctx context.Context, withToken bool) {
	start, failing := time.Now(), p.err != nil
	err := p.o.probeOnce(ctx, withToken || consulx.IsDenied(p.err))
	now := time.Now()
	limited := errors.Is(err, consulx.ErrLimited)
	switch {
	case ctx.Err() != nil:
		return
	case limited && !failing && p.latency > 0:
		return // the blocked queries still work; each of them reports its own failure
	case err != nil:
		if p.err = err; !limited {
			p.lost = true
			p.o.epochs.Lost.Store(true)
		}
		p.o.Send(true, lossOf(probeSource, election.Part{}, err, time.Time{}, start.Add(probeEvery)))
		return
	case p.lost:
		p.lost = false
		p.o.epochs.Next()
	}
	p.err = nil
	// A small change in the latency must not cause a redraw.
	latency := max(now.Sub(start), 1)
	news := failing || p.latency == 0 || (latency-p.latency).Abs() >= max(time.Millisecond, p.latency/2)
	if news {
		p.latency = latency
	}
	p.o.Send(news, election.LinkUp{At: now, Source: probeSource, Latency: latency})
}

func (o *Observer) probeOnce(ctx context.Context, withToken bool) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if withToken && !o.client.Anonymous() {
		// Consul rejects an unknown token in every request.
		_, _, err := o.client.Urgent().API().Session().Info(consulx.NoSession, o.client.Read(ctx))
		if err = o.client.Wrap(err); consulx.IsDenied(err) {
			return err
		}
	}
	leader, err := o.client.Urgent().ConsensusLeader(ctx)
	if err == nil && leader == "" {
		err = consulx.NoQuorum()
	}
	return err
}
