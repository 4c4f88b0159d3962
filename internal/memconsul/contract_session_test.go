package memconsul_test

import (
	"fmt"
	"net/http"
	"net/url"
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

// checkStatus returns the status of a check, "gone" if it does not exist.
func (f *fixture) checkStatus(node, check string) string {
	f.Helper()
	checks, _, err := f.client.Health().Node(node, nil)
	must(f, err)
	for _, c := range checks {
		if c.CheckID == check {
			return c.Status
		}
	}
	return "gone"
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
				f.eventually("the check is in the catalog", func() bool { return f.checkStatus("node-1", check) == "passing" })
				s := f.session(map[string]any{"ServiceChecks": []map[string]string{{"ID": check}}})
				f.mustPut("/v1/kv/"+f.key("k")+"?acquire="+s, "v")
				f.put("/v1/agent/check/warn/"+check+"?note=hm", "")
				f.eventually("the check has the status warning", func() bool { return f.checkStatus("node-1", check) == "warning" })
				if got := f.entry(f.key("k")).session(); got != s {
					f.Fatalf("after a warning, the key is held by %q", got)
				}
				end(f)
				f.eventually("the key is free", func() bool { return f.entry(f.key("k")).session() == "" })
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
		f.eventually("the check is critical", func() bool { return f.checkStatus("node-1", f.unique) == "critical" })
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
		f.eventually("the end of the lock-delay", func() bool { return f.acquire(key, rival, "w") })
		if took := time.Since(begin); took < delay {
			f.Errorf("a lock-delay of %s lasted %s", delay, took)
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
