package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"
)

// alternate acquires the key whenever it is free, for each session in turn.
func alternate(t *testing.T, w *testConsul, key string, sessions ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	acquire := func(i int) {
		id := sessions[i%len(sessions)]
		w.client.KV().Acquire(&api.KVPair{Key: key, Value: []byte("leader of " + id[:4]), Session: id}, nil)
	}
	acquire(0)
	go func() {
		defer close(done)
		q := (&api.QueryOptions{}).WithContext(ctx)
		for i := 1; ctx.Err() == nil; {
			pair, meta, err := w.client.KV().Get(key, q)
			if err != nil || pair == nil {
				continue // the test ends it
			}
			if q.WaitIndex = meta.LastIndex; pair.Session == "" {
				acquire(i)
				i++
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
}

type drillLine struct {
	Election, Key, Datacenter, Result, Reason string
	Times                                     int
	Failovers                                 []resultLine
	P50MS                                     *int64 `json:"p50_ms"`
	P95MS                                     *int64 `json:"p95_ms"`
	MaxMS                                     *int64 `json:"max_ms"`
	Winners                                   []winner
	Histogram                                 []struct {
		UpToMS *int64 `json:"up_to_ms"`
		Count  int
	}
}

func readDrill(t *testing.T, r result) (l drillLine) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return l
}

func TestDrillMeasuresEachFailover(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		key, k := p+"/web/leader", "-k"+p+"/*/leader"
		alternate(t, w, key, w.session(nil), w.session(nil), w.session(nil))
		r := w.run("drill", "web", "--yes", "-n", "4", "--pause", "50ms", "-o", "json", k).must(t, exitOK)
		l := readDrill(t, r)
		if l.Election != "web" || l.Key != key || l.Datacenter != "dc1" || l.Times != 4 || l.Result != "done" || len(l.Failovers) != 4 || l.P50MS == nil ||
			l.P95MS == nil || l.MaxMS == nil || *l.P50MS > *l.P95MS || *l.P95MS > *l.MaxMS || len(l.Winners) != 3 || l.Winners[0].Count != 2 {
			t.Errorf("%+v", l)
		}
		counted := 0
		for _, b := range l.Histogram {
			counted += b.Count
		}
		if counted != 4 {
			t.Errorf("histogram: %+v", l.Histogram)
		}
		for i, f := range l.Failovers {
			if f.Result != "moved" || f.VacancyMS == nil || f.Election != "web" || i > 0 && f.Old != *l.Failovers[i-1].New {
				t.Errorf("%d: %+v", i, f)
			}
		}
		r = w.run("drill", "web", "--yes", "-n", "1", k).must(t, exitOK)
		has(t, r.out, "web: 1 failover measured; vacancy p50 ", "  won       1  leader of ", "█")
		has(t, r.errOut, "1 of 1  leader of ")
	})
}

func TestDrillStopsAtTheFirstProblem(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		k := "-k" + p + "/*/leader"
		same, free := w.session(nil), w.session(nil)
		contend(t, w, p+"/same/leader", same, "same-1")
		eventually(t, "leader", func() bool { pair := w.get(p + "/same/leader"); return pair != nil && pair.Session == same })
		l := readDrill(t, w.run("drill", "same", "--yes", "--pause", "1ms", "-o", "json", k).must(t, exitSameLeader))
		if l.Result != "stopped" || l.Reason != "the same leader leads again" || len(l.Failovers) != 1 {
			t.Errorf("%+v", l)
		}
		w.acquire(p+"/free/leader", free, "free-1")
		r := w.run("drill", "free", "--yes", "--wait", "300ms", k).must(t, exitFailed)
		has(t, r.errOut, "electop: drill of free stopped after 1 of 3: free-1 on node-1 → no leader: no candidate acquired the key within 300ms")
		r = w.run("drill", "free", "--yes", "-o", "json", k).must(t, exitNoLeader)
		if l := readDrill(t, r); l.Result != "stopped" || len(l.Failovers) != 0 {
			t.Errorf("%+v", l)
		}
	})
}

func TestDrillStopsIfTheLeaderChangesDuringAPause(t *testing.T) {
	slow(t)
	w := onMemory(t)
	a, b := w.session(nil), w.session(nil)
	key := "service/web/leader"
	alternate(t, w, key, a, b)
	drill := w.background("drill", "web", "--yes", "--pause", "1h")
	eventually(t, "failover", func() bool { return strings.Contains(drill.errOut.String(), "1 of 3") })
	other := w.session(nil)
	// The drill did not cause this failover, so it must stop.
	for w.get(key).Session != other {
		if _, err := w.client.Session().Destroy(b, nil); err != nil {
			t.Fatal(err)
		}
		w.client.KV().Acquire(&api.KVPair{Key: key, Session: other}, nil)
		if w.get(key).Session == a {
			break
		}
	}
	r := drill.wait().must(t, exitFailed)
	has(t, r.errOut, "electop: drill of web stopped after 1 of 3: the ", " during the pause")
}

func TestDrillAsksBeforeAndRefuses(t *testing.T) {
	w := onMemory(t)
	p := "service"
	leader, _ := cluster(w, p)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	has(t, w.run("drill", "web").must(t, exitUsage).errOut, "--yes")
	r := w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "drill", "web", "--pause", "5s").must(t, exitFailed)
	has(t, r.errOut, "Release web (key service/web/leader).", "Release web 3 times, 5s apart? [y/N]", "nothing was done")
	has(t, w.run("--read-only", "drill", "web", "--yes").must(t, exitUsage).errOut, "--read-only forbids drill")
	has(t, w.run("drill", "db", "--yes").must(t, exitFailed).errOut, "drill of db stopped after 0 of 3: Patroni stores the leader's name", "instead   patronictl switchover db")
	w.run("drill", "nothing", "--yes").must(t, exitNoElection)
	for _, flag := range []string{"--times=0", "--pause=-1s", "--wait=0s"} {
		w.run("drill", "web", "--yes", flag).must(t, exitUsage)
	}
	if w.get("service/web/leader").Session != s || w.get(p+"/db/leader").Session != leader {
		t.Error("a drill that must fail released a lock")
	}
}

func TestDrillThatIsInterruptedWritesItsResult(t *testing.T) {
	w := onMemory(t)
	a, b := w.session(nil), w.session(nil)
	alternate(t, w, "service/web/leader", a, b)
	drill := w.background("drill", "web", "--yes", "--pause", "1h")
	eventually(t, "failover", func() bool { return strings.Contains(drill.errOut.String(), "1 of 3") })
	r := drill.stop().must(t, exitFailed)
	has(t, r.errOut, "drill of web stopped after 1 of 3: interrupted")
}
