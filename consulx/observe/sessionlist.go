package observe

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// sessionListGap limits the lists of all sessions to two per second, because every change to the datacenter's sessions
// ends the blocking query.
const sessionListGap = 500 * time.Millisecond

// watchSessions polls all sessions until ctx ends, and then marks the list as outdated.
func (o *Observer) watchSessions(ctx context.Context, _ string) {
	q := &sessionsPoller{link: link{o: o, source: "sessions", part: election.Part{Kind: election.PartSessions}}}
	defer q.end()
	o.poll(ctx, q, consulx.Position{}, false)
	o.Send(true, election.Unwatched{At: time.Now()})
}

// sessionsPoller reads every session of the datacenter.
type sessionsPoller struct {
	link
	answer []*election.Session
	last   []*election.Session
	asked  bool
	// problem is the reason why last may lack sessions. It is empty if last is complete.
	problem string
}

func (s *sessionsPoller) Poll(q *api.QueryOptions) (meta *api.QueryMeta, err error) {
	s.answer, meta, err = s.o.client.Reader(q).ListSessions(q)
	return meta, err
}

func (s *sessionsPoller) Accept(ctx context.Context, a consulx.Answer) (bool, error) {
	at, meta := time.Now(), a.QueryMeta
	if len(s.answer) == 0 && len(s.last) > 0 && s.o.client.MayOmit(meta) {
		// A blocked query whose token was revoked returns one empty list. A new query returns the error.
		var err error
		if meta, err = s.Poll(s.o.client.Consistent(ctx)); err != nil {
			return false, err
		}
	}
	s.restore(a)
	sessions, err := s.answer, s.o.client.JudgeSessions(s.answer, meta)
	s.answer = nil
	problem, first := consulx.ReadProblem("sessions", err), !s.asked || a.Gap
	news := first || problem != s.problem || !sameSessions(sessions, s.last)
	if !news {
		return false, nil
	}
	s.last, s.asked, s.problem = sessions, true, problem
	read := election.SessionListRead{At: at, Sessions: sessions, Index: meta.LastIndex, AfterGap: first, Partial: errors.Is(err, consulx.ErrIncomplete)}
	if !read.Partial {
		read.Err, read.Denied = problem, consulx.LacksRule(err)
	}
	s.o.Send(true, read)
	consulx.Sleep(ctx, sessionListGap-time.Since(at))
	return true, nil
}

func (s *sessionsPoller) Failed(err error, retryAt time.Time) {
	s.asked = false
	s.link.Failed(err, retryAt)
	s.o.Send(true, election.SessionListRead{At: time.Now(), Err: consulx.ReadProblem("sessions", err), Denied: consulx.LacksRule(err)})
}
