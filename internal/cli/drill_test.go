package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/act"
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

func TestDrillMeasuresEachFailover(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		key, k := p+"/web/leader", "-k"+p+"/*/leader"
		alternate(t, w, key, w.session(nil), w.session(nil), w.session(nil))
		r := w.run("drill", "web", "--yes", "-n", "4", "--pause", "50ms", "-o", "json", k).must(t, exitOK)
		results, summary, _ := strings.Cut(r.out, `{"election":"web","failovers"`)
		all := resultLines(t, results)
		var ms struct{ P50, P95, Max int }
		if err := json.Unmarshal([]byte(strings.ReplaceAll(`{"election":"web","failovers"`+summary, "_ms", "")), &ms); err != nil || ms.P50 > ms.P95 || ms.P95 > ms.Max || len(all) != 4 {
			t.Errorf("%v %s", err, r.out)
		}
		has(t, summary, `:4,`, `"summary":true,"times":4`)
		for i, f := range all {
			if f.Result != "moved" || f.VacancyMS == nil || i > 0 && f.Old != *all[i-1].New {
				t.Errorf("%d: %+v", i, f)
			}
		}
		r = w.run("drill", "web", "--yes", "-n", "1", k).must(t, exitOK)
		has(t, r.out, "web: leader of ", "web: 1 failover measured; vacancy p50 ")
	})
}

func TestDrillStopsAtTheFirstProblem(t *testing.T) {
	slow(t)
	w := onMemory(t)
	same, free := w.session(nil), w.session(nil)
	contend(t, w, "service/same/leader", same, "same-1")
	eventually(t, "leader", func() bool { pair := w.get("service/same/leader"); return pair != nil && pair.Session == same })
	has(t, w.run("drill", "same", "--yes", "--pause", "1ms").must(t, exitSameLeader).out, "same: same-1 on node-1 leads again")
	w.acquire("service/free/leader", free, "free-1")
	r := w.run("drill", "free", "--yes", "--wait", "300ms").must(t, exitFailed)
	has(t, r.out, "free: free-1 on node-1 → no leader: no candidate acquired the key within 300ms")
	w.run("drill", "free", "--yes").must(t, exitNoLeader)

	a, b, other := w.session(nil), w.session(nil), w.session(nil)
	alternate(t, w, "service/web/leader", a, b)
	drill := w.background("drill", "web", "--yes", "--pause", "2s")
	eventually(t, "failover", func() bool { return strings.Contains(drill.out.String(), "web: ") })
	for w.get("service/web/leader").Session == b { // the drill does not cause this failover
		w.client.Session().Destroy(b, nil)
		w.client.KV().Acquire(&api.KVPair{Key: "service/web/leader", Session: other}, nil)
	}
	r = drill.wait().must(t, exitFailed)
	has(t, r.errOut, "electop: the drill stopped after 1 failover of 3: the leader changed during the pause")

	alternate(t, w, "service/mail/leader", w.session(nil), w.session(nil))
	drill = w.background("drill", "mail", "--yes", "--pause", "1h")
	eventually(t, "failover", func() bool { return strings.Contains(drill.out.String(), "mail: ") })
	has(t, drill.stop().must(t, exitFailed).errOut, "the drill stopped after 1 failover of 3: interrupted")
}

func TestDrillAsksBeforeAndRefuses(t *testing.T) {
	w := onMemory(t)
	leader, _ := cluster(w, "service")
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	has(t, w.run("drill", "web").must(t, exitUsage).errOut, "--yes")
	r := w.runWith(deps{stdin: strings.NewReader("n\n"), interactive: true}, "drill", "web", "--pause", "5s").must(t, exitFailed)
	has(t, r.errOut, "Release web.\nKey          service/web/leader", "Release web 3 times, 5s apart? [y/N]", "nothing was done")
	has(t, w.run("--read-only", "drill", "web", "--yes").must(t, exitUsage).errOut, "--read-only forbids")
	has(t, w.run("drill", "db", "--yes").must(t, exitFailed).errOut, "db: nothing was changed: Patroni stores the leader's name", "instead   patronictl switchover db")
	w.run("drill", "nothing", "--yes").must(t, exitNoElection)
	for _, flag := range []string{"--times=0", "--pause=-1s", "--wait=0s"} {
		w.run("drill", "web", "--yes", flag).must(t, exitUsage)
	}
	if w.get("service/web/leader").Session != s || w.get("service/db/leader").Session != leader {
		t.Error("a drill that must fail released a lock")
	}
}

func TestDrillPercentiles(t *testing.T) {
	var out strings.Builder
	r := &drill{action: action{engine: engine{printer: printer{d: deps{stdout: &out}, output: "json"}, items: []*act.Item{{}}}}}
	for ms := range 20 {
		r.vacancies = append(r.vacancies, time.Duration(20-ms)*time.Millisecond)
	}
	r.summarize()
	has(t, out.String(), `"max_ms":20,"p50_ms":10,"p95_ms":19`)
}
