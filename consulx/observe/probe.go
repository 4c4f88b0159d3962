package observe

import (
	"context"
	"errors"
	"time"

	"electop/consulx"
	"electop/consulx/internal/blocking"
	"electop/election"
)

const (
	defaultProbe = time.Second
	probeLimit   = 3 * time.Second
	probeSource  = "probe"
	// tokenEvery is the share of probes that use the token: a blocked query does
	// not notice that its token was revoked or its permissions changed.
	tokenEvery = 5
)

// probe polls Consul's leader: a blocked query does not notice a lost quorum or
// network.
func (o *Observer) probe(ctx context.Context, r *blocking.Epochs) {
	timer := stoppedTimer()
	defer timer.Stop()
	lost := false
	var err error
	var shown time.Duration // the latency that was published last
	for n := 0; ; n++ {
		start := time.Now()
		err = o.probeOnce(ctx, n%tokenEvery == 0 || errors.Is(err, consulx.ErrDenied))
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return
		case err != nil:
			lost = true
			o.send(true, election.LinkLost{
				At: now, Source: probeSource, Error: consulx.Describe(err), RetryAt: start.Add(o.probeEvery),
				Refused: errors.Is(err, consulx.ErrDenied),
			})
		default:
			if lost || n%tokenEvery == 0 && o.permissions.changed(ctx, o.client) {
				r.Next()
			}
			// A small change of the latency is not worth a redraw.
			latency := max(now.Sub(start), 1)
			news := lost || shown == 0 || (latency-shown).Abs() >= max(time.Millisecond, shown/2)
			if news {
				shown = latency
			}
			lost = false
			o.send(news, election.LinkUp{At: now, Source: probeSource, Latency: latency})
		}
		timer.Reset(atFullSecond(o.probeEvery - time.Since(start)))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// atFullSecond shortens a pause by up to a second so that it ends with a full
// second, when the clock on the screen changes: one wake-up for both costs less.
func atFullSecond(pause time.Duration) time.Duration {
	if early := time.Duration(time.Now().Add(pause).Nanosecond()); early < pause {
		return pause - early
	}
	return max(0, pause)
}

func (o *Observer) probeOnce(ctx context.Context, withToken bool) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if withToken && !o.client.Anonymous() {
		// Consul rejects an unknown token in every request.
		_, _, err := o.client.Urgent().API().Session().Info(consulx.NoSession, o.client.Read(ctx))
		if err = o.client.Wrap(err); errors.Is(err, consulx.ErrDenied) {
			return err
		}
	}
	leader, err := o.client.Urgent().ConsensusLeader(ctx)
	if err == nil && leader == "" {
		err = consulx.NoQuorum()
	}
	return err
}
