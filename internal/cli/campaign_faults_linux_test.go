package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// campaignRules are the ACL rules of a candidate on node-1.
const campaignRules = `key_prefix "" { policy = "write" } session_prefix "" { policy = "write" } node_prefix "" { policy = "read" }
	service_prefix "" { policy = "read" }`

// An ACL edit, or a proxy, may deny reads and allow renewals. Another client can then release and acquire the key.
func TestAProgramEndsWhenOnlyTheReadsOfItsLeaderFail(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	secret := token(t, w.client, "candidate", campaignRules)
	var limited atomic.Bool
	var refused atomic.Int64 // number of refused queries of the key
	addr := consultest.ReverseProxy(t, agent.Addr(), func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		seen := &statusWriter{ResponseWriter: rw}
		if limited.Load() && (r.Method == http.MethodGet || r.URL.Path == "/v1/txn") {
			http.Error(seen, "slow down", http.StatusTooManyRequests)
		} else {
			forward.ServeHTTP(seen, r)
		}
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/leader") && seen.status >= http.StatusForbidden && seen.status != http.StatusNotFound {
			refused.Add(1)
		}
	})
	for name, fail := range map[string]func(t *testing.T){
		"the rule is removed": func(t *testing.T) {
			setRules(t, w.client, "candidate", strings.Replace(campaignRules, "write", "deny", 1))
		},
		"a proxy limits the reads": func(*testing.T) { limited.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			setRules(t, w.client, "candidate", campaignRules)
			limited.Store(false)
			file, election := filepath.Join(t.TempDir(), "beats"), strings.ReplaceAll(name, " ", "-")
			key := "service/" + election + "/leader"
			args := append([]string{"--http-addr", addr, "--token", secret, "campaign", election, "--"}, programs(file)["ignores"]...)
			p := start(t, os.Args[0], args...)
			eventually(t, "beat", func() bool { return len(beats(t, file)) > 0 })
			refused.Store(0)
			fail(t)
			eventually(t, "refused query", func() bool { return refused.Load() > 0 })
			w.unlock(key, w.get(key).Session)
			w.acquire(key, w.session(nil), "another")
			began := time.Now()
			_ = p.Wait()
			all := beats(t, file)
			t.Logf("the program ended %s after another client led: %s", all[len(all)-1].Sub(began), p.errOut.String())
			if overlap := all[len(all)-1].Sub(began); overlap > 13*time.Second+500*time.Millisecond || p.ProcessState.ExitCode() != exitFailed {
				t.Errorf("the program ended %s after another client led, exit code %d", overlap, p.ProcessState.ExitCode())
			}
			has(t, p.errOut.String(), "lost the lock on "+key)
		})
	}
}

// setRules changes the rules of the policy that token created.
func setRules(t *testing.T, client *api.Client, name, rules string) {
	t.Helper()
	policy, _, err := client.ACL().PolicyReadByName(name, nil)
	if err == nil {
		policy.Rules = rules
		_, _, err = client.ACL().PolicyUpdate(policy, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestADeniedCampaignEnds(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	w.client = agent.Client()
	var refused atomic.Int64
	addr := consultest.ReverseProxy(t, agent.Addr(), func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		seen := &statusWriter{ResponseWriter: rw}
		if forward.ServeHTTP(seen, r); seen.status == http.StatusForbidden {
			refused.Add(1)
		}
	})
	const key = "service/job/leader"
	w.acquire(key, w.session(nil), "another")
	without := func(resource string) func(*testing.T, string) {
		return func(t *testing.T, _ string) {
			setRules(t, w.client, strings.ReplaceAll(t.Name(), "/", "-"), strings.Replace(campaignRules, resource+`_prefix "" { policy = "write" }`, resource+`_prefix "" { policy = "deny" }`, 1))
		}
	}
	for name, tt := range map[string]struct {
		rules string
		deny  func(t *testing.T, secret string)
	}{
		"no key read at the start":      {rules: strings.Replace(campaignRules, "write", "deny", 1)},
		"no key write at the start":     {rules: strings.Replace(campaignRules, "write", "read", 1)},
		"no session write at the start": {rules: strings.Replace(campaignRules, `session_prefix "" { policy = "write"`, `session_prefix "" { policy = "read"`, 1)},
		"key read removed":              {campaignRules, without("key")},
		"session write removed":         {campaignRules, without("session")},
		"token revoked": {campaignRules, func(t *testing.T, secret string) {
			own, _, err := w.client.ACL().TokenReadSelf(&api.QueryOptions{Token: secret})
			if err == nil {
				_, err = w.client.ACL().TokenDelete(own.AccessorID, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			secret := token(t, w.client, strings.ReplaceAll(t.Name(), "/", "-"), tt.rules)
			refused.Store(0)
			p := start(t, os.Args[0], "--http-addr", addr, "--token", secret, "campaign", "job", "--name", name, "--", "true")
			began := time.Now()
			if tt.deny != nil {
				eventually(t, "session", func() bool { return w.named(name) })
				tt.deny(t, secret)
				began = time.Now()
			}
			_ = p.Wait()
			if code := p.ProcessState.ExitCode(); code != exitDenied || time.Since(began) > 15*time.Second || refused.Load() > 10 {
				t.Errorf("exit code %d after %s and %d refused requests: %q", code, time.Since(began), refused.Load(), p.errOut.String())
			}
			t.Logf("%s, %d refused: %s", time.Since(began), refused.Load(), p.errOut.String())
		})
	}
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// named reports whether a session has this name.
func (w *testConsul) named(name string) bool {
	w.t.Helper()
	sessions, _, err := w.client.Session().List(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Name == name {
			return true
		}
	}
	return false
}

// hangs returns an address at which Consul no longer responds after a request whose path or body contains text.
func (w *testConsul) hangs(text string) (addr string, hanging *atomic.Bool) {
	hanging = &atomic.Bool{}
	return consultest.ReverseProxy(w.t, w.addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if strings.Contains(r.URL.Path, text) || bytes.Contains(body, []byte(text)) {
			hanging.Store(true)
		}
		if hanging.Load() {
			<-r.Context().Done()
			return
		}
		forward.ServeHTTP(rw, r)
	}), hanging
}

func TestTheExitCodeOfAProgramCountsAfterAFailedRelease(t *testing.T) {
	w := onMemory(t)
	addr := consultest.ReverseProxy(t, w.addr, func(rw http.ResponseWriter, r *http.Request, forward http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("unlock")) || strings.Contains(r.URL.Path, "/session/destroy/") {
			http.Error(rw, "Permission denied", http.StatusForbidden)
			return
		}
		forward.ServeHTTP(rw, r)
	})
	for script, code := range map[string]int{"exit 0": exitOK, "exit 7": 7} {
		r := w.run("--http-addr", addr, "campaign", "job-"+script[5:], "--", "sh", "-c", script).must(t, code)
		has(t, r.errOut, `electop: the session "electop campaign" may remain and hold service/job-`+script[5:]+`/leader until it expires in about 30s: Permission denied`)
	}
}

func TestASecondSignalEndsElectopAtOnce(t *testing.T) {
	slow(t)
	const pending = "a write or a program in progress may still complete"
	for name, tt := range map[string]struct {
		text string // text of the first request to which Consul does not respond
		args []string
		says string
	}{
		"campaign": {"unlock", []string{"campaign", "job"}, `the session "electop campaign" may remain and hold service/job/leader until it expires in about 30s`},
		"release":  {"unlock", []string{"release", "web", "--yes"}, pending},
		"destroy":  {"/session/destroy/", []string{"destroy", "web", "--yes"}, pending},
		"drain":    {"unlock", []string{"drain", "node-1", "--yes"}, pending},
		"drill":    {"unlock", []string{"drill", "web", "--yes"}, pending},
	} {
		t.Run(name, func(t *testing.T) {
			w := onMemory(t)
			w.acquire("service/web/leader", w.session(nil), "web-1")
			addr, hanging := w.hangs(tt.text)
			p := start(t, os.Args[0], append([]string{"--http-addr", addr}, tt.args...)...)
			if name == "campaign" {
				eventually(t, "leader", func() bool { pair := w.get("service/job/leader"); return pair != nil && pair.Session != "" })
			} else {
				eventually(t, "write", hanging.Load)
			}
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			for again := time.Tick(repeatedSignal * 2); ; {
				if err := p.Process.Signal(syscall.SIGINT); err != nil {
					t.Log(err) // the process has just ended
				}
				select {
				case <-again:
					continue
				case <-ended:
				}
				break
			}
			if code := p.ProcessState.ExitCode(); code != 128+int(syscall.SIGINT) {
				t.Errorf("exit code %d", code)
			}
			has(t, p.errOut.String(), "electop: ended at once by a second signal: "+tt.says)
		})
	}
}
