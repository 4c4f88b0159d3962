package memconsul_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/memconsul"
)

// inBubble runs a case in a synctest bubble, in which the case controls the agent's clock.
func inBubble(t *testing.T, run func(*fixture, *memconsul.Agent)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		agent := memconsul.New(memconsul.Config{})
		t.Cleanup(agent.Close)
		hc := &http.Client{Transport: agent}
		client, err := api.NewClient(&api.Config{Address: "agent", HttpClient: hc})
		if err != nil {
			t.Fatal(err)
		}
		run(&fixture{T: t, base: "http://agent", http: hc, client: client, prefix: "p/", unique: "u"}, agent)
	})
}

// pass advances the clock of the bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestSessionExpiresAfterTwiceItsTTL(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
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

func TestSessionWithoutTTLNeverExpires(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
		for _, ttl := range []string{"", "0", "0s"} {
			s := f.session(map[string]any{"TTL": ttl})
			pass(1000 * time.Hour)
			if f.sessionInfo(s) == "[]" {
				t.Errorf("a TTL of %q expired", ttl)
			}
		}
	})
}

func TestLockDelayLastsExactly(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"": 15 * time.Second, "0s": 0, "1ms": time.Millisecond, "60s": time.Minute, "90s": time.Minute,
	} {
		t.Run(asked, func(t *testing.T) {
			inBubble(t, func(f *fixture, _ *memconsul.Agent) {
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

func TestWaitLasts(t *testing.T) {
	for wait, want := range map[string]time.Duration{"": 5 * time.Minute, "16s": 16 * time.Second, "1h": 10 * time.Minute} {
		t.Run(wait, func(t *testing.T) {
			inBubble(t, func(f *fixture, _ *memconsul.Agent) {
				f.mustPut("/v1/kv/p/k", "v")
				query := f.block("/v1/kv/p/k", f.entry("p/k").ModifyIndex, wait)
				query.result(f)
				if query.took < want || query.took > want+want/16 {
					t.Errorf("a wait of %q took %s", wait, query.took)
				}
			})
		})
	}
}

// TestBlockedQueriesSleepThroughOtherChanges tests that a query returns only if the objects that it reads change.
func TestBlockedQueriesSleepThroughOtherChanges(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
		f.mustPut("/v1/kv/p/a/k", "v")
		s := f.session(nil)
		f.mustPut("/v1/catalog/register", `{"Node":"n","Address":"10.0.0.1","Check":{"CheckID":"c","Status":"passing"}}`)
		watched := map[string]func(){
			"/v1/kv/p/none":         func() { f.mustPut("/v1/kv/p/none", "v") },
			"/v1/kv/p/a/k":          func() { f.mustPut("/v1/kv/p/a/k", "w") },
			"/v1/kv/p/a/?recurse":   func() { f.mustPut("/v1/kv/p/a/new", "v") },
			"/v1/session/info/" + s: func() { f.mustPut("/v1/session/destroy/"+s, "") },
			"/v1/health/node/n":     func() { f.mustPut("/v1/catalog/deregister", `{"Node":"n","CheckID":"c"}`) },
		}
		for path, change := range watched {
			query := f.block(path, f.get(path).index(t), "10m")
			synctest.Wait()
			f.mustPut("/v1/kv/p/elsewhere", fmt.Sprint(path))
			f.mustPut("/v1/kv/p/a", fmt.Sprint(path))
			f.session(nil)
			f.setCheck("node-2", "other", "passing", path)
			synctest.Wait()
			select {
			case <-query.done:
				t.Errorf("the change of another object ended the query of %s", path)
			default:
			}
			change()
			query.result(f)
			if query.took != 0 {
				t.Errorf("a change did not end the query of %s", path)
			}
		}
	})
}

func TestEmptyPrefixWakesForEverything(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
		f.mustPut("/v1/kv/a", "v")
		query := f.block("/v1/kv/?recurse", f.get("/v1/kv/?recurse").index(t), "10m")
		synctest.Wait()
		f.do(http.MethodDelete, "/v1/kv/a", "")
		if r := query.result(f); r.code != http.StatusNotFound || query.took != 0 {
			t.Errorf("%d after %s", r.code, query.took)
		}
	})
}

func TestTTLCheckNeedsReports(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
		f.put("/v1/agent/check/register", `{"Name":"c","TTL":"10s","Status":"passing"}`)
		s := f.session(map[string]any{"NodeChecks": []string{"c"}})
		for range 3 {
			pass(9 * time.Second)
			f.put("/v1/agent/check/pass/c", "")
		}
		pass(10*time.Second - 1)
		if f.sessionInfo(s) == "[]" {
			t.Fatal("the session ended although its check was updated")
		}
		pass(1)
		if got := f.checkStatus("node-1", "c"); got != "critical" || f.sessionInfo(s) != "[]" {
			t.Errorf("after the TTL, the check has the status %s or the session still exists", got)
		}
	})
}

// TestCrashedLeaderIsFollowedAfterTTLAndLockDelay tests TTL and lock-delay with Consul's client.
func TestCrashedLeaderIsFollowedAfterTTLAndLockDelay(t *testing.T) {
	inBubble(t, func(f *fixture, _ *memconsul.Agent) {
		crashed := f.session(map[string]any{"TTL": "10s", "LockDelay": "15s"})
		f.mustPut(fmt.Sprintf("/v1/kv/p/k?acquire=%s&flags=%d", crashed, uint64(api.LockFlagValue)), "crashed")
		begin := time.Now()
		lock, err := f.client.LockOpts(&api.LockOptions{Key: "p/k", SessionTTL: "10s"})
		if err != nil {
			t.Fatal(err)
		}
		if lost, err := lock.Lock(nil); err != nil || lost == nil {
			t.Fatalf("%v", err)
		}
		// After a rejected acquire, Consul's client waits 5 s (LockRetryTime).
		if took := time.Since(begin); took < 35*time.Second || took > 40*time.Second {
			t.Errorf("the next leader was elected after %s", took)
		}
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func TestCloseEndsBlockedQueries(t *testing.T) {
	inBubble(t, func(f *fixture, agent *memconsul.Agent) {
		f.mustPut("/v1/kv/p/k", "v")
		query := f.block("/v1/kv/p/k", f.entry("p/k").ModifyIndex, "10m")
		synctest.Wait()
		agent.Close()
		if r := query.result(f); r.code != http.StatusOK || query.took != 0 {
			t.Errorf("%d after %s", r.code, query.took)
		}
		agent.Close()
	})
}
