package etcdx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/etcdx"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
	"electop/internal/feed"
)

// queueOf adds candidates to a queue, each with a lease, and returns the leases and keys in order.
func queueOf(t *testing.T, etcd *etcdtest.Cluster, prefix string, ttls ...int64) (leases []clientv3.LeaseID, keys []string) {
	t.Helper()
	for i, ttl := range ttls {
		lease, err := etcd.Grant(t.Context(), ttl)
		must(t, err)
		key := fmt.Sprintf("%s/%x", prefix, lease.ID)
		put(t, etcd, key, fmt.Sprint("c", i), clientv3.WithLease(lease.ID))
		leases, keys = append(leases, lease.ID), append(keys, key)
	}
	return leases, keys
}

// next returns the first later event of a type.
func next(t *testing.T, events <-chan election.Event, kind election.EventType) election.Event {
	t.Helper()
	for {
		if e := receive(t, events); e.Type == kind {
			return e
		}
	}
}

// started runs an observer of observer/* until the test ends.
func started(t *testing.T, options etcdx.Options, within time.Duration) (*etcdx.Observer, <-chan election.Event) {
	t.Helper()
	events := make(chan election.Event, 100)
	o := etcdx.NewObserver(newClient(t, options), feed.Options{Patterns: consultest.Patterns(t, "observer/*"), ExplainWithin: within, OnEvents: func(all []election.Event) {
		for _, e := range all {
			events <- e
		}
	}})
	running(t, o)
	return o, events
}

// running runs an observer until the test ends.
func running(t *testing.T, o *etcdx.Observer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); o.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

// A user who may not list all leases sees those of the leaders.
func TestTheListOfSessionsContainsAllLeases(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	queueOf(t, etcd, "observer/web", 600, 600)
	queueOf(t, etcd, "other", 600)
	etcd.AddReader(t, "reader", "observer/")
	for user, want := range map[string]int{"root": 3, "reader": 1} {
		o, events := started(t, etcdx.Options{Endpoints: etcd.Endpoints(), User: user, Password: user}, 0)
		next(t, events, election.Elected)
		o.WatchSessions(true)
		for {
			list := receive(t, o.Snapshots()).SessionList
			if list != nil && len(list.Sessions) == want && list.Partial == (user == "reader") && list.Sessions[0].TTL == 10*time.Minute {
				break
			}
		}
	}
}

// failing is a client whose first reads of leases fail.
type failing struct {
	*etcdx.Client
	left atomic.Int32
}

func (f *failing) Lease(ctx context.Context, id int64, keys bool) (etcdx.Lease, error) {
	if f.left.Add(-1) >= 0 {
		return etcdx.Lease{}, errors.New("no response")
	}
	return f.Client.Lease(ctx, id, keys)
}

func TestALeaseIsReadAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Shared(t)
	queueOf(t, etcd, "again/web", 600)
	client := &failing{Client: newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})}
	client.left.Store(2)
	o := etcdx.NewObserver(client, feed.Options{Patterns: patterns(t, "again/*")})
	o.WatchSessions(true)
	running(t, o)
	for read := false; !read; {
		s := receive(t, o.Snapshots())
		if l := s.SessionList; l != nil && l.Err == "" {
			t.Error("the list of sessions, of which some were not read, is complete")
		}
		read = len(s.Elections) > 0 && s.Elections[0].Session != nil
	}
}

// The changes during an outage arrive after it, so their times and causes are unknown.
func TestAnObserverMissesNoChangeOfAnOutage(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	_, keys := queueOf(t, etcd, "observer/web", 600, 600)
	proxy := etcdtest.StartProxy(t, etcd)
	_, events := started(t, etcdx.Options{Endpoints: []string{proxy.Endpoint()}}, 0)
	next(t, events, election.Elected)
	proxy.Cut()
	next(t, events, election.ConnectionLost)
	_, err := etcd.Delete(t.Context(), keys[0])
	must(t, err)
	proxy.Heal()
	lost, elected, explained := next(t, events, election.Vacated), next(t, events, election.Elected), next(t, events, election.Explained)
	if lost.Leader != "c0" || elected.Leader != "c1" || !lost.Gap || !elected.Gap || elected.VacancyKnown || explained.Cause != election.Unknown {
		t.Errorf("%+v, %+v, %+v", lost, elected, explained)
	}
}

// A loss of data is told with its reason, and its gap begins with the last response.
func TestAnObserverTellsThatASnapshotWasRestored(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	queueOf(t, etcd, "observer/web", 600)
	snapshot := etcd.Snapshot(t)
	queueOf(t, etcd, "observer/jobs", 600)
	proxy := etcdtest.StartProxy(t, etcd)
	_, events := started(t, etcdx.Options{Endpoints: []string{proxy.Endpoint()}}, 0)
	next(t, events, election.Elected)
	proxy.Cut()
	cut := time.Now()
	etcd.Restore(t, snapshot)
	lost := next(t, events, election.ConnectionLost)
	proxy.Heal()
	last := lost
	for !strings.Contains(last.Error, "restored from a snapshot") {
		last = next(t, events, election.ConnectionLost)
	}
	if vacated := next(t, events, election.Vacated); lost.Time.After(cut) || vacated.SeenUntil.After(cut) || vacated.SeenUntil.IsZero() {
		t.Errorf("cut at %s: %+v, %+v", cut, lost, vacated)
	}
}

func TestAnObserverReportsTheLossesOfAQueue(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Shared(t)
	leases, keys := queueOf(t, etcd, "observer/web", 600, 600, 15, 600) // a starved test renews the third lease late
	alive, die := context.WithCancel(t.Context())
	renewals, err := etcd.KeepAlive(alive, leases[2])
	must(t, err)
	go func() {
		for range renewals {
		}
	}()
	o, events := started(t, etcdx.Options{Endpoints: etcd.Endpoints()}, patience)
	first := next(t, events, election.Elected)
	if !first.Initial || first.Leader != "c0" || first.Key != "observer/web" {
		t.Errorf("%+v", first)
	}
	leased := func(leader string) (e *election.Election) { // electop shows a leader before it reads the lease
		for e = o.Snapshot().Elections[0]; e.Leader != leader || e.Session == nil; e = o.Snapshot().Elections[0] {
			<-o.Snapshots()
		}
		return e
	}
	e := leased("c0")
	if left := time.Until(e.Session.Expires); e.Session.TTL != 10*time.Minute || left > 10*time.Minute || left < 5*time.Minute || len(e.Pair.Queue) != 3 {
		t.Errorf("%+v, queue %+v", e.Session, e.Pair.Queue)
	}
	for i, step := range []struct {
		cause election.Cause
		end   func() error
	}{
		{election.Released, func() error { _, err := etcd.Delete(t.Context(), keys[0]); return err }},
		{election.SessionDestroyed, func() error { _, err := etcd.Revoke(t.Context(), leases[1]); return err }},
		{election.SessionExpired, func() error { die(); return nil }}, // or probably expired, on a slow machine
	} {
		leased(fmt.Sprint("c", i))
		must(t, step.end())
		lost := next(t, events, election.Vacated)
		elected := next(t, events, election.Elected)
		explained := next(t, events, election.Explained)
		if want := fmt.Sprint("c", i); lost.Leader != want || elected.Leader != fmt.Sprint("c", i+1) || !strings.HasPrefix(string(explained.Cause), string(step.cause)) || explained.Evidence == "" {
			t.Errorf("%+v, %+v, %+v; want the loss of %s: %s", lost, elected, explained, want, step.cause)
		}
	}
}

func TestReadingOnce(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Shared(t)
	leases, _ := queueOf(t, etcd, "/once/jobs", 600, 600)
	lease := grant(t, etcd)
	put(t, etcd, "/once/single", "s", clientv3.WithLease(lease))
	client := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	held, err := etcdx.Reader{client}.Holdings(t.Context(), []string{fmt.Sprintf("%x", leases[0]), fmt.Sprintf("%x", lease)}, nil)
	must(t, err)
	if len(held) != 2 || held[0].Key != "/once/jobs" || held[1].Key != "/once/single" {
		t.Errorf("%+v", held)
	}
	past := election.HistoryRead{}
	for _, key := range []string{"/once/single", "/once/gone"} {
		past.Elections = append(past.Elections, &election.Election{Name: key, Datacenter: client.Cluster(t.Context()), Exists: true, Pair: election.Pair{Key: key, Session: "1", CreateIndex: 1, LockIndex: 1}, RecordedUntil: time.Now()})
	}
	s, err := etcdx.Reader{client}.Once(t.Context(), patterns(t, "**"), past)
	must(t, err)
	if s.Find("/once/single") != nil || s.Find("/once/gone") == nil {
		t.Error("a key that the patterns do not select has no leader, or one that does not exist is missing")
	}
	for _, c := range []struct {
		pattern string
		want    []string
	}{{"/once/**", []string{"/once/jobs c0", "/once/single s"}}, {"/once/j*", []string{"/once/jobs c0"}}, {"once/**", nil}} {
		s := once(t, client, c.pattern)
		var got []string
		for _, e := range s.Elections {
			got = append(got, e.Key()+" "+e.Leader)
			if e.Session == nil || e.Session.TTL != 10*time.Minute {
				t.Errorf("%+v", e.Session)
			}
		}
		if !slices.Equal(got, c.want) || s.Datacenter != client.Cluster(t.Context()) || !s.Loaded {
			t.Errorf("%s: %q of %s", c.pattern, got, s.Datacenter)
		}
	}
}
