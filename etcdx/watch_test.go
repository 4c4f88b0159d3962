package etcdx_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"electop/election"
	"electop/etcdx"
	"electop/internal/etcdtest"
)

// A lease has keys in two ranges. Its end is one change, although etcd sends one response for each range once there are
// keys between them.
func TestChangesOfOneRevisionArriveTogether(t *testing.T) {
	etcd := etcdtest.Shared(t)
	o := observe(t, etcd, etcdx.Options{Endpoints: etcd.Endpoints()}, election.PrefixRange("together/a/"), election.PrefixRange("together/b/"))
	for i := range 50 {
		lease := grant(t, etcd)
		keys := []string{"together/a/", "together/b/"}
		if i >= 25 {
			keys = append(keys, "together/ab/")
		}
		for _, key := range keys {
			put(t, etcd, key+fmt.Sprint(i), "", clientv3.WithLease(lease))
		}
		_, err := etcd.Revoke(t.Context(), lease)
		must(t, err)
		for want := 1; want <= 2; want++ {
			if got := await[etcdx.Changed](o); len(got.Events) != 1 {
				t.Fatal(got)
			}
		}
		if got := await[etcdx.Changed](o); len(got.Events) != 2 {
			t.Fatal(got)
		}
	}
	o.complete(0)
}

// The caller does nothing while 64 MB of changes are written. Afterwards it receives all of them.
func TestASlowCallerNeedsNoMemory(t *testing.T) {
	etcd := etcdtest.Start(t, 1)
	c := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	const transactions, keys, size = 500, 32, 4 << 10
	value := strings.Repeat("x", size)
	got, last := 0, int64(0)
	for u := range c.Watch(t.Context(), election.PrefixRange("slow/")) {
		switch u := u.(type) {
		case etcdx.Listed:
			last = put(t, etcd, "slow/first", "")
		case etcdx.Stale:
			t.Log(u.Err) // on a busy machine; every change arrives nevertheless
		case etcdx.Changed:
			if got++; u.Revision != last {
				if u.Revision != last+int64(got)-1 {
					t.Fatalf("revision %d is the change %d", u.Revision, got)
				}
				break
			}
			before := memory()
			for i := range transactions {
				var ops []clientv3.Op
				for k := range keys {
					ops = append(ops, clientv3.OpPut(fmt.Sprint("slow/", k), value+fmt.Sprint(i)))
				}
				_, err := etcd.Txn(t.Context()).Then(ops...).Commit()
				must(t, err)
			}
			if used := memory() - before; used > transactions*keys*size/2 {
				t.Errorf("%d MB in use", used>>20)
			}
		}
		if got == transactions+1 {
			break
		}
	}
}

func memory() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// With 10,000 elections and two ranges, 1,000 changes arrive about when the writer's request returns.
func BenchmarkWatch(b *testing.B) {
	etcd := etcdtest.Shared(b)
	for i := range 10_000 {
		_, err := etcd.Put(b.Context(), fmt.Sprintf("bench/%d/1", i), "a")
		must(b, err)
	}
	c, err := etcdx.New(etcdx.Options{Endpoints: etcd.Endpoints()})
	must(b, err)
	defer c.Close()
	seen := make(chan time.Time, 1)
	go func() {
		for u := range c.Watch(b.Context(), election.PrefixRange("bench/"), election.PrefixRange("other/")) {
			switch u.(type) {
			case etcdx.Changed, etcdx.Listed:
				seen <- time.Now()
			}
		}
	}()
	<-seen
	var late []time.Duration
	for i := 0; b.Loop(); i++ {
		_, err := etcd.Put(b.Context(), fmt.Sprintf("bench/%d/1", i%10_000), "b")
		must(b, err)
		written := time.Now()
		late = append(late, (<-seen).Sub(written))
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2].Microseconds()), "p50-µs-late")
	b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "p99-µs-late")
}

// kv is a server that reads, but does not watch.
type kv struct{ pb.UnimplementedKVServer }

func (kv) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return &pb.RangeResponse{Header: &pb.ResponseHeader{ClusterId: 1, Revision: 1}}, nil
}

// ends is a server that accepts each watch, and then ends it.
type ends struct{ pb.UnimplementedWatchServer }

func (ends) Watch(stream pb.Watch_WatchServer) error {
	_ = stream.Send(&pb.WatchResponse{Header: &pb.ResponseHeader{ClusterId: 1}, Created: true})
	return errors.New("the server ends the watch")
}

func TestAServerRefusesToWatch(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for 5 s")
	}
	for reason, more := range map[string]func(*grpc.Server){
		"unknown service etcdserverpb.Watch": func(*grpc.Server) {}, "the server ends the watch": func(s *grpc.Server) { pb.RegisterWatchServer(s, ends{}) },
	} {
		refuses(t, reason, more)
	}
}

func refuses(t *testing.T, reason string, more func(*grpc.Server)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer()
	pb.RegisterKVServer(server, kv{})
	more(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	o := observe(t, nil, etcdx.Options{Endpoints: []string{listener.Addr().String()}}, queue)
	o.stale(time.Now(), reason)
}

// A cluster that never responded has no time of a latest response.
func TestAWatchWithoutAServer(t *testing.T) {
	v2, err := etcdx.NewV2(etcdx.Options{Endpoints: []string{"127.0.0.1:1"}})
	must(t, err)
	for _, c := range []etcdx.API{newClient(t, etcdx.Options{Endpoints: []string{"127.0.0.1:1"}}), v2} {
		for u := range c.Watch(t.Context(), queue) {
			if stale, ok := u.(etcdx.Stale); !ok || !stale.Since.IsZero() {
				t.Error(u)
			}
			break
		}
	}
}
