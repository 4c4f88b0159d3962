package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// listed is an element of `list -o json`.
type listed struct {
	Election, Key, Datacenter, State, Leader, Value, Flags string
	Term                                                   uint64
	CreateIndex                                            uint64 `json:"create_index"`
	ModifyIndex                                            uint64 `json:"modify_index"`
	SinceKnown                                             *bool  `json:"since_known"`
	Session                                                *struct {
		ID, Name, Node, TTL, Behavior string
		LockDelay                     string   `json:"lock_delay"`
		NodeChecks                    []string `json:"node_checks"`
		ServiceChecks                 []string `json:"service_checks"`
	}
}

func list(t *testing.T, w *testConsul, args ...string) []listed {
	t.Helper()
	r := w.run(append([]string{"list", "-o", "json"}, args...)...).must(t, exitOK)
	var all []listed
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return all
}

func TestListShowsTheStateOfTheStore(t *testing.T) {
	onBoth(t, func(t *testing.T, w *testConsul) {
		p := prefix(t)
		curl := w.session(func(s *api.SessionEntry) { s.TTL = "20s"; s.LockDelay = 7 * time.Second })
		w.acquire(p+"/curl/leader", curl, `{"Node":"web-1","Port":80}`)
		released := w.session(nil)
		w.acquire(p+"/released/leader", released, "old")
		w.unlock(p+"/released/leader", released)
		lock, err := w.client.LockOpts(&api.LockOptions{Key: p + "/lock/leader", Value: []byte("locked")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Lock(nil); err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		if _, err := w.client.KV().Put(&api.KVPair{Key: p + "/config/other"}, nil); err != nil {
			t.Fatal(err)
		}

		all := list(t, w, "-k", p+"/*/leader")
		if len(all) != 3 {
			t.Fatalf("%d elections: %+v", len(all), all)
		}
		for _, got := range all {
			want := w.get(got.Key)
			if got.Term != want.LockIndex || got.CreateIndex != want.CreateIndex || got.ModifyIndex != want.ModifyIndex ||
				got.Value != string(want.Value) || got.Datacenter != "dc1" || (got.State == "led") != (want.Session != "") {
				t.Errorf("%+v\nis not %+v", got, want)
			}
			if want.Session == "" {
				if got.Session != nil || got.Leader != "" {
					t.Errorf("a released key has a leader: %+v", got)
				}
				continue
			}
			if s, _, _ := w.client.Session().Info(want.Session, nil); got.Session.ID != s.ID || got.Session.Name != s.Name ||
				got.Session.Node != s.Node || got.Session.Behavior != s.Behavior || got.Session.LockDelay != s.LockDelay.String() {
				t.Errorf("session %+v\nis not %+v", got.Session, s)
			}
			if got.SinceKnown == nil || *got.SinceKnown {
				t.Error("since_known is not false, although a single read does not show when the term began")
			}
		}
		if all[0].Leader != "web-1" || all[0].Session.TTL != "20s" || all[1].Leader != "locked" || all[1].Flags != "3304740253564472344" {
			t.Errorf("%+v", all)
		}
		if one := list(t, w, "-k", p+"/*/leader", "lock"); len(one) != 1 || one[0].Election != "lock" {
			t.Errorf("by name: %+v", one)
		}
	})
}

func TestPatterns(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	for _, key := range []string{"service/web/leader", "service/a/b/leader", "vault/core/lock", "other/x"} {
		w.acquire(key, s, key)
	}
	tests := []struct {
		args []string
		want string
	}{
		{nil, "web"},
		{[]string{"-k", "/service/*/leader"}, "web"},
		{[]string{"-k", "service/**/leader"}, "a/b web"},
		{[]string{"-k", "vault/core/lock"}, "vault/core/lock"},
		{[]string{"-k", "/vault/core/lock", "-k", "service/*/leader"}, "web vault/core/lock"},
		{[]string{"-k", "service/web/leader", "-k", "service/*/leader"}, "service/web/leader"},
		{[]string{"-k", "**"}, "other/x service/a/b/leader service/web/leader vault/core/lock"},
		{[]string{"-k", "missing/key"}, ""},
	}
	for _, tt := range tests {
		var names []string
		for _, e := range list(t, w, tt.args...) {
			names = append(names, e.Election)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.args, got, tt.want)
		}
	}
	if r := w.run("list", "-o", "json", "-k", "missing/key").must(t, exitOK); r.out != "[]\n" {
		t.Errorf("without an election, list printed %q", r.out)
	}
}

func TestErrorsHaveOneLineAndAnExitCode(t *testing.T) {
	w := onMemory(t)
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	w.acquire("a/same/x", s, "v")
	w.acquire("b/same/x", s, "v")
	tests := []struct {
		args []string
		code int
		says string
	}{
		{[]string{"show", "nobody"}, exitNoElection, "no such election: nobody"},
		{[]string{"list", "nobody"}, exitNoElection, "no such election: nobody"},
		{[]string{"watch", "nobody"}, exitNoElection, "no such election: nobody"},
		{[]string{"release", "nobody", "--yes"}, exitNoElection, "no such election: nobody"},
		{[]string{"show", "same", "-k", "a/*/x", "-k", "b/*/x"}, exitUsage, "a/same/x, b/same/x"},
		{[]string{"list", "-k", "a**b"}, exitUsage, "** must be a whole segment"},
		{[]string{"list", "-k", "[a"}, exitUsage, `pattern "[a": [ is not supported`},
		{[]string{"show", "web", "-k", "{a,b}"}, exitUsage, `pattern "{a,b}": { is not supported`},
		{[]string{"watch", "-k", "service/*/leader", "-k", "a?"}, exitUsage, `pattern "a?": ? is not supported`},
		{[]string{"release", "web", "-k", "[a"}, exitUsage, `pattern "[a"`},
		{[]string{"destroy", "--session", "x", "--yes", "-k", "[a"}, exitUsage, `pattern "[a"`},
		{[]string{"campaign", "web", "-k", "[a", "--", "no-such-program"}, exitUsage, `pattern "[a"`},
		{[]string{"doctor", "-k", "[a"}, exitUsage, `pattern "[a"`},
		{[]string{"-k", "[a"}, exitUsage, `pattern "[a"`},
		{[]string{"list", "-o", "xml"}, exitUsage, "must be table or json"},
		{[]string{"list", "--nope"}, exitUsage, "unknown flag: --nope"},
		{[]string{"nope"}, exitUsage, `unknown command "nope"`},
		{[]string{"show"}, exitUsage, "requires exactly one NAME"},
		{[]string{"release", "web"}, exitUsage, "stdin is not a terminal; use --yes to skip the confirmation"},
		{[]string{"release", "web", "--yes", "--read-only"}, exitUsage, "--read-only"},
		{[]string{"destroy", "web", "--yes", "--read-only"}, exitUsage, "--read-only"},
		{[]string{"destroy", "--yes"}, exitUsage, "requires at least one NAME"},
		{[]string{"release", "--yes"}, exitUsage, "requires at least one NAME"},
		{[]string{"release", "web", "nobody", "--yes"}, exitNoElection, "no such election: nobody"},
		{[]string{"release", "--node", "nowhere", "--yes"}, exitNoElection, "no session on node nowhere leads an election"},
		{[]string{"destroy", "web", "--session", "x", "--yes"}, exitUsage, "--session cannot be combined with NAME"},
		{[]string{"destroy", "--session", "nope", "--yes"}, exitFailed, "nope"},
		{[]string{"demo", "--services", "0", "--headless"}, exitUsage, "--services"},
		{[]string{"list", "--log-level", "loud"}, exitUsage, "--log-level"},
		{[]string{"release", "web", "--yes", "--wait", "-5s"}, exitUsage, "--wait"},
		{[]string{"list", "--max-watches", "500"}, exitUsage, "--max-watches"},
		{[]string{"campaign", "web", "--lock-delay", "2m"}, exitUsage, "--lock-delay"},
		{[]string{"demo", "-k", "x", "--headless"}, exitUsage, "-k"},
		{[]string{"watch", "--log-level", "loud"}, exitUsage, "--log-level"},
		{[]string{}, exitFailed, "electop list"},
		{[]string{"list", "--http-addr", "127.0.0.1:1"}, exitFailed, "cannot reach Consul at 127.0.0.1:1: connection refused"},
		{[]string{"watch", "--http-addr", "127.0.0.1:1"}, exitFailed, "cannot reach Consul at 127.0.0.1:1: connection refused"},
		{[]string{"list", "--http-addr", "ftp://x"}, exitFailed, "unknown scheme"},
		{[]string{"list", "--config", "/does/not/exist"}, exitFailed, "config file"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := w.run(tt.args...).must(t, tt.code)
			if r.out != "" || strings.Count(r.errOut, "\n") != 1 || !strings.Contains(r.errOut, tt.says) {
				t.Errorf("out %q err %q", r.out, r.errOut)
			}
		})
	}
}

func TestUnknownTokenIsReportedInOneLine(t *testing.T) {
	agent := consultest.Dev(t, consultest.WithACL())
	w := newTestConsul(t, agent.Addr())
	const unknown = "11111111-2222-3333-4444-555555555555"
	for _, args := range [][]string{{"list"}, {"show", "web"}, {"watch"}} {
		r := w.run(append(args, "--token", unknown)...).must(t, exitDenied)
		if strings.Contains(r.errOut, unknown) || strings.Count(r.errOut, "\n") != 1 {
			t.Errorf("%v: %q", args, r.errOut)
		}
	}
	w.client = agent.Client()
	s := w.session(nil)
	w.acquire("service/web/leader", s, "web-1")
	keys := token(t, w.client, "keys", `key_prefix "" { policy = "read" }`)
	has(t, w.run("list", "-o", "json", "--token", keys).must(t, exitOK).out, `"session":{"id":"`+s+`"}`)
	r := w.run("list", "-o", "json").must(t, exitOK)
	if r.out != "[]\n" || !strings.Contains(r.errOut, "elections may be missing") {
		t.Errorf("without a token: out %q err %q", r.out, r.errOut)
	}
}
