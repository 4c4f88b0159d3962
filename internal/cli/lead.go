package cli

import (
	"context"
	"fmt"
	"time"

	"electop/consulx"
	"electop/election/sanitize"
)

const (
	// stopGrace is from SIGTERM to SIGKILL when the leadership is lost. It is
	// part of the time for which the session still protects.
	stopGrace = 3 * time.Second
	// signalGrace is the same when a signal ends the campaign: the leadership
	// lasts meanwhile.
	signalGrace = 10 * time.Second
	// stopMargin is what consulx.SessionOptions.Hold leaves for a busy machine.
	stopMargin = 2 * time.Second
	// beatEvery is how often the supervisor gets an order. It has to be short
	// beside the time that a session protects, which is 8s or more.
	beatEvery = 500 * time.Millisecond
	// obeyLimit is how late a supervisor may stop its program before electop
	// does that.
	obeyLimit = 2 * time.Second
)

// reign is one term during which a program runs.
type reign struct {
	l      *consulx.Leadership
	lost   time.Time // when the leadership was lost
	signal time.Time // when a signal ended the campaign
}

// order says until when the program may run.
func (r *reign) order(now time.Time) order {
	o := order{grace: stopGrace, kill: now.Add(r.l.Remaining())}
	switch {
	case !r.lost.IsZero():
		o.term, o.kill = r.lost, earlier(o.kill, r.lost.Add(stopGrace))
	case !r.signal.IsZero():
		o.term, o.grace = r.signal, signalGrace
	default:
		o.term = o.kill.Add(-stopGrace)
	}
	return o
}

// lead runs the program until it ends, the leadership is lost or a signal
// arrives. No process of the program is left when it returns.
func (c *campaign) lead(ctx context.Context, l *consulx.Leadership, key string, program []string) error {
	r := reign{l: l}
	env := []string{"CONSUL_LOCK_HELD=true", "ELECTOP_KEY=" + key, "ELECTOP_SESSION=" + l.Session()}
	s, err := startSupervisor(c.d, program, env, r.order(time.Now()))
	if err != nil {
		return err
	}
	c.await(ctx, &r, s)
	switch {
	case !r.lost.IsZero():
		return fmt.Errorf("lost %s while the program ran: %s", sanitize.Line(key, 200), lostText(l))
	case !r.signal.IsZero():
		return ctx.Err()
	case !s.cmd.ProcessState.Exited():
		return fmt.Errorf("stopped the program: its supervisor ended (%w)", s.err)
	}
	return programError(s.err)
}

// await sends orders until the supervisor ends.
func (c *campaign) await(ctx context.Context, r *reign, s *supervisor) {
	lost, signal := r.l.Lost(), ctx.Done()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-lost:
			lost, r.lost = nil, time.Now()
		case <-signal:
			signal, r.signal = nil, time.Now()
		case <-beat.C:
		}
		now := time.Now()
		o := r.order(now)
		s.tell(o)
		if reached(now, o.end().Add(obeyLimit)) {
			s.kill()
		}
	}
}
