package memconsul_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestAgentDefersOutput tests that a changed output does not reach the catalog immediately if the status is
// unchanged.
func TestAgentDefersOutput(t *testing.T) {
	contract(t, func(f *fixture) {
		first, second := f.unique+"-1", f.unique+"-2"
		for _, name := range []string{first, second} {
			f.put("/v1/agent/check/register", fmt.Sprintf(`{"Name":%q,"TTL":"1h","Status":"passing"}`, name))
			f.Cleanup(func() { f.put("/v1/agent/check/deregister/"+name, "") })
		}
		f.eventually("the catalog contains both checks", func() bool {
			return f.checkStatus("node-1", first) == "passing" && f.checkStatus("node-1", second) == "passing"
		})
		f.put("/v1/agent/check/pass/"+first+"?note=quiet", "")
		f.put("/v1/agent/check/warn/"+second+"?note=loud", "")
		f.eventually("the catalog contains the later output", func() bool { return f.checkStatus("node-1", second) == "warning" })
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
