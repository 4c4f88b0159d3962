package etcdx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"electop/election"
	"electop/internal/crash"
)

// bounds returns a range as etcd's API describes it: it has no empty keys.
func bounds(r election.Range) (from, end string) { return cmp.Or(r.From, "\x00"), cmp.Or(r.To, "\x00") }

// get reads a range.
func get(ctx context.Context, etcd *clientv3.Client, r election.Range, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	from, end := bounds(r)
	return etcd.Get(ctx, from, append(options, clientv3.WithRange(end))...)
}

// Update is [Listed], [Changed], [Stale] or [Live].
type Update any

// Listed is the complete state of the ranges at a revision. As in [Changed], keys without a lease have no value, to save
// memory. Gap reports that changes between the previous update and this one may have been lost.
type Listed struct {
	Datacenter string // the name or the ID of the cluster
	cluster    uint64
	Revision   int64
	KVs        []*mvccpb.KeyValue
	Gap        bool
	at         time.Time // at which an observer received it
}

// Changed contains all changes of one revision to keys in the ranges.
type Changed struct {
	Revision int64
	Events   []*mvccpb.Event
}

// Stale reports that etcd has not responded since a time, which is zero if it has never responded to this watch. The next
// update is another Stale with another error, Listed or Live. Gap reports that etcd responds, but changes were lost: Listed follows.
type Stale struct {
	Since time.Time
	Err   error
	Gap   bool
}

// Live reports that the reported state is current: after Stale, and repeatedly while nothing changes.
type Live struct{}

const (
	beat     = 2500 * time.Millisecond // time without a response after which etcd is asked for one
	patience = 2500 * time.Millisecond // time until the response
	retry    = 100 * time.Millisecond  // etcd does not respond while a watch still reads old changes
	pageSize = 10_000
	// A watch that starts further back than far would occupy the server for longer than a list.
	far = 200_000
	// most is the maximum number of changes that wait for their order to be confirmed.
	most = 50_000
)

var errSilent = fmt.Errorf("no response within %s", patience)

// List reads the ranges once, at one revision.
func List(ctx context.Context, c API, ranges ...election.Range) (Listed, error) {
	for u := range c.Watch(ctx, ranges...) {
		switch u := u.(type) {
		case Listed:
			return u, nil
		case Stale:
			return Listed{}, u.Err
		}
	}
	return Listed{}, ctx.Err()
}

// Watch reports the state of disjoint ranges, which are in order, and then every change, in the order of the revisions. It ends with the
// context or the loop: after an error it reports [Stale] and tries again.
func (c *Client) Watch(ctx context.Context, ranges ...election.Range) iter.Seq[Update] {
	w := &watch{client: c, ranges: ranges}
	return w.updates(ctx, w.step)
}

// step reports changes until an error, and the error unless the next call can probably continue at once. It returns a pause.
func (w *watch) step(ctx context.Context) time.Duration {
	err := w.resume(ctx)
	// Most connections that break can be replaced at once, or after a new leader of etcd was elected.
	quiet := w.revision > 0 && time.Since(w.heard) < patience
	if err == nil {
		err = w.follow(ctx)
		quiet = w.confirmed && !errors.Is(err, rpctypes.ErrNoLeader) || time.Since(w.heard) < patience && !w.confirmed
	}
	if quiet && !errors.Is(err, errSilent) {
		return retry
	}
	w.lost(w.client.explain(err), false)
	if ctx.Err() == nil && (errors.Is(err, errSilent) || errors.Is(err, context.DeadlineExceeded)) { // List leaves it to watches
		w.client.reopen()
	}
	return time.Second
}

// report is what a watch has reported about the connection.
type report struct {
	emit  func(Update)
	heard time.Time // time of the last response, or zero
	stale string    // the latest error, or "" if the reported state is current
}

// updates returns what calls of step emit until ctx or the loop ends. A step returns a pause.
func (r *report) updates(ctx context.Context, step func(context.Context) time.Duration) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r.emit = func(u Update) {
			if ctx.Err() == nil && !yield(u) {
				cancel()
			}
		}
		for ctx.Err() == nil {
			pause := step(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}

// lost reports an error, once.
func (r *report) lost(err error, gap bool) {
	if text := err.Error(); text != r.stale {
		r.stale = text
		r.emit(Stale{r.heard, err, gap})
	}
}

// live reports that the reported state is current.
func (r *report) live() {
	r.heard, r.stale = time.Now(), ""
	r.emit(Live{})
}

// watch is one call of [Client.Watch].
type watch struct {
	report
	client *Client
	ranges election.RangeSet
	// watched are the ranges, or one range that also contains what is between them. That is cheaper: etcd confirms the
	// order of changes in several ranges only on request.
	watched election.RangeSet

	cluster  uint64
	revision int64                       // all changes until here have been reported; 0: nothing has been listed
	state    map[string]*mvccpb.KeyValue // reported
	// confirmed reports whether all changes that existed when the stream was opened have been received.
	confirmed bool
}

// resume decides how to continue after w.revision. It lists the ranges again unless etcd's history contains exactly the
// reported state. A restored snapshot does not, even if its revision has passed w.revision in the meantime.
func (w *watch) resume(ctx context.Context) error {
	etcd, err := w.client.open()
	if err != nil {
		return err
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	head, err := etcd.Get(asking, cmp.Or(w.ranges[0].From, "\x00"), clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	now, cluster := head.Header.Revision, head.Header.ClusterId
	lost := fmt.Errorf("etcd was restored from a snapshot, or another cluster responds: revision %d follows revision %d", now, w.revision)
	if w.cluster == cluster && now >= w.revision {
		kvs, err := []*mvccpb.KeyValue(nil), rpctypes.ErrCompacted
		if now-w.revision <= far {
			kvs, err = w.read(ctx, etcd, w.revision)
		}
		switch {
		case errors.Is(err, rpctypes.ErrCompacted):
			lost = fmt.Errorf("the changes after revision %d were compacted, or are too many", w.revision)
		case err != nil:
			return err
		case len(kvs) == len(w.state) && !slices.ContainsFunc(kvs, w.differs):
			return nil
		}
	}
	kvs, err := w.read(ctx, etcd, now)
	if err != nil {
		return err
	}
	listed := Listed{Datacenter: cmp.Or(w.client.Datacenter(), clusterName(cluster)), cluster: cluster, Revision: now, KVs: kvs, Gap: w.revision > 0}
	if listed.Gap {
		w.lost(lost, true)
	}
	w.cluster, w.revision, w.heard = cluster, now, time.Now()
	w.state = make(map[string]*mvccpb.KeyValue, len(kvs))
	for _, kv := range kvs {
		w.state[string(kv.Key)] = kv
	}
	w.emit(listed)
	if w.watched = w.ranges; len(w.ranges) > 1 {
		whole := election.Range{From: w.ranges[0].From, To: w.ranges[len(w.ranges)-1].To}
		all, err := get(asking, etcd, whole, clientv3.WithRev(now), clientv3.WithCountOnly())
		if err == nil && all.Count == int64(len(kvs)) { // nothing is between the ranges
			w.watched = election.RangeSet{whole}
		}
	}
	return nil
}

// read returns the state of the ranges at a revision.
func (w *watch) read(ctx context.Context, etcd *clientv3.Client, revision int64, options ...clientv3.OpOption) (kvs []*mvccpb.KeyValue, err error) {
	for _, r := range w.ranges {
		for more := true; more; {
			reading, cancel := context.WithTimeout(ctx, 4*patience)
			page, err := get(reading, etcd, r, append(options, clientv3.WithRev(revision), clientv3.WithLimit(pageSize))...)
			cancel()
			if err != nil {
				return nil, err
			}
			for _, kv := range page.Kvs {
				kvs = append(kvs, slim(kv))
			}
			if more = page.More; more {
				r.From = string(kvs[len(kvs)-1].Key) + "\x00"
			}
		}
	}
	return kvs, nil
}

// slim removes the value, which may be large, of a key without a lease.
func slim(kv *mvccpb.KeyValue) *mvccpb.KeyValue {
	if kv.Lease == 0 {
		kv.Value = nil
	}
	return kv
}

// differs reports whether a key is not as reported.
func (w *watch) differs(kv *mvccpb.KeyValue) bool {
	return !proto.Equal(w.state[string(kv.Key)], kv)
}

// apply applies a change to the state.
func (w *watch) apply(e *mvccpb.Event) {
	if w.state[string(e.Kv.Key)] = e.Kv; e.Type == mvccpb.DELETE {
		delete(w.state, string(e.Kv.Key))
	}
}

// follow reports the changes after w.revision until the stream ends.
func (w *watch) follow(ctx context.Context) error {
	w.confirmed = false
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	var receiver sync.WaitGroup
	defer receiver.Wait()
	defer cancel()
	stream, err := w.start(ctx, cancel)
	if err != nil {
		return err
	}
	responses := make(chan *pb.WatchResponse)
	var ended error
	crash.Go(&receiver, func() {
		defer close(responses)
		for {
			r, err := stream.Recv()
			if ended = rpctypes.Error(err); err != nil {
				return
			}
			select {
			case responses <- r:
			case <-ctx.Done():
				return
			}
		}
	})
	s := &session{watch: w, stream: stream, from: w.revision, asked: time.Now(), waiting: true}
	for {
		pause := beat
		if s.waiting || !s.asked.IsZero() {
			pause = retry
		}
		var r *pb.WatchResponse
		open := true
		select {
		case r, open = <-responses:
		case <-time.After(pause):
			select { // the caller may have been slow
			case r, open = <-responses:
			default:
			}
		}
		switch {
		case !open:
			return ended
		case r != nil:
			err = s.take(r)
		case !s.asked.IsZero() && time.Since(s.asked) > patience:
			err = errSilent
		default:
			s.ask()
		}
		if err != nil {
			return err
		}
		if s.waiting && time.Since(s.sent) > retry { // among constant changes, no pause ends
			s.ask()
		}
	}
}

// start opens a stream, within [patience], and creates the watches. They start at w.revision, which has been reported:
// etcd confirms no watch that starts in the future.
func (w *watch) start(ctx context.Context, cancel func()) (pb.Watch_WatchClient, error) {
	etcd, err := w.client.open()
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(patience, cancel)
	stream, err := pb.NewWatchClient(etcd.ActiveConnection()).Watch(ctx, grpc.MaxCallRecvMsgSize(math.MaxInt32))
	for _, r := range w.watched {
		if from, end := bounds(r); err == nil { // if Send fails, Recv returns the reason
			_ = stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
				Key: []byte(from), RangeEnd: []byte(end), StartRevision: w.revision,
			}}})
		}
	}
	if !late.Stop() {
		return nil, errSilent
	}
	return stream, err
}

// session is one stream of a watch.
type session struct {
	*watch
	stream  pb.Watch_WatchClient
	from    int64
	created int
	asked   time.Time // time of the first request since the last response
	sent    time.Time // time of the last request
	waiting bool      // for a confirmation that all changes until a revision have been received
	pending []*mvccpb.Event
}

func (s *session) ask() {
	s.sent = time.Now()
	if s.asked.IsZero() {
		s.asked = time.Now()
	}
	if s.created == len(s.watched) { // otherwise, the confirmation could overtake changes
		_ = s.stream.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}})
	}
}

// take handles one response. etcd sends the changes of one range in order, and confirms with watch ID -1 that it has
// sent those of all ranges until a revision. So changes in several ranges wait for a confirmation.
func (s *session) take(r *pb.WatchResponse) error {
	s.asked = time.Time{}
	switch {
	case r.CompactRevision != 0:
		return rpctypes.ErrCompacted // resume finds it too
	case r.Canceled:
		s.watched = s.ranges // the user may no longer read what is between them
		return errors.New(r.CancelReason)
	case r.Created:
		if r.Header.ClusterId != s.cluster {
			return rpctypes.ErrClusterIDMismatch
		}
		s.created++
		s.ask()
		return nil
	}
	s.heard = time.Now() // not before: a server may accept a watch and then end it
	if r.WatchId == clientv3.InvalidWatchID {
		s.flush()
		s.waiting, s.confirmed, s.revision = false, true, max(s.revision, r.Header.Revision)
		s.live()
		return nil
	}
	if slices.ContainsFunc(r.Events, func(e *mvccpb.Event) bool { return !s.ranges.Contains(string(e.Kv.Key)) }) {
		s.watched = s.ranges
		return errors.New("a key between the ranges changed")
	}
	s.pending = append(s.pending, slices.DeleteFunc(r.Events, func(e *mvccpb.Event) bool { return slim(e.Kv).ModRevision <= s.from })...)
	switch {
	case len(s.watched) == 1:
		s.flush()
	case len(s.pending) > most:
		s.cluster = 0 // list again
		return errors.New("too many changes")
	case !s.waiting:
		s.waiting = true
		s.ask()
	}
	return nil
}

// flush reports the pending changes.
func (s *session) flush() {
	slices.SortStableFunc(s.pending, func(a, b *mvccpb.Event) int { return int(a.Kv.ModRevision - b.Kv.ModRevision) })
	for rest := s.pending; len(rest) > 0; {
		revision := rest[0].Kv.ModRevision
		n := slices.IndexFunc(rest, func(e *mvccpb.Event) bool { return e.Kv.ModRevision != revision })
		if n < 0 {
			n = len(rest)
		}
		for _, e := range rest[:n] {
			s.apply(e)
		}
		s.revision = revision
		s.emit(Changed{revision, rest[:n:n]})
		rest = rest[n:]
	}
	s.pending, s.heard = nil, time.Now()
}
