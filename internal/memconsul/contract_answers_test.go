package memconsul_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// updateAnswers is the flag with which the test writes the golden file from the responses of the real agent.
var updateAnswers = flag.Bool("update", false, "write testdata/answers.golden from the real Consul agent")

// answersScript has one request per line: method, path and body. {p} is the key prefix of the case, {n} the node of
// the case, and {s} the latest session.
const answersScript = `
GET /v1/kv/{p}none
GET /v1/kv/{p}none?recurse
GET /v1/kv/{p}none?keys
GET /v1/kv/
PUT /v1/kv/ v
DELETE /v1/kv/
PUT /v1/kv/{p}k?flags=18446744073709551615 hi
GET /v1/kv/{p}k
GET /v1/kv/{p}k?raw
GET /v1/kv/{p}?recurse
GET /v1/kv/{p}?keys
GET /v1/kv/{p}k?stale
GET /v1/kv/{p}k?consistent
GET /v1/kv/{p}k?consistent&stale
GET /v1/kv/{p}k?wait=5&index=1
GET /v1/kv/{p}k?index=x
GET /v1/kv/{p}k?dc=nowhere
GET /v1/kv/{p}k%20
GET /v1/kv/..%2Fk
GET /v1/kv/{p}%1b
POST /v1/kv/{p}k
PUT /v1/kv/{p}k?flags=-1 v
PUT /v1/kv/{p}k?cas=x v
PUT /v1/kv/{p}k?acquire=zzz v
PUT /v1/kv/{p}k?acquire= v
PUT /v1/kv/{p}k?release= v
PUT /v1/kv/{p}k?cas=1&release=x v
DELETE /v1/kv/{p}k?cas=1&recurse
DELETE /v1/kv/{p}k?cas=1
DELETE /v1/kv/{p}none?cas=1
PUT /v1/session/create {"LockDelay":"1s","TTL":"5s"}
PUT /v1/session/create {"TTL":"25h"}
PUT /v1/session/create {"TTL":"x"}
PUT /v1/session/create {"LockDelay":"x"}
PUT /v1/session/create {"Behavior":"x"}
PUT /v1/session/create {"Node":""}
PUT /v1/session/create {"Node":"nowhere"}
PUT /v1/session/create {"Checks":["nope"]}
PUT /v1/session/create {"ServiceChecks":[{"ID":"nope"}]}
PUT /v1/session/create
GET /v1/session/info/{s}
PUT /v1/session/create {"Name":"n","TTL":"0","Checks":["serfHealth"],"NodeChecks":[],"Unknown":1}
GET /v1/session/info/{s}
PUT /v1/session/create {"Checks":[],"Behavior":"delete","TTL":"15s"}
GET /v1/session/info/{s}
PUT /v1/session/create {"NodeChecks":["serfHealth"],"ServiceChecks":[],"LockDelay":"0s"}
GET /v1/session/info/{s}
PUT /v1/session/renew/{s}
PUT /v1/kv/{p}k?acquire={s} v
GET /v1/kv/{p}k
PUT /v1/session/destroy/{s}
GET /v1/session/info/{s}
PUT /v1/session/renew/{s}
PUT /v1/session/destroy/{s}
PUT /v1/session/destroy/
PUT /v1/session/renew/
GET /v1/session/info/
GET /v1/session/node/
GET /v1/session/create
GET /v1/session/node/nowhere
PUT /v1/txn []
PUT /v1/txn x
PUT /v1/txn [{}]
PUT /v1/txn [{"Bogus":{}}]
PUT /v1/txn [{"KV":{"Verb":"set","Key":"{p}t","Bogus":1}}]
PUT /v1/txn [{"KV":{"Verb":"set","Key":"{p}t","Value":"!"}}]
PUT /v1/txn [{"KV":{"Verb":"set","Key":"{p}t","Value":"aGk=","Flags":18446744073709551615}}]
PUT /v1/txn [{"KV":{"Verb":"get","Key":"{p}t"}},{"KV":{"Verb":"get-tree","Key":"{p}t"}}]
PUT /v1/txn [{"KV":{"Verb":"get","Key":"{p}none"}}]
PUT /v1/txn [{"KV":{"Verb":"get-or-empty","Key":"{p}none"}}]
PUT /v1/txn [{"KV":{"Verb":"get-tree","Key":"{p}none"}}]
PUT /v1/txn [{"KV":{"Verb":"check-not-exists","Key":"{p}t"}}]
PUT /v1/txn [{"KV":{"Verb":"bogus","Key":"{p}t"}}]
PUT /v1/txn [{"KV":{"Verb":"set","Key":""}}]
PUT /v1/txn [{"KV":{"Verb":"delete-tree","Key":"{p}none"}}]
GET /v1/txn
PUT /v1/catalog/register {"Address":"10.0.0.1"}
PUT /v1/catalog/register {"Node":"{n}"}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Check":{"Name":"c","ServiceID":"nope"}}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Check":{"Name":"c","Node":"other"}}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Service":{"Port":80}}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Service":{"ID":"x"}}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Checks":[{"CheckID":"c","Name":"alive","Status":"passing"}]}
PUT /v1/catalog/register {"Node":"{n}","Address":"10.0.0.1","Service":{"Service":"s-{n}","Port":80},"Check":{"Name":"sv","ServiceID":"s-{n}"}}
GET /v1/health/node/{n}
GET /v1/health/node/{n}?filter=CheckID+==+%22c%22
GET /v1/health/node/{n}?filter=CheckID==%22nope%22+or+CheckID==%22sv%22
GET /v1/health/node/nowhere
GET /v1/health/node/
GET /v1/health/checks/s-{n}
GET /v1/health/checks/nope
GET /v1/health/service/s-{n}
GET /v1/health/service/s-{n}?passing
GET /v1/health/service/s-{n}?tag=x
GET /v1/health/service/nope
GET /v1/catalog/node/{n}
GET /v1/catalog/node/nowhere
PUT /v1/catalog/deregister {}
PUT /v1/catalog/deregister {"Node":"nowhere"}
PUT /v1/catalog/deregister {"Node":"{n}"}
GET /v1/health/node/{n}
GET /v1/catalog/datacenters
PUT /v1/agent/service/register {}
PUT /v1/agent/service/register {"Name":"x","Check":{"TTL":"1s","Status":"odd"}}
PUT /v1/agent/service/register {"Name":"x","Check":{}}
PUT /v1/agent/service/deregister/x
PUT /v1/agent/service/register {"Name":"s2-{n}","Checks":[{"TTL":"1h"},{"TTL":"1h","Name":"named"}]}
PUT /v1/agent/check/warn/service:s2-{n}:1?note=hm
PUT /v1/agent/check/update/service:s2-{n}:2 {"Status":"passing","Output":"ok"}
PUT /v1/agent/service/deregister/s2-{n}
PUT /v1/agent/check/register {"TTL":"1s"}
PUT /v1/agent/check/register {"Name":"x"}
PUT /v1/agent/check/register {"Name":"x","TTL":"1s","Interval":"1s"}
PUT /v1/agent/check/register {"Name":"x","HTTP":"http://127.0.0.1:1"}
PUT /v1/agent/check/register {"Name":"x","TTL":"1s","Status":"odd"}
PUT /v1/agent/check/register {"Name":"x","TTL":"1s","ServiceID":"nope"}
PUT /v1/agent/check/pass/nope
PUT /v1/agent/check/update/nope {"Status":"passing"}
PUT /v1/agent/check/update/nope {"Status":"odd"}
PUT /v1/agent/check/deregister/nope
PUT /v1/agent/service/deregister/nope
GET /v1/acl/token/self
POST /v1/internal/acl/authorize []
GET /v1/nope
`

// answerEnd separates the responses in the golden file.
const answerEnd = "\n-----\n"

func TestAnswers(t *testing.T) {
	golden := filepath.Join("testdata", "answers.golden")
	contract(t, func(f *fixture) {
		got := f.transcript(answersScript)
		if *updateAnswers && strings.HasSuffix(f.Name(), "/consul") {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				f.Fatal(err)
			}
		}
		data, err := os.ReadFile(golden)
		if err != nil {
			f.Fatal(err)
		}
		want := strings.Split(string(data), answerEnd)
		blocks := strings.Split(got, answerEnd)
		if len(blocks) != len(want) {
			f.Fatalf("%d answers, want %d", len(blocks), len(want))
		}
		for i := range blocks {
			if blocks[i] != want[i] {
				f.Errorf("got\n%s\nwant\n%s", blocks[i], want[i])
			}
		}
	})
}

// transcript runs the script and returns the responses without the parts that differ between runs.
func (f *fixture) transcript(script string) string {
	f.Helper()
	var out strings.Builder
	lastSession := ""
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		method, rest, _ := strings.Cut(line, " ")
		path, body, _ := strings.Cut(rest, " ")
		fill := strings.NewReplacer("{p}", f.prefix, "{n}", f.unique, "{s}", lastSession)
		r := f.do(method, fill.Replace(path), fill.Replace(body))
		var created struct{ ID string }
		if path == "/v1/session/create" && r.code == http.StatusOK {
			if err := json.Unmarshal([]byte(r.body), &created); err != nil {
				f.Fatal(err)
			}
			lastSession = created.ID
			f.Cleanup(func() { f.put("/v1/session/destroy/"+created.ID, "") })
		}
		fmt.Fprintf(&out, "%s\n%d%s\n%s%s", line, r.code, shownHeaders(r.header), f.normal(r.body), answerEnd)
	}
	return out.String()
}

func shownHeaders(h http.Header) string {
	var shown []string
	for name, values := range h {
		switch {
		case name == "X-Consul-Index":
			shown = append(shown, name)
		case strings.HasPrefix(name, "X-") || name == "Content-Type" || name == "Allow" || name == "Content-Security-Policy":
			shown = append(shown, name+": "+strings.Join(values, ","))
		}
	}
	slices.Sort(shown)
	return "\n" + strings.Join(shown, "\n")
}

func (f *fixture) normal(body string) string {
	var buf bytes.Buffer
	if json.Compact(&buf, []byte(body)) == nil {
		body = buf.String()
	}
	body = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(body, "{id}")
	body = regexp.MustCompile(`"(Create|Modify)Index":[1-9]\d*`).ReplaceAllString(body, `"${1}Index":N`)
	body = strings.NewReplacer(f.prefix, "{p}", f.unique, "{n}").Replace(body)
	return strings.TrimSpace(body)
}
