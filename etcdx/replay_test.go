package etcdx_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"electop/election"
	"electop/etcdx"
	"electop/internal/etcdtest"
	"electop/internal/feed"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// change is a change of a leader that the test made, while an observer ran or not.
type change struct {
	text     string
	at       time.Time
	observed bool
}

// candidates changes queues at random.
type candidates struct {
	t      *testing.T
	etcd   *etcdtest.Cluster
	random *rand.Rand
	queues map[string][]string // keys in order
	leases map[string]clientv3.LeaseID
	want   map[string][]change
	// observed is set while an observer runs.
	observed bool
}

func (c *candidates) join(queue string) {
	lease, err := c.etcd.Grant(c.t.Context(), 3600)
	must(c.t, err)
	key := fmt.Sprintf("%s/%x", queue, lease.ID)
	put(c.t, c.etcd, key, "", clientv3.WithLease(lease.ID))
	c.queues[queue], c.leases[key] = append(c.queues[queue], key), lease.ID
	if len(c.queues[queue]) == 1 {
		c.changed(queue, election.Elected)
	}
}

func (c *candidates) changed(queue string, kind election.EventType) {
	c.want[queue] = append(c.want[queue], change{fmt.Sprintf("%s %x", kind, c.leases[c.queues[queue][0]]), time.Now(), c.observed})
}

func (c *candidates) leave(queue string, i int) {
	key := c.queues[queue][i]
	var err error
	if c.random.IntN(2) == 0 {
		_, err = c.etcd.Delete(c.t.Context(), key)
	} else {
		_, err = c.etcd.Revoke(c.t.Context(), c.leases[key])
	}
	must(c.t, err)
	if i == 0 {
		c.changed(queue, election.Vacated)
	}
	c.queues[queue] = slices.Delete(c.queues[queue], i, i+1)
	if i == 0 && len(c.queues[queue]) > 0 {
		c.changed(queue, election.Elected)
	}
}

// change returns the number of changes of leaders.
func (c *candidates) change(n int) (changes int) {
	before := c.count()
	for range n {
		queue := fmt.Sprint("replay/", c.random.IntN(3))
		if all := len(c.queues[queue]); all > 0 && c.random.IntN(2) == 0 {
			c.leave(queue, c.random.IntN(min(all, 2)))
		} else {
			c.join(queue)
		}
	}
	return c.count() - before
}

func (c *candidates) count() (n int) {
	for _, all := range c.want {
		n += len(all)
	}
	return n
}

// compact lets etcd forget the changes since some earlier ones, of which only the result remains.
func (c *candidates) compact(before map[string][]change) {
	got, err := c.etcd.Get(c.t.Context(), "replay")
	must(c.t, err)
	_, err = c.etcd.Compact(c.t.Context(), got.Header.Revision)
	must(c.t, err)
	for queue, all := range c.want {
		old, lost := before[queue], all[len(before[queue]):]
		led := len(old) > 0 && strings.HasPrefix(old[len(old)-1].text, string(election.Elected))
		leads := len(c.queues[queue]) > 0
		switch {
		case len(lost) == 0:
			continue
		case led && leads:
			lost = []change{lost[0], lost[len(lost)-1]}
		case led:
			lost = lost[:1]
		case leads:
			lost = lost[len(lost)-1:]
		default:
			lost = nil
		}
		c.want[queue] = slices.Concat(old, lost)
	}
}

func receive[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case v = <-from:
	case <-ctx.Done():
		t.Fatal("the observer reports nothing")
	}
	return v
}

// observes records a history until stop is called. told receives the changes of leaders after the start.
func observes(t *testing.T, etcd *etcdtest.Cluster, path string, replay bool) (told chan election.Event, stop func()) {
	t.Helper()
	client := newClient(t, etcdx.Options{Endpoints: etcd.Endpoints()})
	var o *etcdx.Observer
	writer := sqlite.NewWriter(path, sqlite.WriterOptions{Observer: "test", Finish: patience, Cluster: client.Cluster, Mark: func() { o.Mark() }})
	told = make(chan election.Event, 10_000)
	loaded := make(chan struct{}, 10)
	o = etcdx.NewObserver(client, feed.Options{
		Patterns: patterns(t, "replay/*"), Replay: replay, RecallPatience: time.Hour,
		OnEvents: func(all []election.Event) {
			writer.Record(all)
			for _, e := range all {
				if !e.Initial && (e.Type == election.Elected || e.Type == election.Vacated) {
					told <- e
				}
			}
		},
		OnMark: func(s *election.Snapshot, ps election.Patterns) {
			writer.Mark(s, ps)
			loaded <- struct{}{}
		},
		Recall: func(ctx context.Context) election.HistoryRead {
			file := sqlite.NewFile(path, client.Cluster)
			defer file.Close()
			past, _ := history.Recall(ctx, file, time.Now()) // the first has none
			return past
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	observing, writing := make(chan struct{}), make(chan error, 1)
	go func() { defer close(observing); o.Run(ctx) }()
	storing, stored := context.WithCancel(context.Background())
	go func() { writing <- writer.Run(storing) }()
	receive(t, loaded)
	for len(told) > 0 { // the replayed ones
		<-told
	}
	return told, func() {
		cancel()
		<-observing
		stored()
		must(t, <-writing)
	}
}

// check compares what a history tells with what was written.
func (c *candidates) check(path string, unbounded bool) {
	c.t.Helper()
	file := sqlite.NewFile(path)
	defer file.Close()
	page, err := file.Events(c.t.Context(), history.EventQuery{Types: []election.EventType{election.Elected, election.Vacated}, Limit: 10_000})
	must(c.t, err)
	got := map[string][]string{}
	slices.Reverse(page.Items) // the newest is the first
	for i := range page.Items {
		e := page.Items[i]
		n := len(got[e.Key])
		if got[e.Key] = append(got[e.Key], fmt.Sprint(e.Type, " ", e.Session)); n >= len(c.want[e.Key]) {
			continue
		}
		// The test notes a change after etcd made it.
		between := "between "
		if unbounded {
			between = "before "
		}
		one := c.want[e.Key][n] // an observer that ends may miss the last changes
		if e.Gap && (e.Time.Before(one.at) || !unbounded && !one.observed && e.SeenUntil.After(one.at) || !strings.HasPrefix(e.Between(e.Time), between)) {
			c.t.Errorf("%+v: %+v", one, e)
		}
	}
	for queue, all := range c.want {
		var want []string
		for _, one := range all {
			want = append(want, one.text)
		}
		if unbounded && len(c.queues[queue]) == 0 {
			want = nil
		}
		if !slices.Equal(got[queue], want) {
			c.t.Errorf("%s:\n%q\nwant\n%q", queue, got[queue], want)
		}
	}
}

// What a history tells is what happened, once, although no observer ran all the time.
func TestAHistoryContainsTheChangesWithoutAnObserver(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t, 1)
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	c := &candidates{t, etcd, rand.New(rand.NewPCG(seed, 0)), map[string][]string{}, map[string]clientv3.LeaseID{}, map[string][]change{}, false}
	c.change(20)
	path := filepath.Join(t.TempDir(), "all.db")
	_, stop := observes(t, etcd, path, true)
	stop()
	c.check(path, true)
	c.want = map[string][]change{}
	path = filepath.Join(t.TempDir(), "new.db")
	for round := range 6 {
		told, stop := observes(t, etcd, path, false)
		c.observed = true
		for n := c.change(10); round%2 == 0 && n > 0; n-- { // otherwise, the next observer may have to repeat them
			receive(t, told)
		}
		stop()
		c.observed = false
		known := maps.Clone(c.want)
		c.change(10)
		if round == 4 {
			c.compact(known)
			c.change(10)
		}
	}
	_, stop = observes(t, etcd, path, false)
	stop()
	c.check(path, false)
}
