package observe

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

// watchChecks polls the health checks of one node until ctx ends, and then marks them as outdated.
func (o *Observer) watchChecks(ctx context.Context, node string) {
	q := &checkPoller{link: link{o: o, source: "checks of " + node, part: election.Part{Kind: election.PartChecks}}, node: node}
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
	k.link.Failed(err, retryAt)
	k.o.Send(true, election.ChecksRead{At: time.Now(), Node: k.node, Err: consulx.Describe(err)})
}
