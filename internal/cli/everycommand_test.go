package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/spf13/cobra"

	"electop/internal/consultest"
)

// everyCommand lists the command lines that connect to Consul.
func everyCommand(session string) [][]string {
	return [][]string{
		{"list"},
		{"list", "-o", "json"},
		{"list", "nothing"},
		{"show", "web"},
		{"show", "web", "--probe", "-o", "json"},
		{"release", "web", "--yes"},
		{"release", "web", "--yes", "--wait", "10ms"},
		{"destroy", "web"},
		{"destroy", "--session", session, "--yes"},
		{"campaign", "cron", "--behavior", "delete", "--", "true"},
		{"doctor"},
		{"doctor", "-o", "json"},
		{"watch"},
		{"watch", "-o", "json"},
		{"record"},
		{"wait", "web", "--led", "--timeout", "10ms"},
		{"drain", "node-1", "--yes", "--wait", "10ms", "--rounds", "1"},
		{"drain", "node-1", "--dry-run", "-o", "json"},
		{"drill", "web", "-n", "1", "--yes", "--wait", "10ms"},
		{"rescue", "--yes"},
		{"rescue", "--dry-run", "-o", "json"},
		{"discover"},
		{"discover", "-o", "json"},
		{cobra.ShellCompRequestCmd, "show", ""},
		{cobra.ShellCompRequestCmd, "drain", ""},
	}
}

// offline returns the commands that send no request to Consul. demo uses an agent of its own.
func offline() []string {
	return []string{"completion", "config", "demo", "help", "history", "report", "version"}
}

func TestTheListOfCommandsIsComplete(t *testing.T) {
	for _, cmd := range allCommands()[1:] {
		name := path(cmd)[0]
		listed := slices.ContainsFunc(everyCommand(""), func(args []string) bool { return args[0] == name })
		if !listed && !slices.Contains(offline(), name) {
			t.Errorf("no command line runs electop %s", name)
		}
	}
}

// execute runs a command line, and confirms what it asks. A command that does not end by itself ends after a few
// requests.
func execute(requests *atomic.Int64, flags []string, args ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if args[0] == "watch" || args[0] == "record" {
		enough := requests.Load() + 5
		var watched sync.WaitGroup
		defer watched.Wait()
		defer cancel()
		watched.Go(func() {
			for tick := time.Tick(5 * time.Millisecond); requests.Load() < enough && ctx.Err() == nil; {
				<-tick
			}
			cancel()
		})
	}
	var out, errOut buffer
	d := deps{stdin: strings.NewReader("y\n"), stdout: &out, stderr: &errOut, interactive: true}
	line := append(slices.Clone(flags), args...)
	if args[0] == cobra.ShellCompRequestCmd {
		line = slices.Concat(args[:1], flags, args[1:]) // cobra completes the arguments after __complete
	}
	return result{nil, run(ctx, d, line), out.String(), errOut.String()}
}

// request is one recorded request.
type request struct {
	method, path string
	query        url.Values
	body         []byte
}

// items returns the parts of a body that have a namespace: the operations of a transaction and the permissions to check.
func (r request) items() (items []map[string]json.RawMessage) {
	switch r.path {
	case "/v1/txn":
		var ops []struct{ KV map[string]json.RawMessage }
		_ = json.Unmarshal(r.body, &ops)
		for _, op := range ops {
			items = append(items, op.KV)
		}
	case "/v1/internal/acl/authorize":
		_ = json.Unmarshal(r.body, &items)
	}
	return items
}

// writes reports whether a request may change Consul's state or its Raft log.
func (r request) writes() bool {
	switch {
	case r.method == http.MethodGet || r.path == "/v1/internal/acl/authorize":
		return false
	case r.path != "/v1/txn":
		return true
	}
	return len(r.items()) == 0 || slices.ContainsFunc(r.items(), func(op map[string]json.RawMessage) bool { return string(op["Verb"]) != `"get"` })
}

// recordRequests returns a proxy that records all requests. It removes the parameters of Consul Enterprise, because
// the agents of these tests reject them.
func recordRequests(t *testing.T, addr string) (proxy string, count *atomic.Int64, take func() []request) {
	t.Helper()
	var mu sync.Mutex
	var all []request
	count = &atomic.Int64{}
	proxy = consultest.ReverseProxy(t, addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		one := request{r.Method, r.URL.Path, r.URL.Query(), body}
		mu.Lock()
		all = append(all, one)
		mu.Unlock()
		count.Add(1)
		query := r.URL.Query()
		query.Del("ns")
		query.Del("partition")
		r.URL.RawQuery = query.Encode()
		for _, name := range []string{"Namespace", "Partition"} {
			body = bytes.ReplaceAll(body, []byte(`,"`+name+`":"some-`+strings.ToLower(name)+`"`), nil)
			body = bytes.ReplaceAll(body, []byte(`"`+name+`":"some-`+strings.ToLower(name)+`",`), nil)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		forward.ServeHTTP(w, r)
	})
	return proxy, count, func() []request {
		mu.Lock()
		defer mu.Unlock()
		taken := all
		all = nil
		return taken
	}
}

// Consul Enterprise reads the namespace and the partition of most requests from the URL. For transactions and
// permission checks, it reads them from each item of the body.
func TestEveryRequestNamesNamespacePartitionAndDatacenter(t *testing.T) {
	w := onMemory(t)
	addr, count, take := recordRequests(t, w.Addr)
	flags := []string{"--http-addr", addr, "--namespace", "some-namespace", "--partition", "some-partition", "--datacenter", "dc1", "--history", historyFile(t)}
	seen := map[string]bool{}
	session := ""
	for i := range everyCommand("") {
		if pair := w.Get("service/web/leader"); pair == nil || pair.Session == "" {
			session = w.session(api.SessionEntry{LockDelay: 10 * time.Millisecond})
			w.acquire("service/web/leader", session, "") // after the lock-delay
		}
		args := everyCommand(session)[i]
		execute(count, flags, args...)
		for _, one := range take() {
			parts := strings.SplitAfterN(one.path, "/", 5)
			seen[strings.Join(parts[:min(4, len(parts))], "")] = true
			q := one.query
			if q.Get("ns") != "some-namespace" || q.Get("partition") != "some-partition" || q.Get("dc") != "dc1" {
				t.Errorf("%v: %s %s?%s", args, one.method, one.path, q.Encode())
			}
			for _, item := range one.items() {
				if string(item["Namespace"]) != `"some-namespace"` || string(item["Partition"]) != `"some-partition"` {
					t.Errorf("%v: %s %s: an item without namespace or partition: %s", args, one.method, one.path, one.body)
				}
			}
		}
	}
	for _, path := range []string{
		"/v1/kv/", "/v1/txn", "/v1/session/create", "/v1/session/destroy/", "/v1/session/info/", "/v1/session/list", "/v1/health/node/",
		"/v1/catalog/nodes", "/v1/status/leader", "/v1/agent/self", "/v1/internal/acl/",
	} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(p string) bool { return strings.HasPrefix(p, path) }) {
			t.Errorf("no request to %s: the test covers too little: %v", path, seen)
		}
	}
}

// --read-only forbids every write, even one that changes no key.
func TestReadOnlySendsNoWrite(t *testing.T) {
	w := onMemory(t)
	for _, name := range []string{"web", "vacant", "delayed"} {
		s := w.session()
		w.acquire("service/"+name+"/leader", s, name)
		switch name {
		case "vacant":
			w.Release("service/vacant/leader", s)
		case "delayed":
			w.Destroy(s)
		}
	}
	addr, count, take := recordRequests(t, w.Addr)
	for _, args := range append(everyCommand(w.Get("service/web/leader").Session), []string{"rescue", "vacant", "delayed", "--yes"}) {
		execute(count, []string{"--http-addr", addr, "--read-only", "--history", historyFile(t)}, args...)
		for _, one := range take() {
			if one.writes() {
				t.Errorf("%v: %s %s %s", args, one.method, one.path, one.body)
			}
		}
	}
}

// A command closes its connections even if it fails: an agent limits the connections of a client.
func TestCommandsCloseTheirConnections(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(), "web-1")
	addr, requests, _ := recordRequests(t, w.Addr)
	proxy := consultest.StartProxy(t, addr, nil)
	for _, args := range append(everyCommand("nothing"), []string{"list", "--datacenter", "all"}, []string{"release", "web", "nothing", "--yes"}) {
		execute(requests, []string{"--http-addr", proxy.Addr(), "--history", historyFile(t)}, args...)
		eventually(t, fmt.Sprintf("end of the connections of %v", args), func() bool { return proxy.Conns() == 0 })
	}
}

const (
	theToken    = `0b5c2f0e-1111-"2222<3333&444455556666`
	thePassword = `hunter-2/"two"`
)

// leaks returns the encodings of the secrets that no output may contain.
func leaks() []string {
	var all []string
	for _, secret := range []string{theToken, thePassword} {
		quoted, _ := json.Marshal(secret)
		all = append(all, secret, url.QueryEscape(secret), url.PathEscape(secret), strings.Trim(string(quoted), `"`),
			strings.Trim(strconv.Quote(secret), `"`), strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")[:20-len(secret)%3])
	}
	return append(all, base64.StdEncoding.EncodeToString([]byte("me:"+thePassword)))
}

// echoed joins all secrets of a request.
func echoed(r *http.Request) string {
	token := r.Header.Get("X-Consul-Token")
	quoted, _ := json.Marshal(token)
	_, password, _ := r.BasicAuth()
	return strings.Join([]string{
		token, url.QueryEscape(token), string(quoted), strconv.Quote(token), base64.StdEncoding.EncodeToString([]byte(token)),
		r.Header.Get("Authorization"), password, url.PathEscape(password),
	}, " ")
}

// reflections are servers that return parts of the request.
func reflections(other string) map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"403": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "Permission denied: "+echoed(r), http.StatusForbidden)
		},
		"500": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "rpc error making call: "+echoed(r), http.StatusInternalServerError)
		},
		"409": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_ = json.NewEncoder(w).Encode(api.TxnResponse{Errors: api.TxnErrors{{What: echoed(r)}}})
		},
		"a body that is not JSON": func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, echoed(r)) },
		"invalid fields": func(w http.ResponseWriter, r *http.Request) {
			text, _ := json.Marshal(r.Header.Get("X-Consul-Token"))
			fmt.Fprintf(w, `[{"Key":"service/web/leader","Value":%[1]s,"Flags":%[1]s,"ID":"x","TTL":%[1]s}]`, text)
		},
		"307": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/?"+url.QueryEscape(echoed(r)), http.StatusTemporaryRedirect)
		},
		"headers": func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"X-Consul-Index", "X-Consul-Default-Acl-Policy", "X-Consul-Lastcontact", "Content-Type"} {
				w.Header().Set(name, r.Header.Get("X-Consul-Token"))
			}
			_, _ = io.WriteString(w, "[]")
		},
		"an invalid status": func(w http.ResponseWriter, r *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				defer conn.Close()
				fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", r.Header.Get("X-Consul-Token"))
			}
		},
	}
}

// A server or a proxy that sends back the request must not make electop show the token or the password. Either it
// responds so to all requests, or only to writes.
func TestNoCommandShowsASecretThatAServerSendsBack(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another host received %s %s: %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(other.Close)
	w := onMemory(t)
	session := w.session()
	w.acquire("service/web/leader", session, "web-1")
	for name, reflect := range reflections(other.URL) {
		for _, onlyWrites := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s only writes %t", name, onlyWrites), func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int64
				s := intercept(t, w, func(rw http.ResponseWriter, r *http.Request) bool {
					requests.Add(1)
					if onlyWrites && (r.Method == http.MethodGet || r.URL.Path == "/v1/txn" && r.ContentLength < 200) {
						return false
					}
					reflect(rw, r)
					return true
				})
				logFile := filepath.Join(t.TempDir(), "electop.log")
				flags := []string{
					"--http-addr", "http://" + url.UserPassword("me", thePassword).String() + "@" + s.Addr, "--token", theToken,
					"--log-file", logFile, "--log-level", "debug", "--history", logFile + ".db",
				}
				for _, args := range everyCommand(session) {
					r := execute(&requests, flags, args...)
					shown := map[string]string{"stdout": r.out, "stderr": r.errOut}
					for _, file := range []string{logFile, logFile + ".db", logFile + ".db-wal"} {
						text, _ := os.ReadFile(file)
						shown[filepath.Base(file)] = string(text)
					}
					for where, text := range shown {
						for _, leak := range leaks() {
							if strings.Contains(text, leak) {
								t.Errorf("electop %s: %q is on %s:\n%s", strings.Join(args, " "), leak, where, text)
							}
						}
					}
				}
			})
		}
	}
}

func TestSecretsOfACommand(t *testing.T) {
	const token, historyToken = "5ec2e7aa-0000-4000-8000-abadcafe0001", "history-5ec2e7bb"
	t.Setenv(historyTokenEnv, historyToken+"\n")
	o := &options{history: "https://127.0.0.1:1"}
	o.consul.Token = token
	_, err := o.openStore(o.clusterFlags)
	must(t, err)
	if _, err := o.historyClient(); err != nil {
		t.Fatal(err)
	}
	if got := o.redact("a " + token + " b " + historyToken + " c"); got != "a <hidden> b <hidden> c" {
		t.Error(got)
	}
}

// The mode of an existing file is kept.
func TestLogFileIsPrivate(t *testing.T) {
	w := onMemory(t)
	dir := t.TempDir()
	old, young := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	must(t, os.WriteFile(old, nil, 0o644))
	for path, want := range map[string]os.FileMode{old: 0o644, young: 0o600} {
		w.run("campaign", "cron", "--log-file", path, "--", "true").must(exitOK)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// The help of --probe and docs state the cost of a probe.
func TestAProbeWritesOneRaftLogEntry(t *testing.T) {
	t.Parallel()
	w := newTestConsul(t, consultest.Dev(t).Addr())
	index := func() (n int) {
		self, err := w.API.Agent().Self()
		if err == nil {
			n, err = strconv.Atoi(self["Stats"]["raft"].(map[string]any)["last_log_index"].(string))
		}
		must(t, err)
		return n
	}
	const probes = 10
	for _, delayed := range []bool{false, true} {
		attempt := 0
		eventually(t, fmt.Sprint("right number of Raft log entries, lock-delay ", delayed), func() bool {
			attempt++
			name := fmt.Sprint("web", delayed, attempt)
			s := w.session(api.SessionEntry{LockDelay: time.Minute})
			if w.acquire("service/"+name+"/leader", s, "web-1"); delayed {
				w.Destroy(s)
			} else {
				w.Release("service/"+name+"/leader", s)
			}
			before := index()
			for range probes {
				w.run("show", name, "--probe").must(exitOK)
			}
			n := index() - before
			t.Logf("%d Raft log entries for %d probes", n, probes)
			return (n >= probes) != delayed && n <= 2*probes // Consul itself writes an entry from time to time
		})
	}
}
