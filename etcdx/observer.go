package etcdx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"electop/election"
	"electop/election/sanitize"
	"electop/election/tracker"
	"electop/internal/crash"
	"electop/internal/feed"
)

// DefaultPattern selects every queue, and no other key.
const DefaultPattern = "**"

// API is what an observer needs of one of etcd's APIs; see [Client] and [V2].
type API interface {
	Watch(ctx context.Context, ranges ...election.Range) iter.Seq[Update]
	Lease(ctx context.Context, id int64, keys bool) (Lease, error)
	Leases(ctx context.Context) (ids []string, err error)
	Cluster(ctx context.Context) string
	Datacenter() string
	Rights(ctx context.Context) (rights []Right, any bool, err error)
	Store() election.Store
	// Release deletes the key of a leader that notices this, and Revoke ends a lease. An API without such leaders or
	// without leases refuses it.
	Release(ctx context.Context, t election.Target) error
	Revoke(ctx context.Context, id int64) error
	Close()
}

// Store describes etcd.
func (c *Client) Store() election.Store {
	return election.Store{Name: "etcd", Revisions: true, Leases: true}
}

const (
	// leaseReads is the number of leases that are read at the same time, and rereadPace the shortest mean time between two
	// reads of leases that were read before: each costs CPU time. So does the search for them, which takes place after
	// leaseTick, and later by leaseScan for each lease.
	leaseReads = 32
	rereadPace = 10 * time.Millisecond
	leaseTick  = 500 * time.Millisecond
	leaseScan  = 150 * time.Microsecond
	gather     = 100 * time.Millisecond
	// readEvery is the interval between reads of the list of leases, and of the surroundings of an election.
	readEvery = 5 * time.Second
	// mostLeases is the number of leaders above which [Reader.Once] reads no leases: they would take longer than the keys.
	mostLeases  = 1000
	errorLength = 300
	source      = "etcd"
)

// Observer observes the elections of the patterns in one cluster.
type Observer struct {
	*feed.Feed
	client Reader

	mu        sync.Mutex
	elections *Elections
	leaders   map[string]string            // the lease of each leader, by key
	leases    map[string]*election.Session // of the leaders; nil if it was not read yet, by ID
	unread    []string                     // leases of new leaders
	studied   string
	changed   chan struct{} // receives a signal when a leader may have changed
	begun     chan Listed   // the first list

	// Only the watch uses these fields: the cluster and the revision of the latest read.
	cluster  uint64
	revision int64
	late     atomic.Pointer[election.HistoryRead] // was read before etcd responded
}

// NewObserver returns an idle observer; see [feed.Feed.Run].
func NewObserver(c API, o feed.Options) *Observer {
	o.Store = c.Store()
	observer := &Observer{
		client: Reader{c}, elections: NewElections(nil, nil), leaders: map[string]string{}, leases: map[string]*election.Session{},
		changed: make(chan struct{}, 1), begun: make(chan Listed, 1),
	}
	if recall := o.Recall; recall != nil {
		o.Recall = func(ctx context.Context) election.HistoryRead {
			past := recall(ctx)
			observer.mu.Lock()
			defer observer.mu.Unlock()
			return observer.elections.Recall(past)
		}
	}
	observer.Feed = feed.New(o)
	if name := c.Datacenter(); name != "" { // every snapshot must contain it
		observer.Send(false, election.DatacenterRead{At: time.Now(), Datacenter: name})
	}
	return observer
}

// Run observes until ctx ends.
func (o *Observer) Run(ctx context.Context) {
	o.Feed.Run(ctx, func(ctx context.Context) feed.Hooks {
		o.Go(func() { o.readLeases(ctx) })
		return feed.Hooks{Watch: o.watch, Sessions: o.listSessions, Study: o.study, Replay: o.replay, Explain: o.explain}
	})
}

// study sends the members beside a leader's key. The snapshots show the reads of its lease.
func (o *Observer) study(ctx context.Context, key string) time.Duration {
	o.mu.Lock()
	o.studied = key
	o.mu.Unlock()
	around := Surroundings(ctx, o.client, key)
	o.Send(true, around)
	if around.Siblings == nil && around.SiblingsErr == "" {
		return time.Hour // or the next event
	}
	return readEvery
}

// listSessions sends all leases, or those of the leaders if the user may not list the others, until ctx ends.
func (o *Observer) listSessions(ctx context.Context, _ string) {
	for {
		ids, err := o.client.Leases(ctx)
		partial := errors.Is(classify(err, nil), election.ErrDenied)
		if len(ids) == 0 {
			o.mu.Lock()
			ids = slices.Collect(maps.Keys(o.leases))
			o.mu.Unlock()
		}
		slices.Sort(ids)
		read, failed := o.client.sessions(ctx, ids)
		list := election.SessionListRead{At: time.Now(), Sessions: read, Partial: partial}
		if !partial {
			failed = cmp.Or(failed, err)
		}
		if failed != nil {
			list.Err = sanitize.Line("sessions: "+failed.Error(), errorLength)
		}
		if ctx.Err() != nil {
			break
		}
		o.Send(true, list)
		select {
		case <-ctx.Done():
		case <-time.After(readEvery):
		}
	}
	o.Send(true, election.Unwatched{At: time.Now()})
}

// watch reports the elections of the patterns until ctx ends.
func (o *Observer) watch(ctx context.Context, ps election.Patterns) {
	elections, stale := electionsOf(o.client.API, ps), false
	o.mu.Lock()
	before := o.elections.patterns // nil in the first call
	elections.known, o.elections = o.elections.known, elections
	o.mu.Unlock()
	for u := range o.client.Watch(ctx, Ranges(ps)...) {
		at := time.Now()
		up := election.LinkUp{At: at, Source: source}
		switch u := u.(type) {
		case Listed:
			o.mu.Lock()
			read := elections.List(u.KVs, u.Revision)
			o.mu.Unlock()
			u.at, u.KVs = at, nil
			read.AfterGap = u.Gap || before != nil
			past := o.late.Swap(nil)
			if before != nil && u.cluster == o.cluster { // this process was suspended, or has other patterns
				past = &election.HistoryRead{Parts: []election.RecordedPart{{Datacenter: u.Datacenter, Patterns: before, Until: at, Newest: uint64(o.revision)}}} //nolint:gosec // revisions are positive
			}
			o.cluster = u.cluster
			var batch []election.Observation
			if past != nil && !u.Gap {
				batch = o.repeat(ctx, u, *past)
			}
			batch = append(batch, election.DatacenterRead{At: at, Datacenter: u.Datacenter}, up)
			o.mu.Lock()
			clear(o.leaders)
			o.mu.Unlock()
			o.report(u.Revision, true, batch, read)
			select {
			case o.begun <- u:
			default:
			}
		case Changed:
			o.mu.Lock()
			reads := elections.Change(u.Events, u.Revision)
			for i := range reads {
				delete(o.leaders, reads[i].Range.From)
				reads[i].AfterGap = stale // the times of the changes during an outage are unknown
			}
			o.mu.Unlock()
			o.report(u.Revision, len(reads) > 0, []election.Observation{up}, reads...)
		case Live:
			o.Send(stale, up)
			stale = false
		case Stale:
			retry := at.Add(time.Second)
			if up.At = u.Since; !stale && !up.At.IsZero() { // the time of the latest response
				o.Send(false, up)
				at = u.Since
			}
			stale = true
			err := u.Err
			if !u.Gap {
				err = classify(err, ps)
			}
			o.Send(true, election.LinkLost{
				At: at, Source: source, Error: sanitize.Line(err.Error(), errorLength), RetryAt: retry, Refused: errors.Is(err, election.ErrDenied), Gap: u.Gap,
			})
		}
	}
}

// report sends what was read at a revision, after other observations.
func (o *Observer) report(revision int64, news bool, batch []election.Observation, reads ...election.KeysRead) {
	o.revision = revision
	o.mu.Lock()
	for _, read := range reads {
		for _, p := range read.Pairs {
			if o.leaders[p.Key] = p.Session; p.Held() && o.leases[p.Session] == nil {
				o.unread = append(o.unread, p.Session)
			}
		}
		read.At = time.Now()
		batch = append(batch, read)
	}
	o.mu.Unlock()
	o.Send(news, batch...)
	feed.Notify(o.changed)
}

// readLeases keeps the leases of the leaders current until ctx ends.
func (o *Observer) readLeases(ctx context.Context) {
	pause := leaseTick
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		var ids []string
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			ids = o.due(time.Now(), int(pause/rereadPace))
			pause = leaseTick + time.Duration(len(o.leases))*leaseScan
			tick.Reset(pause)
		case <-o.changed:
			select { // more leases, because one request for each is expensive
			case <-ctx.Done():
			case <-time.After(gather):
			}
			o.mu.Lock()
			ids, o.unread = o.unread, nil
			o.mu.Unlock()
		}
		read, _ := o.client.sessions(ctx, ids) // the watch reports an unreachable cluster
		o.mu.Lock()
		news := false // the screen shows one of them
		for _, s := range read {
			news = news || o.leases[s.ID] == nil || s.ID == o.leaders[o.studied]
			o.leases[s.ID] = s
		}
		o.mu.Unlock()
		if len(read) > 0 {
			o.Send(news, election.SessionsRead{At: time.Now(), Sessions: read})
		}
	}
}

// due returns the leases of leaders that were not read yet, and the oldest reads. It forgets the leases of former leaders.
func (o *Observer) due(now time.Time, rereads int) (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	leases := make(map[string]*election.Session, len(o.leaders))
	for _, id := range o.leaders {
		leases[id] = o.leases[id]
	}
	delete(leases, "") // of a queue without a leader
	o.leases, o.unread = leases, nil
	var old []*election.Session
	for id, s := range leases {
		if s == nil {
			ids = append(ids, id)
		} else if now.Sub(s.Read) > s.TTL/3 {
			old = append(old, s)
		}
	}
	slices.SortFunc(old, func(a, b *election.Session) int { return a.Read.Compare(b.Read) })
	for _, s := range old[:min(len(old), rereads)] {
		ids = append(ids, s.ID)
	}
	return ids
}

// explain returns the evidence for terms that ended. After a gap, there is none.
func (o *Observer) explain(ctx context.Context, lost []feed.Loss) []election.Observation {
	lost = election.Without(lost, func(l feed.Loss) bool { return l.Gap })
	found := make([]election.Observation, len(lost))
	crash.Each(len(lost), leaseReads, func(i int) {
		e, ev := lost[i].Event, election.Evidence{SessionRead: true}
		id, err := leaseID(e.Session)
		if err == nil {
			var lease Lease
			lease, err = o.client.Lease(ctx, id, false)
			ev.Expired = lease.Remaining < 0
		}
		switch {
		case err == nil:
			ev.SessionExists, ev.DeleteIndex = true, e.ModifyIndex
		case !errors.Is(err, rpctypes.ErrLeaseNotFound):
			ev = election.Evidence{Err: sanitize.Line(err.Error(), errorLength)}
		}
		found[i] = election.TermEvidence{At: time.Now(), Event: e, Outcome: ev}
	})
	return found
}

// Reader reads the elections and leases of a cluster.
type Reader struct{ API }

// Once reads every election of the patterns once, with the leases of the leaders unless there are very many, and adds the
// elections of a history.
func (r Reader) Once(ctx context.Context, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error) {
	start := time.Now()
	listed, err := List(ctx, r.API, Ranges(ps)...)
	if err != nil {
		return nil, classify(err, ps)
	}
	elections := electionsOf(r.API, ps)
	read := elections.List(listed.KVs, listed.Revision)
	read.At = time.Now()
	t := tracker.New(tracker.Options{Patterns: ps, Store: r.Store()})
	t.Observe(election.DatacenterRead{At: read.At, Datacenter: listed.Datacenter})
	t.Observe(elections.Recall(past))
	t.Observe(read)
	var ids []string
	for _, p := range read.Pairs {
		if p.Held() {
			ids = append(ids, p.Session)
		}
	}
	if len(ids) <= mostLeases {
		leases, _ := r.sessions(ctx, ids)
		t.Observe(election.SessionsRead{At: time.Now(), Sessions: leases})
	}
	t.Observe(election.LinkUp{At: time.Now(), Source: source, Latency: time.Since(start)})
	return t.Snapshot(time.Now()), nil
}

// sessions reads leases until a read fails. It omits those that have ended.
func (r Reader) sessions(ctx context.Context, ids []string) ([]*election.Session, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := make([]*election.Session, len(ids))
	crash.Each(len(ids), leaseReads, func(i int) {
		var err error
		if read[i], err = r.Session(ctx, ids[i]); err != nil && !errors.Is(err, election.ErrNoSession) {
			cancel(err)
		}
	})
	return slices.DeleteFunc(read, func(s *election.Session) bool { return s == nil }), context.Cause(ctx)
}

// Session reads a lease.
func (r Reader) Session(ctx context.Context, id string) (*election.Session, error) {
	number, err := leaseID(id)
	if err != nil {
		return nil, ended(rpctypes.ErrLeaseNotFound)
	}
	at := time.Now()
	lease, err := r.Lease(ctx, number, false)
	if err != nil {
		return nil, ended(err)
	}
	return &election.Session{
		ID: strconv.FormatInt(number, 16), Datacenter: r.Datacenter(), Store: r.Store(), Behavior: election.BehaviorDelete, TTL: lease.Granted, Read: at, Expires: at.Add(lease.Remaining),
	}, nil
}

// Surroundings reads the members beside a leader's key, by which Patroni is recognised in any namespace. They compete for it.
func Surroundings(ctx context.Context, c API, key string) election.Surroundings {
	s := election.Surroundings{At: time.Now(), Key: key}
	if path.Base(key) != "leader" {
		return s
	}
	members, err := List(ctx, c, election.PrefixRange(election.Parent(key)+"members/"))
	if err != nil {
		s.SiblingsErr = sanitize.Line("sibling keys: "+classify(err, nil).Error(), errorLength)
	}
	for _, kv := range members.KVs {
		lease := strconv.FormatInt(kv.Lease, 16)
		s.Siblings = append(s.Siblings, election.Pair{Key: string(kv.Key), Value: kv.Value, Session: lease})
		s.Sessions = append(s.Sessions, &election.Session{ID: lease, Store: c.Store()})
	}
	return s
}

// Holdings returns the keys that are attached to leases; the key of a candidate is that of its queue. It needs no search.
// [election.ErrIncomplete] reports that the user may not read some.
func (r Reader) Holdings(ctx context.Context, leases []string, _ func(done, total int)) (held []election.Pair, hidden error) {
	for _, id := range leases {
		number, err := leaseID(id)
		if err != nil {
			return nil, err
		}
		lease, err := r.Lease(ctx, number, true)
		switch err = classify(err, nil); {
		case errors.Is(err, election.ErrDenied):
			hidden = election.ErrIncomplete
		case err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound):
			return nil, err
		}
		for _, key := range lease.Keys {
			if prefix, name := election.Parent(key), path.Base(key); len(prefix) > 1 && candidate(name, number) {
				key = strings.TrimSuffix(prefix, "/")
			}
			held = append(held, election.Pair{Key: key, Session: id})
		}
	}
	return held, hidden
}

// Cluster returns the ID of the cluster as etcdctl prints it, or "" if no member responds.
func (c *Client) Cluster(ctx context.Context) string {
	etcd, err := c.open()
	if err != nil {
		return ""
	}
	members, err := etcd.MemberList(ctx)
	if err != nil {
		return ""
	}
	return clusterName(members.Header.ClusterId)
}

func clusterName(id uint64) string { return strconv.FormatUint(id, 16) }

func leaseID(session string) (int64, error) { return strconv.ParseInt(session, 16, 64) }

// failure is an error of a kind for errors.Is.
type failure struct {
	error
	kind error
}

func (f failure) Unwrap() []error { return []error{f.error, f.kind} }

// classify adds the sentinel error of package election to an error of a read, and what to do if the user may not read all
// keys of the patterns: etcd refuses the whole range.
func classify(err error, ps election.Patterns) error {
	var answer rpctypes.EtcdError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, election.ErrDenied):
		return err
	case !errors.As(err, &answer) || answer.Code() == codes.Unavailable:
		return failure{fmt.Errorf("cannot reach etcd: %w", err), election.ErrUnreachable}
	case answer.Code() == codes.PermissionDenied, answer.Code() == codes.Unauthenticated,
		errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrAuthFailed):
		if errors.Is(err, rpctypes.ErrPermissionDenied) && len(ps) > 0 {
			err = fmt.Errorf("%w: this user may not read all keys of %s; select others with -k, electop doctor lists the rights", err, strings.Join(ps.Strings(), ", "))
		}
		return failure{err, election.ErrDenied}
	}
	return err
}
