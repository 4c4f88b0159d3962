package etcdx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"

	"electop/election"
	"electop/election/sanitize"
	"electop/election/tracker"
	"electop/internal/feed"
)

// DefaultPattern selects every queue, and no other key.
const DefaultPattern = "**"

// API is what an observer needs of one of etcd's APIs; see [Client] and [V2].
type API interface {
	List(ctx context.Context, ranges ...election.Range) (Listed, error)
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
	// leaseReads is the number of leases that are read at the same time, and rereads the number of leases that are read
	// again within leaseTick: each read costs CPU time.
	leaseReads = 32
	rereads    = 50
	leaseTick  = 500 * time.Millisecond
	listEvery  = 5 * time.Second
	// mostLeases is the number of leaders above which [Once] reads no leases: they would take longer than the keys.
	mostLeases  = 1000
	errorLength = 300
	source      = "etcd"
)

// Observer observes the elections of the patterns in one cluster.
type Observer struct {
	*feed.Feed
	client  API
	options feed.Options

	mu        sync.Mutex
	patterns  election.Patterns
	restart   context.CancelFunc // ends the running watch
	elections *Elections
	leaders   map[string]string            // the lease of each leader, by key
	leases    map[string]*election.Session // those that were read, by ID
	unread    []string                     // leases of new leaders
	rereadAt  time.Time                    // when the next lease should be read again
	studied   string
	listing   sync.Mutex // orders the observations about the list; never locked while mu is
	listed    bool       // the snapshots contain the list of sessions
	listedAt  time.Time  // before the latest read of the list
	revision  uint64
	cluster   uint64        // of the latest list
	changed   chan struct{} // a leader may have changed
	begun     chan beginning
	late      atomic.Pointer[election.HistoryRead] // was read before etcd responded
}

// NewObserver returns an idle observer; see [feed.Feed.Run].
func NewObserver(c API, o feed.Options) *Observer {
	o.Store, o.Patterns = c.Store(), o.Patterns.Rooted()
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.ExplainWithin = cmp.Or(o.ExplainWithin, tracker.ExplainWithin)
	var observer *Observer
	if recall := o.Recall; recall != nil {
		o.Recall = func(ctx context.Context) election.HistoryRead {
			past := recall(ctx)
			observer.mu.Lock()
			defer observer.mu.Unlock()
			return observer.elections.Recall(past)
		}
	}
	observer = &Observer{
		elections: NewElections(nil, nil),
		Feed:      feed.New(o), client: c, options: o, patterns: o.Patterns, restart: func() {},
		leaders: map[string]string{}, leases: map[string]*election.Session{}, changed: make(chan struct{}, 1), begun: make(chan beginning, 1),
	}
	if name := c.Datacenter(); name != "" { // every snapshot must contain it
		observer.Send(false, election.DatacenterRead{At: time.Now(), Datacenter: name})
	}
	return observer
}

// Run observes until ctx ends.
func (o *Observer) Run(ctx context.Context) error {
	return o.Feed.Run(ctx, func(ctx context.Context) feed.Hooks {
		o.Go(func() { o.readLeases(ctx) })
		return feed.Hooks{
			Watch:  func() { o.watch(ctx) },
			Replay: o.replay,
			Happened: func(events []election.Event, _ func(string) *election.Election) {
				lost := election.Without(events, func(e election.Event) bool { return e.Type != election.Vacated || e.Initial || e.Gap })
				o.mu.Lock()
				revision := o.revision
				o.mu.Unlock()
				if len(lost) > 0 {
					o.Go(func() { o.investigate(ctx, lost, revision) })
				}
			},
			Jumped: o.again,
		}
	})
}

// again ends the running watch, so that all keys are listed again.
func (o *Observer) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.restart()
}

// Patterns returns the current patterns.
func (o *Observer) Patterns() election.Patterns {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.patterns
}

// SetPatterns replaces the patterns and returns immediately.
func (o *Observer) SetPatterns(ps election.Patterns) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.patterns = ps.Rooted()
	o.restart()
}

// WatchChecks does nothing: etcd has no health checks of nodes.
func (o *Observer) WatchChecks([]string) {}

// Study keeps the lease and the members of one election current.
func (o *Observer) Study(key string) {
	o.mu.Lock()
	o.studied = key
	o.mu.Unlock()
	o.Send(true, election.SurroundingsRead{Surroundings: election.Surroundings{Key: key, At: time.Now()}})
}

// WatchSessions adds the leases to the snapshots while on is true.
func (o *Observer) WatchSessions(on bool) {
	o.listing.Lock()
	o.mu.Lock()
	o.listed, o.listedAt = on, time.Time{}
	o.mu.Unlock()
	if !on {
		o.Fold(true, election.SessionListUnwatched{At: time.Now()})
	}
	o.listing.Unlock()
	o.Deliver()
}

// listSessions sends all leases, or those of the leaders if the user may not list the others.
func (o *Observer) listSessions(ctx context.Context) {
	ids, err := o.client.Leases(ctx)
	if err != nil {
		o.mu.Lock()
		ids = slices.Collect(maps.Keys(o.leases))
		o.mu.Unlock()
	}
	slices.Sort(ids)
	read, _ := sessions(ctx, o.client, ids)
	o.listing.Lock()
	o.mu.Lock()
	on := o.listed
	o.mu.Unlock()
	if on && (len(read) > 0 || err == nil) { // the watch reports an unreachable cluster
		o.Fold(true, election.SessionListRead{At: time.Now(), Sessions: read, Partial: errors.Is(classify(err, nil), election.ErrDenied)})
	}
	o.listing.Unlock()
	o.Deliver()
}

// watch observes the keys until ctx ends.
func (o *Observer) watch(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		watching, cancel := context.WithCancel(ctx)
		o.mu.Lock()
		before := o.options.Patterns
		o.options.Patterns, o.restart = o.patterns, cancel
		ps := o.patterns
		o.mu.Unlock()
		if !slices.Equal(before.Strings(), ps.Strings()) {
			o.Send(true, election.PatternsSet{At: time.Now(), Patterns: ps})
		}
		o.follow(watching, before, ps, first)
		cancel()
	}
}

// follow reports the elections of the patterns until ctx ends. before are the patterns of the previous call.
func (o *Observer) follow(ctx context.Context, before, ps election.Patterns, first bool) {
	elections, stale := NewElections(ps, Single(ps)), false
	o.mu.Lock()
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
			read.AfterGap = u.Gap || !first
			var batch []election.Observation
			past := o.late.Swap(nil)
			if o.mu.Lock(); !first && u.cluster == o.cluster { // this process was suspended, or has other patterns
				past = &election.HistoryRead{Parts: []election.RecordedPart{{Datacenter: u.Datacenter, Patterns: before, Until: at, Newest: o.revision}}}
			}
			o.cluster = u.cluster
			o.mu.Unlock()
			if past != nil && !u.Gap {
				batch = o.repeat(ctx, beginning{u, at}, *past)
			}
			batch = append(batch, election.DatacenterRead{At: at, Datacenter: u.Datacenter}, up)
			o.report(uint64(u.Revision), true, batch, read) //nolint:gosec // revisions are positive
			u.KVs = nil
			select {
			case o.begun <- beginning{u, at}:
			default:
			}
		case Changed:
			o.mu.Lock()
			reads := elections.Change(u.Events, u.Revision)
			o.mu.Unlock()
			for i := range reads {
				reads[i].AfterGap = stale // the times of the changes during an outage are unknown
			}
			o.report(uint64(u.Revision), false, []election.Observation{up}, reads...) //nolint:gosec // as above
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
			text := sanitize.Line(err.Error(), errorLength)
			o.options.Logger.Debug("query failed", "query", source, "error", text)
			o.Send(true, election.LinkLost{At: at, Source: source, Error: text, RetryAt: retry, Refused: errors.Is(err, election.ErrDenied), Gap: u.Gap})
		}
	}
}

// report sends what was read at a revision, after other observations.
func (o *Observer) report(revision uint64, all bool, batch []election.Observation, reads ...election.KeysRead) {
	o.mu.Lock()
	o.revision = revision
	if all {
		clear(o.leaders)
	}
	for _, read := range reads {
		if !all {
			delete(o.leaders, read.Range.From)
		}
		for _, p := range read.Pairs {
			if o.leaders[p.Key] = p.Session; p.Held() && o.leases[p.Session] == nil {
				o.unread = append(o.unread, p.Session)
			}
		}
		read.At = time.Now()
		batch = append(batch, read)
	}
	o.mu.Unlock()
	o.Send(all || len(reads) > 0, batch...)
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// readLeases keeps the leases of the leaders current until ctx ends.
func (o *Observer) readLeases(ctx context.Context) {
	tick := time.NewTicker(leaseTick)
	defer tick.Stop()
	var around election.Surroundings
	for {
		again := false
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			again = true
		case <-o.changed:
		}
		o.mu.Lock()
		if o.listed && time.Since(o.listedAt) > listEvery {
			o.listedAt = time.Now()
			o.Go(func() { o.listSessions(ctx) })
		}
		studied := o.studied
		o.mu.Unlock()
		if path.Base(studied) == "leader" && (studied != around.Key || time.Since(around.At) > listEvery) {
			around = Surroundings(ctx, o.client, studied)
			o.Send(true, election.SurroundingsRead{Surroundings: around})
		}
		ids, news := o.due(time.Now(), again)
		if len(ids) == 0 {
			continue
		}
		read, failed := sessions(ctx, o.client, ids)
		o.mu.Lock()
		for _, id := range ids { // a lease that has ended is not read again
			if !slices.Contains(failed, id) {
				delete(o.leases, id)
			}
		}
		for _, s := range read {
			o.leases[s.ID] = s
			o.rereadBy(s)
		}
		for _, id := range failed {
			if o.leases[id] == nil {
				o.unread = append(o.unread, id)
			}
		}
		o.mu.Unlock()
		if len(read) > 0 {
			o.Send(news, election.SessionsRead{At: time.Now(), Sessions: read})
		}
	}
}

// due returns the leases that should be read: those of new leaders and, if again is set, the oldest reads. news is set if
// the screen shows one of them.
func (o *Observer) due(now time.Time, again bool) (ids []string, news bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	ids, o.unread = o.unread, nil
	news = len(ids) > 0
	if !again || now.Before(o.rereadAt) {
		return ids, news
	}
	o.rereadAt = now.Add(time.Minute)
	if len(o.leases) > 2*len(o.leaders)+rereads { // most do not lead any more
		all := o.leases
		o.leases = make(map[string]*election.Session, len(o.leaders))
		for _, id := range o.leaders {
			o.leases[id] = all[id]
		}
	}
	var old []*election.Session
	for _, id := range o.leaders {
		if s := o.leases[id]; s != nil {
			if o.rereadBy(s); now.Sub(s.Read) > s.TTL/3 {
				old = append(old, s)
			}
		}
	}
	slices.SortFunc(old, func(a, b *election.Session) int { return a.Read.Compare(b.Read) })
	for _, s := range old[:min(len(old), rereads)] {
		ids, news = append(ids, s.ID), news || s.ID == o.leaders[o.studied]
	}
	return ids, news
}

// rereadBy notes when a lease should be read again. The caller holds the mutex.
func (o *Observer) rereadBy(s *election.Session) {
	if at := s.Read.Add(s.TTL / 3); at.Before(o.rereadAt) {
		o.rereadAt = at
	}
}

// investigate sends the evidence for terms that ended until a revision.
func (o *Observer) investigate(ctx context.Context, lost []election.Event, revision uint64) {
	ctx, cancel := context.WithTimeout(ctx, o.options.ExplainWithin*9/10) // the tracker needs the evidence in time
	defer cancel()
	found := make([]election.Observation, len(lost))
	each(lost, func(i int, e election.Event) {
		ev := election.Evidence{SessionRead: true}
		id, err := leaseID(e.Session)
		if err == nil {
			var lease Lease
			lease, err = o.client.Lease(ctx, id, false)
			ev.Expired = err != nil && lease.Granted > 0
		}
		switch {
		case err == nil:
			ev.SessionExists, ev.DeleteIndex = true, revision
		case !errors.Is(err, rpctypes.ErrLeaseNotFound):
			ev = election.Evidence{Err: sanitize.Line(err.Error(), errorLength)}
		}
		found[i] = election.TermEvidence{At: time.Now(), Event: e, Outcome: ev}
	})
	o.Send(true, found...)
}

// Once reads every election of the patterns once, with the leases of the leaders unless there are very many, and adds the
// elections of a history.
func Once(ctx context.Context, c API, ps election.Patterns, past election.HistoryRead) (*election.Snapshot, error) {
	start, ps := time.Now(), ps.Rooted()
	listed, err := c.List(ctx, Ranges(ps)...)
	if err != nil {
		return nil, classify(err, ps)
	}
	elections := NewElections(ps, Single(ps))
	read := elections.List(listed.KVs, listed.Revision)
	read.At = time.Now()
	t := tracker.New(tracker.Options{Patterns: ps, Store: c.Store()})
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
		read, _ := sessions(ctx, c, ids)
		t.Observe(election.SessionsRead{At: time.Now(), Sessions: read})
	}
	t.Observe(election.LinkUp{At: time.Now(), Source: source, Latency: time.Since(start)})
	return t.Snapshot(time.Now()), nil
}

// sessions reads leases until a read fails, and also returns those that may exist. It omits those that have ended.
func sessions(ctx context.Context, c API, ids []string) (read []*election.Session, failed []string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read = make([]*election.Session, len(ids))
	var mu sync.Mutex
	each(ids, func(i int, id string) {
		var err error
		if read[i], err = ReadSession(ctx, c, id); err == nil || errors.Is(err, election.ErrNoSession) {
			return
		}
		cancel() // the watch reports an unreachable cluster
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, id)
	})
	return slices.DeleteFunc(read, func(s *election.Session) bool { return s == nil }), failed
}

// each calls f for all elements, several at a time.
func each[T any](all []T, f func(i int, one T)) {
	var calls errgroup.Group
	calls.SetLimit(leaseReads)
	for i, one := range all {
		calls.Go(func() error { f(i, one); return nil })
	}
	_ = calls.Wait()
}

// ReadSession reads a lease.
func ReadSession(ctx context.Context, c API, id string) (*election.Session, error) {
	number, err := leaseID(id)
	if err != nil {
		return nil, ended(rpctypes.ErrLeaseNotFound)
	}
	at := time.Now()
	lease, err := c.Lease(ctx, number, false)
	if err != nil {
		return nil, ended(err)
	}
	return &election.Session{
		ID: strconv.FormatInt(number, 16), Datacenter: c.Datacenter(), Store: c.Store(), Behavior: election.BehaviorDelete, TTL: lease.Granted, Read: at, Expires: at.Add(lease.Remaining),
	}, nil
}

// Surroundings reads the members beside a leader's key, by which Patroni is recognised in any namespace. They compete for it.
func Surroundings(ctx context.Context, c API, key string) election.Surroundings {
	s := election.Surroundings{At: time.Now(), Key: key}
	if path.Base(key) != "leader" {
		return s
	}
	members, err := c.List(ctx, election.PrefixRange(election.Parent(key)+"members/"))
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

// Attached returns the keys that are attached to leases; the key of a candidate is that of its queue.
// [election.ErrIncomplete] reports that the user may not read some.
func Attached(ctx context.Context, c API, leases []string) (held []election.Pair, hidden error) {
	for _, id := range leases {
		number, err := leaseID(id)
		if err != nil {
			return nil, err
		}
		lease, err := c.Lease(ctx, number, true)
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
