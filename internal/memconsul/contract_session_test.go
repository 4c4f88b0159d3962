package memconsul_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
)

// external registers a node without an agent, with one passing check. It returns both names.
func (f *fixture) external() (node, check string) {
	f.Helper()
	node, check = f.unique, f.unique+"-alive"
	f.setCheck(node, check, "passing", "")
	f.Cleanup(func() { f.put("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q}`, node)) })
	return node, check
}

func (f *fixture) setCheck(node, check, status, output string) {
	f.Helper()
	f.mustPut("/v1/catalog/register", fmt.Sprintf(
		`{"Node":%q,"Address":"10.0.0.1","Check":{"CheckID":%q,"Name":"alive","Status":%q,"Output":%q}}`,
		node, check, status, output))
}

// TestInvalidation ends sessions in every way, with both behaviors. It then reads the key, the session and the check.
func TestInvalidation(t *testing.T) {
	type subject struct{ node, check, session, key string }
	cases := []struct {
		name   string
		end    func(*fixture, subject)
		health string // status of the session's check after the end, "gone" if the check does not exist
		delay  bool   // a lock-delay begins
		lives  bool   // the session is still alive afterwards
		keeps  bool   // the key still exists afterwards, with either behavior
	}{
		{"destroyed", func(f *fixture, s subject) { f.mustPut("/v1/session/destroy/"+s.session, "") }, "passing", true, false, false},
		{"check critical", func(f *fixture, s subject) { f.setCheck(s.node, s.check, "critical", "down") }, "critical", true, false, false},
		{"check gone", func(f *fixture, s subject) {
			f.mustPut("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q,"CheckID":%q}`, s.node, s.check))
		}, "gone", true, false, false},
		{"node gone", func(f *fixture, s subject) {
			f.mustPut("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q}`, s.node))
		}, "gone", true, false, false},
		{"released", func(f *fixture, s subject) { f.mustPut("/v1/kv/"+s.key+"?release="+s.session+"&flags=7", "v") },
			"passing", false, true, true},
		{"released and destroyed", func(f *fixture, s subject) {
			f.mustPut("/v1/kv/"+s.key+"?release="+s.session+"&flags=7", "v")
			f.mustPut("/v1/session/destroy/"+s.session, "")
		}, "passing", false, false, true},
	}
	for _, behavior := range []string{"release", "delete"} {
		for _, c := range cases {
			t.Run(behavior+"/"+c.name, func(t *testing.T) {
				contract(t, func(f *fixture) {
					node, check := f.external()
					s := subject{node: node, check: check, key: f.key("k")}
					s.session = f.session(map[string]any{
						"Node": node, "NodeChecks": []string{check}, "Behavior": behavior, "LockDelay": "1m",
					})
					rival := f.quickSession()
					f.mustPut("/v1/kv/"+s.key+"?flags=7&acquire="+s.session, "v")
					before := f.entry(s.key)

					c.end(f, s)

					after := f.entry(s.key)
					if gone := behavior == "delete" && !c.keeps; gone != (after == nil) {
						f.Errorf("the deletion does not match the behavior: %+v", after)
					} else if !gone {
						if after.session() != "" || after.LockIndex != 1 || after.value() != "v" || after.Flags != 7 ||
							after.ModifyIndex <= before.ModifyIndex {
							f.Errorf("a part of the key changed: %+v, before %+v", after, before)
						}
					}
					if info := f.sessionInfo(s.session); (info != "[]") != c.lives {
						f.Errorf("sessions after the end: %s; want the session to exist: %v", info, c.lives)
					}
					if got := f.checkStatus(node, check); got != c.health {
						f.Errorf("the check has the status %s, want %s", got, c.health)
					}
					if got := f.acquire(s.key, rival, "w"); got == c.delay {
						f.Errorf("the rival's acquire returned %v, want %v", got, !c.delay)
					}
				})
			})
		}
	}
}

// checkStatus returns the status of a check, "gone" if it does not exist.
func (f *fixture) checkStatus(node, check string) string {
	f.Helper()
	checks, _, err := f.client.Health().Node(node, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range checks {
		if c.CheckID == check {
			return c.Status
		}
	}
	return "gone"
}

// Consul finds a session in any case of its ID, and a key keeps the spelling of the acquire.
func TestSessionIDsInCapitals(t *testing.T) {
	contract(t, func(f *fixture) {
		s, key := f.session(map[string]any{"LockDelay": "0s"}), f.key("k")
		capitals := strings.ToUpper(s)
		if !f.acquire(key, capitals, "v") || f.entry(key).session() != capitals {
			f.Errorf("the key is held by %q, want %q", f.entry(key).session(), capitals)
		}
		if f.acquire(key, s, "v") {
			f.Error("an acquire with another spelling succeeded")
		}
		if info := f.sessionInfo(capitals); !strings.Contains(info, s) {
			f.Errorf("session in capitals: %s", info)
		}
		f.mustPut("/v1/session/destroy/"+capitals, "")
		if holder := f.entry(key).session(); holder != "" || f.sessionInfo(s) != "[]" {
			f.Errorf("after the destroy, the key is held by %q and the session is %s", holder, f.sessionInfo(s))
		}
	})
}

func TestDeleteOfAHeldKeyLeavesTheSession(t *testing.T) {
	contract(t, func(f *fixture) {
		s, key := f.session(nil), f.key("k")
		f.mustPut("/v1/kv/"+key+"?acquire="+s, "v")
		f.do(http.MethodDelete, "/v1/kv/"+key, "")
		if f.sessionInfo(s) == "[]" {
			f.Error("the session no longer exists")
		}
		if !f.acquire(key, f.quickSession(), "w") {
			f.Error("the next acquire was rejected")
		}
	})
}

func TestWarningAndUnlistedChecksDoNotInvalidate(t *testing.T) {
	contract(t, func(f *fixture) {
		node, check := f.external()
		f.setCheck(node, "unlisted", "passing", "")
		s := f.session(map[string]any{"Node": node, "NodeChecks": []string{check}})
		f.mustPut("/v1/kv/"+f.key("k")+"?acquire="+s, "v")
		f.setCheck(node, check, "warning", "hm")
		f.setCheck(node, "unlisted", "critical", "down")
		if got := f.entry(f.key("k")).session(); got != s {
			f.Errorf("the key is held by %q", got)
		}
	})
}

func TestSessionNeedsHealthyKnownChecks(t *testing.T) {
	contract(t, func(f *fixture) {
		node, check := f.external()
		create := func(body string) string {
			r := f.do(http.MethodPut, "/v1/session/create", body)
			return fmt.Sprint(r.code, " ", strings.ReplaceAll(r.body, check, "CHECK"))
		}
		if got := create(fmt.Sprintf(`{"Node":%q,"NodeChecks":["nope"]}`, node)); got != "500 apply failed: Missing check 'nope' registration" {
			f.Error(got)
		}
		// Only nodes with an agent have the default check.
		if got := create(fmt.Sprintf(`{"Node":%q}`, node)); got != "500 apply failed: Missing check 'serfHealth' registration" {
			f.Error(got)
		}
		f.setCheck(node, check, "critical", "down")
		if got := create(fmt.Sprintf(`{"Node":%q,"NodeChecks":[%q]}`, node, check)); got != "500 apply failed: Check 'CHECK' is in critical state" {
			f.Error(got)
		}
	})
}

// TestAgentChecks tests a service whose TTL check a session depends on.
func TestAgentChecks(t *testing.T) {
	for name, end := range map[string]func(f *fixture){
		"failed": func(f *fixture) { f.put("/v1/agent/check/fail/service:"+f.unique+"?note=boom", "") },
		"updated": func(f *fixture) {
			f.put("/v1/agent/check/update/service:"+f.unique, `{"Status":"critical","Output":"boom"}`)
		},
		"check deregistered":   func(f *fixture) { f.put("/v1/agent/check/deregister/service:"+f.unique, "") },
		"service deregistered": func(f *fixture) { f.put("/v1/agent/service/deregister/"+f.unique, "") },
	} {
		t.Run(name, func(t *testing.T) {
			contract(t, func(f *fixture) {
				check := "service:" + f.unique
				f.put("/v1/agent/service/register", fmt.Sprintf(`{"Name":%q,"Port":80,"Check":{"TTL":"1h","Status":"passing"}}`, f.unique))
				f.Cleanup(func() { f.do(http.MethodPut, "/v1/agent/service/deregister/"+f.unique, "") })
				f.eventually(patience, "the check is in the catalog", func() bool { return f.checkStatus("node-1", check) == "passing" })
				s := f.session(map[string]any{"ServiceChecks": []map[string]string{{"ID": check}}})
				f.mustPut("/v1/kv/"+f.key("k")+"?acquire="+s, "v")
				f.put("/v1/agent/check/warn/"+check+"?note=hm", "")
				f.eventually(patience, "the check has the status warning", func() bool { return f.checkStatus("node-1", check) == "warning" })
				if got := f.entry(f.key("k")).session(); got != s {
					f.Fatalf("after a warning, the key is held by %q", got)
				}
				end(f)
				f.eventually(patience, "the key is free", func() bool { return f.entry(f.key("k")).session() == "" })
				if got := f.sessionInfo(s); got != "[]" {
					f.Errorf("the session exists although its check is critical: %s", got)
				}
			})
		})
	}
}

func TestTTLCheckExpires(t *testing.T) {
	contract(t, func(f *fixture) {
		f.put("/v1/agent/check/register", fmt.Sprintf(`{"Name":%q,"TTL":"1s","Status":"passing"}`, f.unique))
		f.Cleanup(func() { f.put("/v1/agent/check/deregister/"+f.unique, "") })
		f.put("/v1/agent/check/pass/"+f.unique+"?note=fine", "")
		f.eventually(patience, "the check is critical", func() bool { return f.checkStatus("node-1", f.unique) == "critical" })
		r := f.get("/v1/health/node/node-1?filter=" + `CheckID==%22` + f.unique + `%22`)
		if !strings.Contains(r.body, "TTL expired (last output before timeout follows): fine") {
			f.Error(r.body)
		}
	})
}

func TestLockDelay(t *testing.T) {
	contract(t, func(f *fixture) {
		key, rival := f.key("k"), f.quickSession()
		lose := func(delay string) {
			f.Helper()
			s := f.session(map[string]any{"LockDelay": delay})
			f.mustPut("/v1/kv/"+key+"?acquire="+s, "v")
			f.mustPut("/v1/session/destroy/"+s, "")
		}
		lose("0s")
		if !f.acquire(key, rival, "w") {
			f.Error("the acquire was rejected although the lock-delay is 0s")
		}
		f.mustPut("/v1/kv/"+key+"?release="+rival, "w")

		const delay = 2 * time.Second
		begin := time.Now()
		lose(delay.String())
		early := func(what string) {
			f.Helper()
			if acquired := f.acquire(key, rival, "w"); acquired && time.Since(begin) < delay {
				f.Error(what)
			}
		}
		early("no delay")
		if got := f.entry(key).session(); got != "" && time.Since(begin) < delay {
			f.Errorf("during the lock-delay, the key is held by %q", got)
		}
		// The lock-delay applies to the name of the key: other keys have no lock-delay, and a delete of the key does
		// not end it.
		if !f.acquire(f.key("k2"), rival, "w") {
			f.Error("the acquire of another key was rejected")
		}
		f.do(http.MethodDelete, "/v1/kv/"+key, "")
		early("the delete of the key ended the lock-delay")
		f.eventually(patience, "the end of the lock-delay", func() bool { return f.acquire(key, rival, "w") })
		if took := time.Since(begin); took < delay {
			f.Errorf("a lock-delay of %s lasted %s", delay, took)
		}
	})
}

func TestLockDelayIsStoredAsRequested(t *testing.T) {
	contract(t, func(f *fixture) {
		for given, want := range map[any]string{"90s": "90000000000", 5: "5000000000", 2_000_000: "2000000", "1ms": "1000000"} {
			if info := f.sessionInfo(f.session(map[string]any{"LockDelay": given})); !strings.Contains(info, `"LockDelay":`+want+`,`) {
				f.Errorf("%v: %s", given, info)
			}
		}
	})
}

// TestSessionTTL takes twice the shortest TTL that Consul allows.
func TestSessionTTL(t *testing.T) {
	if os.Getenv("ELECTOP_FAULTS") != "all" {
		t.Skip("takes 20s; TestSessionExpiresAfterTwiceItsTTL uses a simulated clock; set ELECTOP_FAULTS=all")
	}
	contract(t, func(f *fixture) {
		const ttl = 10 * time.Second
		created := time.Now()
		key, s := f.key("k"), f.session(map[string]any{"TTL": ttl.String(), "LockDelay": "0s"})
		kept := f.session(map[string]any{"TTL": ttl.String()})
		f.mustPut("/v1/kv/"+key+"?acquire="+s, "v")
		index := f.entry(key).ModifyIndex
		query := f.block("/v1/kv/"+key, index, "60s")
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for waiting := true; waiting; {
			select {
			case <-tick.C:
				f.put("/v1/session/renew/"+kept, "")
			case <-query.done:
				waiting = false
			}
		}
		query.result(f)
		if took := time.Since(created); took < 2*ttl-time.Second {
			f.Errorf("a TTL of %s expired after %s", ttl, took)
		}
		if got := f.entry(key).session(); got != "" {
			f.Errorf("the key is held by %q", got)
		}
		if f.sessionInfo(kept) == "[]" {
			f.Error("the renewed session expired")
		}
	})
}

// A session keeps the spelling of its node.
func TestNodeNamesAreComparedInLowerCase(t *testing.T) {
	contract(t, func(f *fixture) {
		for _, names := range [][2]string{{"web", "WEB"}, {"ärger", "ÄRGER"}, {"istan", "İstan"}, {"sigmaσ", "SIGMAΣ"}, {"σigma", "ςigma"}, {"song", "ſong"}} {
			node, spelled := f.unique+names[0], f.unique+names[1]
			f.setCheck(node, node+"-alive", "passing", "")
			answer := f.do(http.MethodPut, "/v1/session/create", fmt.Sprintf(`{"Node":%q,"NodeChecks":[]}`, spelled))
			accepted := answer.code == http.StatusOK
			if accepted != election.SameNode(node, spelled) {
				f.Errorf("%s on %s: %+v", spelled, node, answer)
			}
			if found := f.get("/v1/session/node/" + url.PathEscape(node)); accepted && !strings.Contains(found.body, strconv.Quote(spelled)) {
				f.Errorf("%+v", found)
			}
			f.put("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q}`, node))
		}
	})
}

func TestCheckIDsAreComparedInLowerCase(t *testing.T) {
	contract(t, func(f *fixture) {
		node, check := f.external()
		s := f.session(map[string]any{"Node": node, "NodeChecks": []string{strings.ToUpper(check)}})
		if info := f.sessionInfo(s); !strings.Contains(info, strings.ToUpper(check)) {
			f.Errorf("%s", info)
		}
		f.setCheck(node, check, "critical", "down")
		if info := f.sessionInfo(s); info != "[]" {
			f.Errorf("%s", info)
		}
	})
}
