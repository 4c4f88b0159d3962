package holders

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// writeLog is a proxy in front of an agent that logs every write of electop. Before it forwards a release, it reads
// the current hold from another server.
type writeLog struct {
	t    *testing.T
	read *consultest.Agent
	addr string

	mu       sync.Mutex
	releases map[string]int // by key: the number of releases that Consul accepted
	rejected int
	wrong    []string // writes that a drain must not send
}

func newWriteLog(t *testing.T, agent, read *consultest.Agent) *writeLog {
	l := &writeLog{t: t, read: read, releases: map[string]int{}}
	l.addr = consultest.ReverseProxy(t, agent.Addr(), l.handle)
	return l
}

// operation is one operation of a transaction.
type operation struct {
	KV struct {
		Verb, Key, Session, Value string
		Flags                     uint64
	}
}

func (l *writeLog) handle(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var ops []operation
	var verbs []string
	if r.URL.Path == "/v1/txn" && json.Unmarshal(body, &ops) == nil {
		for _, op := range ops {
			verbs = append(verbs, op.KV.Verb)
		}
	}
	reads := len(verbs) > 0 && !slices.ContainsFunc(verbs, func(verb string) bool { return verb != "get" && verb != "get-tree" })
	switch {
	case r.Method == http.MethodGet, r.URL.Path == "/v1/internal/acl/authorize", reads:
		forward.ServeHTTP(w, r)
	case slices.Equal(verbs, []string{"check-index", "check-session", "unlock"}):
		l.release(w, r, forward, ops[2])
	default:
		forward.ServeHTTP(w, r)
		l.add(fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
	}
}

// release forwards a release and compares it with the hold. Because the transaction checks the index, an accepted
// release has ended exactly this hold.
func (l *writeLog) release(w http.ResponseWriter, r *http.Request, forward http.Handler, op operation) {
	pair, node := leaderAt(l.t, l.read, op.KV.Key)
	answer := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	forward.ServeHTTP(answer, r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer.status != http.StatusOK {
		l.rejected++
		return
	}
	l.releases[op.KV.Key]++
	value, _ := base64.StdEncoding.DecodeString(op.KV.Value)
	if pair == nil || node != fmt.Sprintf("node-%d", drained) || pair.Session != op.KV.Session || pair.Flags != op.KV.Flags || !bytes.Equal(pair.Value, value) {
		l.wrong = append(l.wrong, fmt.Sprintf("%+v released %+v on %s", op, pair, node))
	}
}

func (l *writeLog) add(wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, wrong)
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// drainLine is one line of `drain -o json`.
type drainLine struct {
	Election, Key, Result, Reason, Better string
	Rounds                                int
	Old, New                              struct{ Leader, Session, Node string }
	Summary                               bool
	Elections, Moved, Stayed, Vacant      int
	Skipped, Releases, Failed, Unfinished int
	ElapsedMS                             int64 `json:"elapsed_ms"`
}

// trial is a cluster with 60 elections. Its electop sends its requests to the proxy writeLog.
type trial struct {
	*arena
	log     *writeLog
	all     []contest
	patroni *cluster
}

// trialConfig allows the connections of all candidates from one address. It sets Consul's default Raft timeouts, so
// that the load at the start of 150 processes does not cause an election of Consul's leader.
const trialConfig = `limits { http_max_conns_per_client = 1000 } performance { raft_multiplier = 5 }`

func newTrial(t *testing.T) *trial {
	t.Helper()
	if os.Getenv("ELECTOP_DRAIN") != "all" {
		t.Skip("make drain runs this test")
	}
	needsPatroni(t, "consul")
	nodeModules(t, "consul")
	consultest.Program(t, "curl", "apt-get install curl")
	agents := consultest.Cluster(t, 3, consultest.WithConfig(trialConfig))
	tr := &trial{arena: &arena{t: t, agents: agents, stop: map[string][]func(){}}, log: newWriteLog(t, agents[0], agents[2]), all: contests()}
	tr.patroni = newClusterOn(t, agents[drained-1], agents[0])
	tr.joinAll(tr.all)
	tr.awaitLeaders(tr.all)
	return tr
}

// electop runs a command on the elections of the trial.
func (tr *trial) electop(args ...string) result {
	tr.t.Helper()
	args = append([]string{
		"--http-addr", tr.log.addr, "-k", "service/*/leader", "-k", "trial/*/leader", "-k", "trial/*/.lock", "--history", "off",
	}, args...)
	return execute(tr.t, electop(tr.t.TempDir(), args...))
}

// drain drains the node. It returns the lines by key.
func (tr *trial) drain(args ...string) (lines map[string]drainLine, summary drainLine, r result) {
	tr.t.Helper()
	r = tr.electop(append([]string{"drain", fmt.Sprintf("node-%d", drained), "-o", "json"}, args...)...)
	lines = map[string]drainLine{}
	for line := range strings.Lines(r.stdout) {
		var l drainLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			tr.t.Fatalf("%v: %s", err, line)
		}
		if l.Summary {
			summary = l
		} else {
			lines[l.Key] = l
		}
	}
	return lines, summary, r
}

// check compares a result of the drain with Consul's state after it.
func (tr *trial) check(c contest, l drainLine) {
	tr.t.Helper()
	here := fmt.Sprintf("node-%d", drained)
	pair, node := tr.leader(c.key)
	if l.Result != c.want() || l.Rounds != tr.log.releases[c.key] || l.Old.Node != here {
		tr.t.Errorf("%s %v: %+v, want %s and %d releases", c.kind, c.on, l, c.want(), tr.log.releases[c.key])
	}
	switch l.Result {
	case "moved":
		if node == here || node != l.New.Node || pair.Session != l.New.Session {
			tr.t.Errorf("%s: %+v, but %+v leads on %s", c.key, l, pair, node)
		}
	case "stayed":
		if !strings.Contains(l.Reason, "led again after each of ") || l.New.Node != here {
			tr.t.Errorf("%+v", l)
		}
	case "vacant":
		if node != "" || !strings.Contains(l.Reason, "no candidate acquired the key within ") {
			tr.t.Errorf("%+v, but the node of the leader is %q", l, node)
		}
	}
}

func TestDrainOfSixtyElections(t *testing.T) {
	tr := newTrial(t)
	if _, _, r := tr.drain("--dry-run"); r.code != 0 {
		t.Fatal(r)
	}
	if r := tr.electop("rescue", "--dry-run", "-o", "json"); r.code != 0 || r.stdout != "" {
		t.Errorf("rescue proposes a fix for a healthy election: %v", r)
	}
	elsewhere := map[string]uint64{}
	for _, c := range tr.all {
		if c.want() == "" {
			pair, _ := tr.leader(c.key)
			elsewhere[c.key] = pair.ModifyIndex
		}
	}
	lines, summary, r := tr.drain("--yes")
	planned := 0
	for _, c := range tr.all {
		l, reported := lines[c.key]
		if c.want() != "" {
			planned++
			tr.check(c, l)
			continue
		}
		if pair, _ := tr.leader(c.key); reported || pair.ModifyIndex != elsewhere[c.key] {
			t.Errorf("the drain changed %s, which is led on another node: %+v", c.key, pair)
		}
	}
	tr.logResults(lines, summary)
	tr.checkWrites()
	db := lines[tr.patroni.key]
	if db.Result != "skipped" || db.Better != "patronictl -c FILE switchover "+tr.patroni.scope || !strings.Contains(r.stderr, ": "+db.Better) || !tr.patroni.pg1.leads() {
		t.Errorf("%+v", db)
	}
	if summary.Elections != planned || r.code != 1 { // Patroni's election is still led on the node
		t.Errorf("exit code %d, %d elections planned: %+v", r.code, planned, summary)
	}
	tr.finish()
}

// logResults logs the numbers that docs/drain.md contains.
func (tr *trial) logResults(lines map[string]drainLine, summary drainLine) {
	results, rounds := map[string]map[string]int{}, map[string]int{}
	for _, c := range tr.all {
		if results[c.kind] == nil {
			results[c.kind] = map[string]int{}
		}
		l := lines[c.key]
		if results[c.kind][l.Result]++; l.Result == "moved" {
			rounds[c.kind] = max(rounds[c.kind], l.Rounds)
			if l.Rounds > 3 {
				tr.t.Logf("%s on nodes %v moved after %d releases", c.key, c.on, l.Rounds)
			}
		}
	}
	tr.t.Logf("results %v; most releases of one moved election %v; %d releases, %d rejected, in %d ms",
		results, rounds, summary.Releases, tr.log.rejected, summary.ElapsedMS)
}

// checkWrites checks that electop has only released holds on the drained node.
func (tr *trial) checkWrites() {
	tr.t.Helper()
	tr.log.mu.Lock()
	defer tr.log.mu.Unlock()
	for _, wrong := range tr.log.wrong {
		tr.t.Errorf("unexpected: %s", wrong)
	}
	for key := range tr.log.releases {
		known := slices.ContainsFunc(tr.all, func(c contest) bool { return c.key == key && c.want() != "" })
		if !known {
			tr.t.Errorf("%s was released", key)
		}
	}
}

// finish follows the advice in the drain's report: it switches Patroni over, and ends the leaders on the drained node
// for which no candidate runs on another node. A second drain must then succeed.
func (tr *trial) finish() {
	tr.t.Helper()
	if r := tr.patroni.patronictl("switchover", tr.patroni.scope, "--leader", "pg1", "--force"); r.code != 0 {
		tr.t.Fatal(r)
	}
	await(tr.t, "the new primary", tr.patroni.pg2.leads)
	for _, c := range tr.all {
		if c.want() == "stayed" {
			tr.end(c)
		}
	}
	_, summary, r := tr.drain("--yes")
	if r.code != 0 || summary.Stayed > 0 || summary.Failed > 0 {
		tr.t.Errorf("the second drain: %v", r)
	}
	tr.checkWrites()
	tr.nothingHere()
}

// nothingHere checks that no session on the drained node leads an election.
func (tr *trial) nothingHere() {
	tr.t.Helper()
	var pairs api.KVPairs
	for _, prefix := range []string{"trial/", "jobs/", "service/"} {
		found, _, err := tr.agents[0].Client().KV().List(prefix, nil)
		must(tr.t, err)
		pairs = append(pairs, found...)
	}
	for _, pair := range pairs {
		if strings.Contains(pair.Key, "/members/") {
			continue // Patroni's members hold their own keys
		}
		if _, node := tr.leader(pair.Key); node == fmt.Sprintf("node-%d", drained) {
			tr.t.Errorf("%s is led on the drained node", pair.Key)
		}
	}
}
