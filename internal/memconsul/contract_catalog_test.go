package memconsul_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestHealthState(t *testing.T) {
	contract(t, func(f *fixture) {
		node, check := f.external()
		lists := func(state string) bool {
			checks, _, err := f.client.Health().State(state, nil)
			if err != nil {
				f.Fatal(err)
			}
			for _, c := range checks {
				if c.Node == node && c.CheckID == check {
					return true
				}
			}
			return false
		}
		if !lists("any") || !lists("passing") || lists("critical") {
			f.Error("the passing check is missing, or is listed as critical")
		}
		f.setCheck(node, check, "critical", "down")
		if !lists("any") || lists("passing") || !lists("critical") {
			f.Error("the critical check is missing, or is listed as passing")
		}
	})
}

// TestServiceRegistration tests which changes of a service increase its index and unblock its queries.
func TestServiceRegistration(t *testing.T) {
	contract(t, func(f *fixture) {
		node, _ := f.external()
		name := "svc-" + f.unique
		register := func(port int, extra string) {
			f.mustPut("/v1/catalog/register", fmt.Sprintf(
				`{"Node":%q,"Address":"10.0.0.1","Service":{"ID":"one","Service":%q,"Port":%d,"Tags":["Blue"]}%s}`, node, name, port, extra))
		}
		path := "/v1/health/service/" + name
		register(80, "")
		index := f.get(path).index(f.T)
		register(80, "")
		if again := f.get(path).index(f.T); again != index {
			f.Errorf("the same registration changed the index from %d to %d", index, again)
		}
		changes := []func(){
			func() { register(81, "") },
			func() { register(81, `,"Check":{"CheckID":"own","ServiceID":"one","Status":"warning"}`) },
			func() { f.setCheck(node, "of-the-node", "passing", "") },
			func() { f.mustPut("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q,"CheckID":"own"}`, node)) },
			func() { f.mustPut("/v1/catalog/deregister", fmt.Sprintf(`{"Node":%q,"ServiceID":"one"}`, node)) },
		}
		for i, change := range changes {
			query := f.block(path, index, "30s")
			change()
			next := query.result(f).index(f.T)
			if next <= index || query.took > patience {
				f.Fatalf("change %d: after %s, the index changed from %d to %d", i, query.took, index, next)
			}
			index = next
		}
		if got := f.get(path).body; got != "[]" {
			f.Errorf("after the deregistration: %s", got)
		}
	})
}

// TestAgentDefersOutput tests that a changed output does not reach the catalog immediately if the status is
// unchanged.
func TestAgentDefersOutput(t *testing.T) {
	contract(t, func(f *fixture) {
		first, second := f.unique+"-1", f.unique+"-2"
		for _, name := range []string{first, second} {
			f.put("/v1/agent/check/register", fmt.Sprintf(`{"Name":%q,"TTL":"1h","Status":"passing"}`, name))
			f.Cleanup(func() { f.put("/v1/agent/check/deregister/"+name, "") })
		}
		f.eventually(patience, "the catalog contains both checks", func() bool {
			return f.checkStatus("node-1", first) == "passing" && f.checkStatus("node-1", second) == "passing"
		})
		f.put("/v1/agent/check/pass/"+first+"?note=quiet", "")
		f.put("/v1/agent/check/warn/"+second+"?note=loud", "")
		f.eventually(patience, "the catalog contains the later output", func() bool { return f.checkStatus("node-1", second) == "warning" })
		body := f.get("/v1/health/node/node-1").body
		if !strings.Contains(body, "loud") || strings.Contains(body, "quiet") {
			f.Error(body)
		}
	})
}

func TestTxnLimits(t *testing.T) {
	contract(t, func(f *fixture) {
		ops := make([]string, 129)
		for i := range ops {
			ops[i] = fmt.Sprintf(`{"KV":{"Verb":"get-or-empty","Key":%q}}`, f.key("k"))
		}
		if r := f.do(http.MethodPut, "/v1/txn", "["+strings.Join(ops[:128], ",")+"]"); r.code != http.StatusOK {
			f.Errorf("128 operations: %d %s", r.code, r.body)
		}
		r := f.do(http.MethodPut, "/v1/txn", "["+strings.Join(ops, ",")+"]")
		if r.code != http.StatusRequestEntityTooLarge || r.body != "Transaction contains too many operations (129 > 128)" {
			f.Errorf("129 operations: %d %s", r.code, r.body)
		}
		big := fmt.Sprintf(`[{"KV":{"Verb":"set","Key":%q,"Value":%q}}]`, f.key("k"), strings.Repeat("A", 600<<10))
		if r := f.do(http.MethodPut, "/v1/txn", big); r.code != http.StatusRequestEntityTooLarge {
			f.Errorf("600 KiB: %d %s", r.code, r.body)
		}
	})
}

func TestValueSizeLimit(t *testing.T) {
	contract(t, func(f *fixture) {
		const limit = 512 << 10
		value := bytes.Repeat([]byte{0, 0xff}, limit/2)
		f.mustPut("/v1/kv/"+f.key("k"), string(value))
		if got := f.get("/v1/kv/" + f.key("k") + "?raw"); got.body != string(value) {
			f.Errorf("the value of %d bytes was returned as %d other bytes", len(value), len(got.body))
		}
		r := f.do(http.MethodPut, "/v1/kv/"+f.key("k"), string(value)+"x")
		if r.code != http.StatusRequestEntityTooLarge || !strings.Contains(r.body, "max size: 524288 bytes") {
			f.Errorf("a value of 524,289 bytes: %d %s", r.code, r.body)
		}
	})
}
