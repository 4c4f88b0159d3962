package etcdx_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"

	"electop/election"
	"electop/etcdx"
	"electop/internal/consultest"
	"electop/internal/etcdtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(etcdtest.Wrap(m)) }

const patience = consultest.Patience

func newClient(t *testing.T, opts etcdx.Options) *etcdx.Client {
	t.Helper()
	if opts.User != "" { // a slow machine needs seconds to compare passwords
		opts.DialTimeout = cmp.Or(opts.DialTimeout, patience)
	}
	c, err := etcdx.New(opts)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// once reads the elections of a pattern.
func once(t *testing.T, c etcdx.API, pattern string) *election.Snapshot {
	t.Helper()
	s, err := etcdx.Reader{c}.Once(t.Context(), patterns(t, pattern), election.HistoryRead{})
	must(t, err)
	return s
}

// observer applies the updates of a watch to a state, and checks that each fits.
type observer struct {
	t       *testing.T
	etcd    *etcdtest.Cluster
	ranges  []election.Range
	updates chan etcdx.Update
	state   map[string]*mvccpb.KeyValue
	first   int64 // revision of the last list
	last    int64
	changes []string // since then
	gaps    int
	faults  []error // of Stale
}

// observe starts a watch through the endpoints, and returns after the first list.
func observe(t *testing.T, etcd *etcdtest.Cluster, opts etcdx.Options, ranges ...election.Range) *observer {
	t.Helper()
	o := &observer{t: t, etcd: etcd, ranges: ranges, updates: make(chan etcdx.Update, 1<<16)}
	c := newClient(t, opts)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for u := range c.Watch(ctx, ranges...) {
			o.updates <- u
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	o.listed()
	return o
}

// await returns the next update of a type, after applying all before it.
func await[T etcdx.Update](o *observer) T {
	o.t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case u := <-o.updates:
			o.apply(u)
			if got, ok := u.(T); ok {
				return got
			}
		case <-timeout.C:
			var want T
			o.t.Fatalf("no %T; revision %d, %d changes, faults %v", want, o.last, len(o.changes), o.faults)
		}
	}
}

func (o *observer) listed() etcdx.Listed { o.t.Helper(); return await[etcdx.Listed](o) }

// stale awaits Stale, which must contain a text.
func (o *observer) stale(began time.Time, reason string) {
	o.t.Helper()
	for {
		got := await[etcdx.Stale](o)
		o.t.Logf("stale after %s: %v", time.Since(began).Round(10*time.Millisecond), got.Err)
		if strings.Contains(got.Err.Error(), reason) {
			return
		}
	}
}

func (o *observer) live() { o.t.Helper(); await[etcdx.Live](o) }

func (o *observer) apply(u etcdx.Update) {
	o.t.Helper()
	switch u := u.(type) {
	case etcdx.Listed:
		o.state, o.first, o.last, o.changes = map[string]*mvccpb.KeyValue{}, u.Revision, u.Revision, nil
		for _, kv := range u.KVs {
			o.state[string(kv.Key)] = kv
		}
		if u.Gap {
			o.gaps++
		}
	case etcdx.Changed:
		if u.Revision <= o.last {
			o.t.Fatalf("revision %d after %d", u.Revision, o.last)
		}
		o.last = u.Revision
		for _, e := range u.Events {
			key := string(e.Kv.Key)
			version := int64(1) // etcd counts the changes since the key was created
			if before := o.state[key]; before != nil && e.Type == mvccpb.PUT {
				version += before.Version
			}
			if e.Type == mvccpb.PUT && e.Kv.Version != version {
				o.t.Fatalf("%v is not version %d after %v", e, version, o.state[key])
			}
			o.changes = append(o.changes, line(e))
			o.state[key] = e.Kv
			if e.Type == mvccpb.DELETE {
				delete(o.state, key)
			}
		}
	case etcdx.Stale:
		o.faults = append(o.faults, u.Err)
	}
}

func line(e *mvccpb.Event) string { return fmt.Sprintf("%d %v %s", e.Kv.ModRevision, e.Type, e.Kv.Key) }

// complete writes a last change, awaits it, and compares all changes since the last list with those that etcd recorded.
func (o *observer) complete(gaps int) {
	o.t.Helper()
	end := o.sync()
	want := map[string]bool{}
	for _, r := range o.ranges {
		ctx, cancel := context.WithTimeout(o.t.Context(), patience)
		defer cancel()
		recorded := o.etcd.Watch(ctx, r.From, clientv3.WithRange(r.To), clientv3.WithRev(o.first+1), clientv3.WithProgressNotify())
		for at := int64(0); at < end; {
			_ = o.etcd.RequestProgress(ctx)
			response, open := <-recorded
			if !open || response.Err() != nil {
				o.t.Fatal(response.Err())
			}
			for _, e := range response.Events {
				if e.Kv.ModRevision <= end {
					want[line(e)] = true
				}
			}
			at = response.Header.Revision
		}
		cancel()
	}
	for _, c := range o.changes {
		delete(want, c)
	}
	if len(want) > 0 || o.gaps != gaps {
		o.t.Fatalf("%d gaps, missing: %v", o.gaps, want)
	}
}

// sync writes a change and awaits it.
func (o *observer) sync() int64 {
	o.t.Helper()
	revision := put(o.t, o.etcd, o.ranges[0].From, "")
	for o.last < revision {
		await[etcdx.Changed](o)
	}
	return revision
}

// grant returns a new lease of 10 minutes.
func grant(t *testing.T, etcd *etcdtest.Cluster) clientv3.LeaseID {
	t.Helper()
	lease, err := etcd.Grant(t.Context(), 600)
	must(t, err)
	return lease.ID
}

// put writes a key, and repeats it until etcd confirms it.
func put(t *testing.T, etcd *etcdtest.Cluster, key, value string, opts ...clientv3.OpOption) int64 {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		response, err := etcd.Put(ctx, key, value, opts...)
		cancel()
		if err == nil {
			return response.Header.Revision
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

var must = consultest.Must

func slow(t *testing.T) {
	t.Helper()
	if os.Getenv("ELECTOP_FAULTS") != "all" {
		t.Skip("slow by nature; set ELECTOP_FAULTS=all")
	}
}
