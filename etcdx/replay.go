package etcdx

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
)

// replay repeats the changes between a history and the first list. If etcd does not respond in time, they are repeated
// with that list.
func (o *Observer) replay(ctx context.Context, past election.HistoryRead) []election.Observation {
	select {
	case <-ctx.Done():
	case <-time.After(o.Options.RecallPatience):
		o.late.Store(&past)
	case first := <-o.begun:
		return o.repeat(ctx, first, past)
	}
	return nil
}

// repeat returns the changes before the first list, whose times are unknown. Without a history, it returns those that etcd
// can still report, of the elections that exist.
func (o *Observer) repeat(ctx context.Context, first Listed, past election.HistoryRead) (all []election.Observation) {
	ctx, cancel := context.WithTimeout(ctx, o.Options.RecallPatience)
	defer cancel()
	var part election.RecordedPart
	for _, p := range past.Parts {
		if p.Datacenter == first.Datacenter {
			part = p
		}
	}
	ps, recorded := o.Patterns(), part.Datacenter != ""
	client, ok := o.client.API.(*Client)
	if !ok || !recorded && !o.Options.Replay || recorded && (part.Newest == 0 || !slices.Equal(part.Patterns.Strings(), ps.Strings())) {
		return nil
	}
	elections := NewElections(ps, Single(ps))
	var reads []election.KeysRead
	ranges := Ranges(ps)
	w := &watch{
		client: client, ranges: ranges, watched: ranges, cluster: first.cluster, state: map[string]*mvccpb.KeyValue{},
		revision: max(int64(part.Newest), first.Revision-far, 1), //nolint:gosec // a revision
	}
	w.emit = func(u Update) {
		if u, ok := u.(Changed); ok && u.Revision <= first.Revision {
			reads = append(reads, elections.Change(u.Events, u.Revision)...)
		} else { // also if all changes were received
			cancel()
		}
	}
	etcd, err := client.open()
	if err != nil {
		return nil
	}
	kvs, err := w.read(ctx, etcd, w.revision)
	if errors.Is(err, rpctypes.ErrCompacted) {
		w.revision = (<-etcd.Watch(ctx, cmp.Or(ranges[0].From, "\x00"), clientv3.WithRev(w.revision))).CompactRevision
		kvs, err = w.read(ctx, etcd, w.revision)
	}
	if err != nil || w.revision >= first.Revision {
		return nil
	}
	reads = append(reads, elections.List(kvs, w.revision))
	_ = w.follow(ctx) // what it reported is true
	all = append(all, election.DatacenterRead{At: first.at, Datacenter: first.Datacenter}, election.Gap{At: first.at, Since: part.Until})
	for _, read := range reads {
		read.At, read.Asked = first.at, first.at.Add(-1) // in the gap
		read.Pairs = election.Without(read.Pairs, func(p *election.Pair) bool {
			_, exists := elections.pair(elections.root.find(p.Key), 0)
			return !recorded && !exists
		})
		all = append(all, read)
	}
	return all
}
