package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// The load of the soak test is one change per writer and writePause: 20 changes per second.
const (
	soakWriters = 5
	soakKeys    = 12 // pause of each writer after a change
	writePause  = 250 * time.Millisecond
)

// soak contains a cluster, a proxy in front of its first server, an electop that uses the proxy, and writers that do
// not use the proxy.
type soak struct {
	t       *testing.T
	rng     *rand.Rand
	agents  []*consultest.Agent
	proxy   *consultest.Proxy
	token   *api.ACLToken
	truth   *truth
	writers []*writer
	watch   *watching
	older   []byte // the latest snapshot
	// faulty contains the periods with a fault, including the time to recover.
	faulty []period
}

type period struct {
	name       string
	start, end time.Time
}

// This test injects random faults for a given time, at 20 changes per second: `make soak SOAK=30m`. Every event must
// be true, and every term must be reported or counted as missed.
func TestSoak(t *testing.T) {
	text := os.Getenv("SOAK")
	if text == "" {
		t.Skip("set the duration with SOAK, for example SOAK=30m")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	s := newSoak(t)
	first, worst := s.play(length)
	v := s.settle()
	s.report(v, first, worst)
}

func newSoak(t *testing.T) *soak {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SOAK_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d (SOAK_SEED=%d repeats the faults)", seed, seed)
	s := &soak{t: t, rng: rand.New(rand.NewPCG(seed, 1)), truth: newTruth()}
	s.agents = consultest.Cluster(t, 3, consultest.WithACL(), keepDeadServers())
	s.proxy = consultest.StartProxy(t, s.agents[0].Addr(), nil)
	s.token = readerToken(t, s.agents[0].Client())
	var clients []*api.Client
	for _, a := range s.agents {
		clients = append(clients, a.Client())
	}
	for i := range soakWriters {
		var keys []string
		for j := range soakKeys {
			keys = append(keys, fmt.Sprintf("service/soak-%d-%02d/leader", i, j))
		}
		turned := slices.Concat(clients[i%3:], clients[:i%3])
		s.writers = append(s.writers, newWriter(fmt.Sprintf("w%d", i), seed, s.truth, turned, keys...))
	}
	s.watch = watch(t, []string{"CONSUL_HTTP_TOKEN=" + s.token.SecretID}, "--http-addr", s.proxy.Addr())
	return s
}

// keepDeadServers makes Consul accept a killed server as a voter when it returns.
func keepDeadServers() consultest.Option {
	return consultest.WithConfig(`autopilot { cleanup_dead_servers = false }`)
}

// play writes and injects faults for some time. It returns the resource usage before the first fault and the maximum.
func (s *soak) play(length time.Duration) (first, worst usage) {
	ctx, cancel := context.WithTimeout(s.t.Context(), length)
	defer cancel()
	var writing sync.WaitGroup
	for _, w := range s.writers {
		writing.Go(func() { w.run(ctx, writePause) })
	}
	faults := soakFaults()
	for n := 0; ctx.Err() == nil; n++ {
		if n %= len(faults); n == 0 {
			s.rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		}
		s.wait(ctx, 4*time.Second+time.Duration(s.rng.IntN(6000))*time.Millisecond)
		if ctx.Err() != nil {
			break
		}
		if first.files == 0 {
			first = usageOf(s.t, s.watch.pid())
		}
		f := faults[n]
		p := period{name: f.name, start: time.Now()}
		f.inject(s, ctx)
		p.end = time.Now()
		s.faulty = append(s.faulty, p)
		u := usageOf(s.t, s.watch.pid())
		worst.rssKB, worst.files, worst.threads = max(worst.rssKB, u.rssKB), max(worst.files, u.files), max(worst.threads, u.threads)
		s.t.Logf("%s %-28s %5.1f s; %s", p.start.Format("15:04:05"), f.name, p.end.Sub(p.start).Seconds(), u)
	}
	writing.Wait()
	return first, worst
}

// wait waits until d has passed or the soak test ends.
func (s *soak) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// settle waits until electop has reported every write, and compares the events with the log.
func (s *soak) settle() *verdict {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for {
		s.reconcile()
		v := s.truth.compare(s.watch.all())
		if len(v.wrong) == 0 || time.Since(start) > patience {
			s.t.Logf("%.1f s after the last change, %d events are wrong or missing", time.Since(start).Seconds(), len(v.wrong))
			return v
		}
		<-tick.C
	}
}

// reconcile reads the keys whose latest write was not confirmed.
func (s *soak) reconcile() {
	for _, w := range s.writers {
		w.mu.Lock()
		for _, k := range w.keys {
			if k.doubtful || !k.since.IsZero() {
				w.reconcile(context.Background(), k)
			}
		}
		w.mu.Unlock()
	}
}

// report prints the results and fails the test if an event was false.
func (s *soak) report(v *verdict, first, worst usage) {
	writes, _ := s.truth.count()
	failed := 0
	for _, w := range s.writers {
		failed += w.failed
	}
	var calm, all []time.Duration
	for _, l := range v.lags {
		all = append(all, l.took)
		if !s.disturbed(l.began) {
			calm = append(calm, l.took)
		}
	}
	s.t.Logf("%d faults, %d writes (%d without confirmation)", len(s.faulty), writes, failed)
	s.t.Logf("%d terms: %d reported, %d counted as missed, %d of deleted or replaced keys; %d errors", v.terms, v.reported, v.missed, v.uncountable, len(v.wrong))
	s.t.Logf("lag without a fault: p50 %v, p99 %v, longest %v (%d terms)", part(calm, 50), part(calm, 99), part(calm, 100), len(calm))
	s.t.Logf("lag at any time: p50 %v, p99 %v, longest %v (%d terms)", part(all, 50), part(all, 99), part(all, 100), len(all))
	s.t.Logf("usage: at the start %v, maximum %v, at the end %v", first, worst, usageOf(s.t, s.watch.pid()))
	for i, text := range v.wrong {
		if i == 40 {
			s.t.Errorf("… and %d more", len(v.wrong)-i)
			break
		}
		s.t.Error(text)
	}
}

// recovery is the time after a fault in which a delay still counts as an effect of the fault.
const recovery = 2 * time.Second

func (s *soak) disturbed(at time.Time) bool {
	return slices.ContainsFunc(s.faulty, func(p period) bool {
		return at.After(p.start.Add(-recovery)) && at.Before(p.end.Add(recovery))
	})
}

// part returns a percentile.
func part(d []time.Duration, percent int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, len(d)*percent/100)].Round(100 * time.Microsecond)
}
