package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// releases reports whether a request unlocks a key.
func releases(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r.Method == http.MethodPut && bytes.Contains(body, []byte(`"unlock"`))
}

// The exit code 0 of a drain means that the node can be rebooted: `electop drain node-2 && reboot`.

// afterRelease returns the address of a proxy that calls hook, once at a time, before it forwards a request. released is
// set after the first release.
func afterRelease(t *testing.T, addr string, hook func(released bool, w http.ResponseWriter, r *http.Request) (handled bool)) string {
	t.Helper()
	var released atomic.Bool
	var hooks sync.Mutex
	return consultest.ReverseProxy(t, addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if releases(r) {
			defer released.Store(true)
		}
		hooks.Lock()
		handled := hook(released.Load(), w, r)
		hooks.Unlock()
		if !handled {
			forward.ServeHTTP(w, r)
		}
	})
}

func TestDrainFailsIfTheLastReadFails(t *testing.T) {
	w := onMemory(t)
	a, b, _ := threeNodes(t, w)
	w.acquire("service/web/leader", w.sessionOn(a), "web-1")
	contend(t, w, "service/web/leader", w.sessionOn(b), "web-2")
	w.addr = afterRelease(t, w.addr, func(released bool, rw http.ResponseWriter, r *http.Request) bool {
		if !released || r.URL.Path != "/v1/session/list" {
			return false
		}
		http.Error(rw, "rpc error", http.StatusInternalServerError)
		return true
	})
	r := w.run("drain", a, "--yes", "--settle", "10ms", "-o", "json").must(t, exitFailed)
	has(t, r.out, `"result":"moved"`, `"verified":false`)
	has(t, r.errOut, "not verified whether sessions on "+a+" lead an election", "rpc error")
}

// During the drain, a session on the node acquires an election that was not part of the plan.
func TestDrainFailsIfTheNodeAcquiresAnotherElection(t *testing.T) {
	slow(t)
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		a, _, _ := threeNodes(t, w)
		here, chat := w.sessionOn(a), w.sessionOn(strings.ToUpper(a))
		w.acquire(p+"/web/leader", here, "web-1")
		var done atomic.Bool
		direct := w.addr
		w.addr = afterRelease(t, direct, func(released bool, _ http.ResponseWriter, _ *http.Request) bool {
			if released && !done.Swap(true) {
				for _, key := range []string{p + "/chat/leader", p + "/secret/leader", p + "-locks/backup"} {
					w.acquire(key, chat, "chat-1")
				}
			}
			return false
		})
		r := w.run("drain", a, "--yes", "--wait", "300ms", "-o", "json", "-k", p+"/*/leader").must(t, exitSameLeader)
		lines, summary := drainLines(t, r.out)
		for _, name := range []string{"chat", "secret", p + "-locks/backup"} {
			if l := lines[name]; l.Result != "stayed" || l.Rounds != 0 || !strings.Contains(l.Reason, "during the drain") {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if summary.Vacant != 1 || summary.Stayed != 3 {
			t.Errorf("%s", r.out)
		}
		has(t, r.errOut, "still lead 3 elections")
		w.addr = direct
		for _, key := range []string{p + "/chat/leader", p + "-locks/backup"} {
			w.unlock(key, chat)
		}
		w.run("drain", a, "--yes", "-k", p+"/*/leader", "--exclude", "secret").must(t, exitOK)
	})
}

// A key that the token may not read may have a leader on the node.
func TestDrainOfAPartlyReadableStore(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	p := prefix(t)
	s := w.session(nil)
	reads := `session_prefix "" { policy = "read" } node_prefix "" { policy = "read" } key_prefix "" { policy = "deny" } `
	for _, name := range []string{"web", "mail", "chat"} {
		w.acquire(p+"/"+name+"/leader", s, name)
	}
	secret := token(t, w.client, "web", reads+`key_prefix "`+p+`/web" { policy = "write" }`)
	partly := []string{"--yes", "--wait", "10ms", "-k", p + "/*/leader", "--token", secret}
	for _, args := range [][]string{{"drain", "node-1", "--no-scan"}, {"drain", "node-1"}} {
		r := w.run(append(args, partly...)...).must(t, exitDenied)
		has(t, r.errOut, "This token cannot read all keys", "not verified whether sessions on node-1 lead an election")
	}
	w.acquire(p+"/web/leader", s, "web")
	include := append([]string{"drain", "node-1", "--include", "web"}, partly...)
	w.run(include...).must(t, exitOK)

	w.acquire(p+"/web/leader", s, "web")
	policy, _, err := w.client.ACL().PolicyReadByName("web", nil)
	if err != nil {
		t.Fatal(err)
	}
	policy.Rules = reads
	w.addr = afterRelease(t, w.addr, func(released bool, _ http.ResponseWriter, _ *http.Request) bool {
		if released && policy.Rules != "" {
			if _, _, err := w.client.ACL().PolicyUpdate(policy, nil); err != nil {
				t.Error(err)
			}
			policy.Rules = ""
		}
		return false
	})
	if r := w.run(include...); r.code == exitOK {
		t.Errorf("exit code 0 although the key became unreadable: %s%s", r.out, r.errOut)
	}
}

// A holder that writes its value without the lock sets the LockIndex to 0.
func TestDrainOfAHolderThatWritesWithoutTheLock(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		a, _, _ := threeNodes(t, w)
		key, s := p+"/web/leader", w.sessionOn(a)
		op := func(verb api.KVOp, value string) *api.TxnOp {
			return &api.TxnOp{KV: &api.KVTxnOp{Verb: verb, Key: key, Session: s, Value: []byte(value)}}
		}
		lead := func() { // one transaction, so that no observer sees the LockIndex of the acquire
			if _, _, _, err := w.client.Txn().Txn(api.TxnOps{op(api.KVLock, "web-1"), op(api.KVSet, "web-1")}, nil); err != nil {
				t.Error(err)
			}
		}
		lead()
		if pair := w.get(key); pair.LockIndex != 0 || pair.Session != s {
			t.Fatalf("%+v", pair)
		}
		w.addr = afterRelease(t, w.addr, func(released bool, _ http.ResponseWriter, _ *http.Request) bool {
			if released && w.get(key).Session == "" {
				lead()
			}
			return false
		})
		start := time.Now()
		r := w.run("drain", a, "--yes", "--rounds", "3", "--wait", "10s", "-o", "json", "-k", p+"/*/leader").must(t, exitSameLeader)
		lines, _ := drainLines(t, r.out)
		if l := lines["web"]; l.Result != "stayed" || l.Rounds != 3 || time.Since(start) > 9*time.Second {
			t.Errorf("after %s: %s", time.Since(start), r.out)
		}
	})
}

// The holder of a chosen key may be on the node if its session cannot be read. A node of which nothing can be read may
// be misspelled.
func TestDrainOfWhatTheTokenCannotSee(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	p := prefix(t)
	a, b, _ := threeNodes(t, w)
	w.acquire(p+"/web/leader", w.sessionOn(a), "web-1")
	w.acquire(p+"-locks/backup", w.sessionOn(b), "backup-1") // no pattern matches it
	keys := `key_prefix "" { policy = "write" } `
	oneNode := token(t, w.client, "one", keys+`node_prefix "" { policy = "read" } session "`+a+`" { policy = "read" }`)
	noNodes := token(t, w.client, "none", keys+`session_prefix "" { policy = "read" }`)
	for _, args := range [][]string{
		{a, "--token", oneNode, "--include", p + "-locks/backup"},
		{a + "-typo", "--token", noNodes, "--include", "web"},
	} {
		r := w.run(append([]string{"drain", "--yes", "--wait", "10ms", "-k", p + "/*/leader"}, args...)...)
		if r.code != exitDenied {
			t.Errorf("%q: exit code %d: %s%s", args, r.code, r.out, r.errOut)
		}
	}
}

// An interrupted drain leaves each key as a candidate wrote it, and a second drain continues.
func TestAnInterruptedDrainLeavesNothingHalfDone(t *testing.T) {
	w := onReal(t)
	a, b, _ := threeNodes(t, w)
	p := prefix(t)
	var keys []string
	for i := range 5 {
		key, here := fmt.Sprintf("%s/web%d/leader", p, i), w.sessionOn(a)
		keys = append(keys, key)
		w.acquire(key, here, "here")
		contend(t, w, key, here, "here")
		contend(t, w, key, w.sessionOn(b), "there")
	}
	args := []string{"drain", a, "--yes", "--settle", "200ms", "-k", p + "/*/leader"}
	drain := w.background(args...)
	eventually(t, "release", func() bool { return w.get(keys[0]).LockIndex > 1 })
	if r := drain.stop(); r.code != exitFailed && r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.errOut)
	}
	w.run(args...).must(t, exitOK)
	for _, key := range keys {
		eventually(t, "leader of "+key, func() bool { pair := w.get(key); return pair.Session != "" && string(pair.Value) == "there" })
	}
}

// Two keys may differ only in a leading slash. Only the excluded one is protected.
func TestDrainExcludesTheKeyWithTheExactName(t *testing.T) {
	w := onReal(t)
	p := prefix(t)
	a, _, _ := threeNodes(t, w)
	s := w.sessionOn(a)
	session := func(verb api.KVOp, key string) string { // api.KV trims the slash
		ok, answer, _, err := w.client.Txn().Txn(api.TxnOps{{KV: &api.KVTxnOp{Verb: verb, Key: key, Session: s}}}, nil)
		if err != nil || !ok {
			t.Fatal(answer, err)
		}
		return answer.Results[0].KV.Session
	}
	session(api.KVLock, p+"-locks/backup")
	session(api.KVLock, "/"+p+"-locks/backup")
	w.run("drain", a, "--yes", "--wait", "10ms", "--exclude", "/"+p+"-locks/backup", "-k", p+"/*/leader").must(t, exitOK)
	if protected, other := session(api.KVGet, "/"+p+"-locks/backup"), session(api.KVGet, p+"-locks/backup"); protected != s || other != "" {
		t.Errorf("the excluded key is held by %q, the other by %q", protected, other)
	}
}
