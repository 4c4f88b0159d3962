package observe

import (
	"errors"
	"time"

	"electop/consulx"
	"electop/election"
)

// link tracks whether one source of data responds.
type link struct {
	o      *Observer
	source string
	part   election.Part
	lost   bool
	at     time.Time // time of the latest response
}

func (l *link) lose(err error, retryAt time.Time) {
	l.lost = true
	l.o.options.Logger.Debug("query failed", "query", l.source, "error", consulx.Describe(err))
	l.o.Send(true, lossOf(l.source, l.part, err, l.at, retryAt))
}

func (l *link) restore(a consulx.Answer) {
	l.at = time.Now()
	if l.lost && !a.Rejected {
		l.lost = false
		l.o.Send(true, election.LinkUp{At: l.at, Source: l.source})
	}
}

// end clears a reported failure.
func (l *link) end() {
	if l.lost {
		l.o.Send(true, election.LinkUp{At: time.Now(), Source: l.source})
	}
}

// lossOf describes the failure of a source. seen is the time of the latest response of the source. After a timeout,
// the data counts as stale since seen, because the connection may have failed at any time after that response.
func lossOf(source string, part election.Part, err error, seen, retryAt time.Time) election.LinkLost {
	lost := election.LinkLost{
		At: time.Now(), Source: source, Part: part, Error: consulx.Describe(err), RetryAt: retryAt, Refused: errors.Is(err, consulx.ErrDenied),
	}
	if consulx.Overdue(err) {
		lost.Since = seen
	}
	return lost
}
