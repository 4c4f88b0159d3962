package observe

import (
	"context"
	"errors"
	"slices"
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
	s.lose(err, retryAt)
	s.o.Send(true, election.SessionListRead{At: time.Now(), Err: consulx.ReadProblem("sessions", err), Denied: consulx.LacksRule(err)})
}

// watchChecks polls the health checks of one node until ctx ends, and then marks them as outdated.
func (o *Observer) watchChecks(ctx context.Context, node string) {
	part := election.Part{Kind: election.PartChecks}
	q := &checkPoller{link: link{o: o, source: "checks of " + node, part: part}, node: node}
	defer q.end()
	o.poll(ctx, q, consulx.Position{}, false)
	o.Send(true, election.Unwatched{At: time.Now(), Node: node})
}

// checkPoller reads the health checks of one node.
type checkPoller struct {
	link
	node   string
	answer []election.Check
	last   []election.Check
	asked  bool
}

func (k *checkPoller) Poll(q *api.QueryOptions) (*api.QueryMeta, error) {
	checks, meta, err := k.o.client.Reader(q).API().Health().Node(k.node, q)
	if err != nil {
		return nil, k.o.client.Wrap(err)
	}
	k.answer = consulx.ChecksOf(checks)
	return meta, nil
}

func (k *checkPoller) Accept(_ context.Context, a consulx.Answer) (bool, error) {
	k.restore(a)
	if k.asked && !a.Gap && slices.Equal(k.answer, k.last) {
		return false, nil
	}
	read := election.ChecksRead{At: time.Now(), Node: k.node, Checks: k.answer, Partial: k.o.client.Filtered(a.QueryMeta)}
	if len(k.answer) == 0 && (k.o.client.Filtered(a.QueryMeta) || len(k.last) > 0 && k.o.client.MayOmit(a.QueryMeta)) {
		read.Err = "not readable with this token"
	}
	k.last, k.asked = k.answer, true
	k.o.Send(true, read)
	return true, nil
}

func (k *checkPoller) Failed(err error, retryAt time.Time) {
	k.asked = false
	k.lose(err, retryAt)
	k.o.Send(true, election.ChecksRead{At: time.Now(), Node: k.node, Err: consulx.Describe(err)})
}
