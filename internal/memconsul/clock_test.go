package memconsul_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/memconsul"
)

// inBubble runs a case in a synctest bubble, in which the case controls the agent's clock.
func inBubble(t *testing.T, run func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		agent := memconsul.New(memconsul.Config{})
		t.Cleanup(agent.Close)
		hc := &http.Client{Transport: agent}
		client, err := api.NewClient(&api.Config{Address: "agent", HttpClient: hc})
		must(t, err)
		run(&fixture{T: t, base: "http://agent", http: hc, client: client, prefix: "p/", unique: "u"})
	})
}

// pass advances the clock of the bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestSessionExpiresAfterTwiceItsTTL(t *testing.T) {
	inBubble(t, func(f *fixture) {
		s := f.session(map[string]any{"TTL": "15s", "LockDelay": "0s"})
		f.mustPut("/v1/kv/p/k?acquire="+s, "v")
		begin := time.Now()
		query := f.block("/v1/kv/p/k", f.entry("p/k").ModifyIndex, "10m")
		pass(20 * time.Second)
		f.put("/v1/session/renew/"+s, "")
		query.result(f)
		if took := time.Since(begin); took != 50*time.Second {
			t.Errorf("the session with a TTL of 15s, renewed after 20s, expired after %s, want 50s", took)
		}
		if got := f.sessionInfo(s); got != "[]" {
			t.Errorf("the session exists longer than its TTL: %s", got)
		}
	})
}

// A waiting semaphore of Consul's library gets the slot that a holder gives up.
func TestSemaphore(t *testing.T) {
	contract(t, func(f *fixture) {
		var slots [2]*api.Semaphore
		for i := range slots {
			s, err := f.client.SemaphorePrefix(f.key("s"), 1)
			must(f, err)
			slots[i] = s
		}
		_, err := slots[0].Acquire(nil)
		must(f, err)
		next := make(chan error)
		go func() {
			_, err := slots[1].Acquire(nil)
			next <- err
		}()
		f.eventually("both are contenders", func() bool {
			keys, _, err := f.client.KV().Keys(f.key("s"), "", nil)
			return err == nil && len(keys) == 3
		})
		must(f, slots[0].Release())
		must(f, <-next)
		must(f, slots[1].Release())
	})
}

func TestLockDelayLastsExactly(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"": 15 * time.Second, "0s": 0, "1ms": time.Millisecond, "60s": time.Minute, "90s": time.Minute,
	} {
		t.Run(asked, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				fields := map[string]any{}
				if asked != "" {
					fields["LockDelay"] = asked
				}
				s, rival := f.session(fields), f.quickSession()
				f.mustPut("/v1/kv/p/k?acquire="+s, "v")
				f.mustPut("/v1/session/destroy/"+s, "")
				if want > 0 {
					pass(want - time.Microsecond)
					if f.acquire("p/k", rival, "w") {
						t.Errorf("the lock-delay ended before %s", want)
					}
					pass(time.Microsecond)
				}
				if !f.acquire("p/k", rival, "w") {
					t.Errorf("the lock-delay lasts longer than %s", want)
				}
			})
		})
	}
}

func TestEmptyPrefixWakesForEverything(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.mustPut("/v1/kv/a", "v")
		query := f.block("/v1/kv/?recurse", f.get("/v1/kv/?recurse").index(), "10m")
		synctest.Wait()
		f.do(http.MethodDelete, "/v1/kv/a", "")
		if r := query.result(f); r.code != http.StatusNotFound || query.took != 0 {
			t.Errorf("%d after %s", r.code, query.took)
		}
	})
}
