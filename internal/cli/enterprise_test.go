package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/internal/consultest"
)

const (
	someNamespace = "team-a"
	somePartition = "part-1"
)

// recorded is one recorded request.
type recorded struct {
	method string
	path   string
	query  url.Values
	body   []byte
}

// recorder is a proxy that records all requests and removes parameters of Consul
// Enterprise, because the agents of these tests reject them.
type recorder struct {
	addr string
	mu   sync.Mutex
	all  []recorded
}

func record(t *testing.T, addr string) *recorder {
	t.Helper()
	r := &recorder{}
	r.addr = consultest.ReverseProxy(t, addr, func(w http.ResponseWriter, req *http.Request, forward http.Handler) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.keep(recorded{req.Method, req.URL.Path, req.URL.Query(), body})
		community(req, body)
		forward.ServeHTTP(w, req)
	})
	return r
}

func (r *recorder) keep(one recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
}

func (r *recorder) requests() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// community removes the parameters that the Community Edition rejects.
func community(r *http.Request, body []byte) {
	query := r.URL.Query()
	query.Del("ns")
	query.Del("partition")
	r.URL.RawQuery = query.Encode()
	if items, ok := bodyItems(recorded{path: r.URL.Path, body: body}); ok {
		for _, item := range items {
			delete(item, "Namespace")
			delete(item, "Partition")
		}
		body = wrapItems(r.URL.Path, items)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// bodyItems returns the parts of a body that have a namespace: the operations of a transaction and the permissions to
// check.
func bodyItems(r recorded) (items []map[string]json.RawMessage, ok bool) {
	switch r.path {
	case "/v1/txn":
		var ops []struct{ KV map[string]json.RawMessage }
		if json.Unmarshal(r.body, &ops) != nil {
			return nil, false
		}
		for _, op := range ops {
			items = append(items, op.KV)
		}
		return items, true
	case "/v1/internal/acl/authorize":
		return items, json.Unmarshal(r.body, &items) == nil
	}
	return nil, false
}

func wrapItems(path string, items []map[string]json.RawMessage) []byte {
	var whole any = items
	if path == "/v1/txn" {
		ops := make([]any, len(items))
		for i, item := range items {
			ops[i] = map[string]any{"KV": item}
		}
		whole = ops
	}
	text, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return text
}

// Consul Enterprise reads the namespace and the partition of most requests from the URL. For transactions and
// permission checks, it reads them from each item of the body.
func TestEveryRequestNamesNamespacePartitionAndDatacenter(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := fmt.Sprintf("%s-%d", prefix(t), time.Now().UnixNano()) // unique, because a lock-delay may outlast a test
		r := record(t, w.addr)
		direct := *w
		w.addr = r.addr
		ran := sendEverything(t, w, &direct, r, p)
		for _, cmd := range allCommands()[1:] {
			if name := path(cmd)[0]; !ran[name] && !slices.Contains(withoutConsul(), name) {
				t.Errorf("the test does not run electop %s", name)
			}
		}
		seen := map[string]bool{}
		for _, one := range r.requests() {
			seen[endpoint(one.path)] = true
			q := one.query
			if q.Get("ns") != someNamespace || q.Get("partition") != somePartition || q.Get("dc") != "dc1" {
				t.Errorf("%s %s?%s", one.method, one.path, q.Encode())
			}
			items, _ := bodyItems(one)
			for _, item := range items {
				if string(item["Namespace"]) != `"`+someNamespace+`"` || string(item["Partition"]) != `"`+somePartition+`"` {
					t.Errorf("%s %s: an item without namespace or partition: %s", one.method, one.path, one.body)
				}
			}
		}
		for _, path := range []string{
			"/v1/kv/", "/v1/txn", "/v1/session/create", "/v1/session/destroy/", "/v1/session/info/", "/v1/session/list", "/v1/session/renew/",
			"/v1/health/node/", "/v1/catalog/nodes", "/v1/status/leader", "/v1/agent/self",
			"/v1/internal/acl/authorize",
		} {
			if !seen[path] {
				t.Errorf("no request to %s: the test covers too little", path)
			}
		}
	})
}

// endpoint returns a path without the key, session or node.
func endpoint(path string) string {
	for _, prefix := range []string{
		"/v1/kv/", "/v1/session/destroy/", "/v1/session/info/", "/v1/session/renew/", "/v1/health/node/",
	} {
		if strings.HasPrefix(path, prefix) {
			return prefix
		}
	}
	return path
}

// withoutConsul returns the commands that send no request to Consul. demo uses an agent of its own.
func withoutConsul() []string {
	return []string{"completion", "config", "demo", "help", "history", "report", "version"}
}

// sendEverything runs every command and the actions of the dashboard. It returns the names of the commands.
func sendEverything(t *testing.T, w, direct *testConsul, r *recorder, p string) (ran map[string]bool) {
	t.Helper()
	ran = map[string]bool{"watch": true, "record": true}
	enterprise := []string{"--namespace", someNamespace, "--partition", somePartition, "--datacenter", "dc1", "-k", p + "/*/leader"}
	do := func(code int, args ...string) {
		t.Helper()
		ran[args[0]] = true
		w.run(append(args, enterprise...)...).must(t, code)
	}
	hold := func(name string) string {
		s := direct.session(nil)
		direct.acquire(p+"/"+name+"/leader", s, name)
		return s
	}
	hold("web")
	do(exitOK, "list")
	do(exitOK, "list", "-k", p+"/*/nothing") // searches for locks nearby
	do(exitOK, "discover", p)
	for _, command := range []string{"show", "drain"} {
		if !completes(func() bool {
			offered, _ := w.complete(append(slices.Clone(enterprise), command, "")...)
			return len(offered) > 0
		}) {
			t.Errorf("completion offers no name after electop %s", command)
		}
	}
	do(exitOK, "show", "web")
	do(exitOK, "show", "--probe", "web")
	do(exitOK, "doctor")
	do(exitOK, "release", "web", "--yes")
	hold("db")
	w.runWith(deps{stdin: strings.NewReader("y\n"), interactive: true}, append([]string{"release", "db"}, enterprise...)...).must(t, exitOK)
	hold("mail")
	do(exitOK, "destroy", "mail", "--yes")
	do(exitOK, "destroy", "--session", hold("queue"), "--yes")
	w.run(append([]string{"campaign", "cron", "--behavior", "delete"}, append(enterprise, "--", "true")...)...).must(t, exitOK)
	ran["campaign"] = true
	campaignUntilRenewed(t, w, r, enterprise)

	sendLater(t, direct, p, do, hold)

	s := hold("watched")
	events := w.follow(append([]string{"watch", "-o", "json"}, enterprise...)...)
	for events.event()["election"] != "watched" {
	}
	direct.client.Session().Destroy(s, nil)
	events.until("explained")
	begun := len(r.requests())
	recording := w.follow(append([]string{"record", "--history", historyFile(t)}, enterprise...)...)
	eventually(t, "queries of record", func() bool { return len(r.requests()) > begun+5 })
	recording.stop()
	useDashboard(t, w, p+"/web/leader")
	return ran
}

// campaignUntilRenewed leads until electop has renewed its session.
func campaignUntilRenewed(t *testing.T, w *testConsul, r *recorder, flags []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "renewed")
	var campaign sync.WaitGroup
	campaign.Go(func() {
		program := []string{"--", "sh", "-c", `until [ -e "$0" ]; do sleep 0.05; done`, file}
		w.run(slices.Concat([]string{"campaign", "renewed", "--ttl", "10s", "--lock-delay", "10s"}, flags, program)...).must(t, exitOK)
	})
	eventually(t, "renewal", func() bool {
		return slices.ContainsFunc(r.requests(), func(one recorded) bool { return endpoint(one.path) == "/v1/session/renew/" })
	})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Error(err)
	}
	campaign.Wait()
}

// sendLater runs the commands that wait for a state or choose an action themselves.
func sendLater(t *testing.T, direct *testConsul, p string, do func(int, ...string), hold func(string) string) {
	t.Helper()
	hold("drilled")
	do(exitOK, "wait", "drilled", "--led", "--timeout", "30s")
	do(exitFailed, "drill", "drilled", "-n", "1", "--yes", "--wait", "1ms") // there is no candidate
	direct.leaderOnFailedNode(p + "/lost/leader")
	do(exitOK, "rescue", "lost", "--dry-run")
	hold("drained")
	node, err := direct.client.Agent().NodeName()
	if err != nil {
		t.Fatal(err)
	}
	do(exitOK, "drain", node, "--yes", "--wait", "10ms", "--include", "drained")
	if direct.get(p+"/drained/leader").Session != "" {
		t.Error("drain did not release the key")
	}
}

// useDashboard sends the requests of the dashboard.
func useDashboard(t *testing.T, w *testConsul, key string) {
	t.Helper()
	client, err := consulx.NewClient(consulx.Config{
		Address: w.addr, Datacenter: "dc1", Namespace: someNamespace, Partition: somePartition,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	observer := observe.New(client, observe.Options{Patterns: election.Patterns{election.KeyPattern(key)}})
	var done sync.WaitGroup
	done.Go(func() { _ = observer.Run(ctx) })
	node, err := w.client.Agent().NodeName()
	if err != nil {
		t.Fatal(err)
	}
	observer.Study(key)
	observer.WatchChecks([]string{node})
	observer.WatchSessions(true)
	for s := range observer.Snapshots() {
		_, checked := s.Checks[node]
		if s.Loaded && s.Surroundings != nil && s.Surroundings.Key == key && checked && s.SessionList != nil {
			break
		}
		if ctx.Err() != nil {
			t.Error("the dashboard's queries got no response")
			break
		}
	}
	if _, err := consulx.NewOperator(client, nil).Rights(ctx, election.Target{Key: key, Node: node}); err != nil {
		t.Error(err)
	}
	if _, err := consulx.Holdings(ctx, client, []string{"x"}, nil); err != nil {
		t.Error(err)
	}
	consulx.NodeChecks(ctx, client, node)
	cancel()
	done.Wait()
}
