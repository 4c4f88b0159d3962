package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election/query"
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
	return decoded[[]listed](t, w.run(append([]string{"list", "-o", "json"}, args...)...).must(t, exitOK).out)
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
		{[]string{"watch", "nobody"}, exitNoElection, "no such election: nobody"},
		{[]string{"release", "nobody", "--yes"}, exitNoElection, "no such election: nobody"},
		{[]string{"show", "same", "-k", "a/*/x", "-k", "b/*/x"}, exitUsage, "a/same/x, b/same/x"},
		{[]string{"list", "-k", "[a"}, exitUsage, `pattern "[a": [ is not supported`},
		{[]string{"doctor", "-k", "[a"}, exitUsage, `pattern "[a"`},
		{[]string{"list", "-o", "xml"}, exitUsage, "must be one of [table json]"},
		{[]string{"list", "--nope"}, exitUsage, "unknown flag: --nope"},
		{[]string{"nope"}, exitUsage, `unknown command "nope"`},
		{[]string{"show"}, exitUsage, "wrong number of arguments; the usage is electop show NAME"},
		{[]string{"release", "web"}, exitUsage, "stdin is not a terminal; use --yes to skip the confirmation"},
		{[]string{"release", "web", "--yes", "--read-only"}, exitUsage, "--read-only"},
		{[]string{"destroy", "web", "--yes", "--read-only"}, exitUsage, "--read-only"},
		{[]string{"release", "--yes"}, exitUsage, "requires at least one NAME"},
		{[]string{"release", "--node", "nowhere", "--yes"}, exitNoElection, "no session on node nowhere leads an election"},
		{[]string{"destroy", "web", "--session", "x", "--yes"}, exitUsage, "--session cannot be combined with NAME"},
		{[]string{"destroy", "--session", "../../x", "--yes"}, exitUsage, `--session "../../x": must be the ID of a session`},
		{[]string{"destroy", "--session", "0e0e0e0e-0000-4000-8000-abadcafe0001", "--yes"}, exitFailed, "0e0e0e0e"},
		{[]string{"discover", "a", "b"}, exitUsage, "electop discover [PREFIX]"},
		{[]string{"show", "web", "--probe", "--read-only"}, exitUsage, "--read-only forbids --probe"},
		{[]string{"list", "--log-level", "loud"}, exitUsage, "--log-level"},
		{[]string{"release", "web", "--yes", "--wait", "-5s"}, exitUsage, "--wait"},
		{[]string{"list", "--max-watches", "500"}, exitUsage, "--max-watches"},
		{[]string{"demo", "--headless"}, exitUsage, "remove --http-addr"},
		{[]string{"watch", "--exec", "true", "--exec-timeout", "-1s"}, exitUsage, "--exec-timeout -1s: must be 0 or more"},
		{[]string{}, exitFailed, "electop list"},
		{[]string{"list", "--http-addr", "127.0.0.1:1"}, exitFailed, "cannot reach Consul at 127.0.0.1:1: connection refused"},
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

func TestDemoChecksItsFlags(t *testing.T) {
	withoutConfig(t)
	for want, flag := range map[string]string{"--services and --candidates must be at least 1": "--services=0", "remove --key": "--key=x"} {
		has(t, runPlain(t, "demo", "--headless", flag).must(t, exitUsage).errOut, want)
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
	if r.out != "[]\n" || !strings.Contains(r.errOut, "this token cannot read all keys") {
		t.Errorf("without a token: out %q err %q", r.out, r.errOut)
	}
}

func TestListAdvice(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	good := w.session(func(s *api.SessionEntry) { s.Name, s.TTL, s.LockDelay = "good", "20s", 15*time.Second })
	bad := w.session(func(s *api.SessionEntry) { s.Name, s.LockDelay = "bad", time.Millisecond })
	w.acquire(p+"/good/leader", good, "good")
	w.acquire(p+"/bad/leader", bad, "bad")
	if _, err := w.client.KV().Put(&api.KVPair{Key: p + "/bad/leader", Value: []byte("x")}, nil); err != nil {
		t.Fatal(err)
	}
	r := w.run("list", "--advice", "-o", "json", "-k", p+"/*/leader").must(t, exitOK)
	var codes []string
	for _, a := range decoded[[]struct{ Election, Key, Code, Why, Do string }](t, r.out) {
		codes = append(codes, a.Election+" "+a.Code)
		if a.Key != p+"/"+a.Election+"/leader" || a.Why == "" || a.Do == "" {
			t.Errorf("%+v", a)
		}
	}
	if want := []string{"bad overwritten", "bad no_checks", "bad short_lock_delay", "good no_checks"}; !slices.Equal(codes, want) {
		t.Errorf("%v, want %v", codes, want)
	}
	table := w.run("list", "--advice", "bad", "-k", p+"/*/leader").must(t, exitOK)
	has(t, table.out, "overwritten, urgent\nElections    bad\nWhy  ", "\n\nshort_lock_delay\n")
	if strings.Contains(table.out, "good") {
		t.Errorf("the table contains an election that was not selected: %s", table.out)
	}
	w = onMemory(t)
	for _, name := range []string{"auth", "mail"} {
		w.acquire("service/"+name+"/leader", w.session(nil), "x")
	}
	has(t, w.run("list", "--advice").must(t, exitOK).out, "no_checks, urgent\nElections    auth, mail\n") // equal advice is written once
	w = onMemory(t)
	if r := w.run("list", "--advice", "-o", "json").must(t, exitOK); r.out != "[]\n" {
		t.Errorf("%q", r.out)
	}
	r = w.run("list", "--advice").must(t, exitOK)
	has(t, r.errOut, "no advice for these elections")
}

// outage writes a history in which web lost its leader and mail kept its leader. After the observer has ended, db
// gets a leader, which the history does not contain.
func outage(t *testing.T, w *testConsul) string {
	t.Helper()
	file := historyFile(t)
	a, b := w.session(nil), w.session(nil)
	w.acquire("service/web/leader", a, "web-1")
	events := w.follow("watch", "-o", "json", "--history", file)
	events.until("elected")
	w.acquire("service/mail/leader", b, "mail-1")
	events.until("elected")
	w.run("release", "web", "--yes", "--history", file).must(t, exitOK)
	events.until("explained")
	events.stop()
	w.acquire("service/db/leader", b, "db-1")
	return file
}

func TestListContinuesTheHistory(t *testing.T) {
	w := onMemory(t)
	file := outage(t, w)
	r := w.run("list", "-o", "json", "--history", file).must(t, exitOK)
	for _, want := range []string{`"vacant_since": "`, `"last_leader": "web-1"`, `"leader": "mail-1"`, `"since_known": true`, `"leader": "db-1"`, `"since_known": false`} {
		if strings.Count(r.out, want) != 1 {
			t.Errorf("want %q exactly once in\n%s", want, r.out)
		}
	}
	table := w.run("list", "--history", file).must(t, exitOK).out
	if !regexp.MustCompile(`FOR +TERM +CHANGES/h(.|\n)*db +led +db-1 +node-1 +- +1 +1 (.|\n)*mail +led +mail-1 +node-1 +\d+s +1 +1 `).MatchString(table) {
		t.Error(table)
	}
	r = w.run("list", "-o", "json", "--history", "off").must(t, exitOK)
	for _, unknown := range []string{"vacant_since", "last_leader", `"since_known":true`} {
		if strings.Contains(r.out, unknown) {
			t.Errorf("without a history, the output contains %q:\n%s", unknown, r.out)
		}
	}
}

func TestShowContinuesTheHistory(t *testing.T) {
	w := onMemory(t)
	file := outage(t, w)
	r := w.run("show", "web", "--history", file).must(t, exitOK)
	for _, want := range []string{"Last leader", "web-1 on node-1, term 1, led for ", "Lost because", " released the lock with electop", "The key was released"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	const unknown = "the start was not observed"
	if r := w.run("show", "mail", "--history", file).must(t, exitOK); !strings.Contains(r.out, "Since") || strings.Contains(r.out, unknown) {
		t.Errorf("the time at which mail got its leader is missing:\n%s", r.out)
	}
	has(t, w.run("show", "mail", "--history", "off").must(t, exitOK).out, unknown)
}

func TestListFiltersAndSorts(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	for _, name := range []string{"auth", "mail", "web"} {
		w.acquire(p+"/"+name+"/leader", w.session(nil), name+"-1")
	}
	released := w.session(nil)
	w.acquire(p+"/old/leader", released, "old-1")
	w.unlock(p+"/old/leader", released)
	for _, c := range []struct{ args, want string }{
		{"", "auth mail old web"},
		{"--filter state:led", "auth mail web"},
		{"--filter !state:led", "old"},
		{"--filter /^(auth|web)$/", "auth web"},
		{"--filter nothing", ""},
		{"--filter state:foo", "usage"},
		{"--sort state", "auth mail web old"}, // old is idle: no candidate is known
		{"--sort problems", "auth mail old web"},
		{"--sort leader", "old auth mail web"},
		{"--sort checks", "auth mail old web"},
		{"--sort bogus", "usage"},
		{"--filter state:led mail web", "mail web"},
	} {
		args := append([]string{"list", "-o", "json", "-k", p + "/*/leader"}, strings.Fields(c.args)...)
		if c.want == "usage" {
			w.run(args...).must(t, exitUsage)
			continue
		}
		var names []string
		for _, e := range list(t, w, args[3:]...) {
			names = append(names, e.Election)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// The dashboard begins with the settings unless the command line sets other values. These remain when the context
// changes.
func TestDashboardBeginsWithTheSettings(t *testing.T) {
	twoContexts(t, "a:1", "b:2", "filter: state:vacant\nsort: problems")
	if o := resolved(t); o.view.filter.Text != "state:vacant" || o.view.order.Key != query.ByProblems {
		t.Errorf("%q, %s", o.view.filter.Text, o.view.order)
	}
	o := resolved(t, "--filter", "web", "--sort", "for reverse", "--context", "production").inContext("test")
	if o.view.filter.Text != "web" || o.view.order.String() != "for reverse" {
		t.Errorf("after a switch of the context: filter %q, order %s", o.view.filter.Text, o.view.order)
	}
}

// list and show report a leader on a failed node if the leader's session does not depend on the node's health.
func TestAFailedLeaderIsReported(t *testing.T) {
	w := onMemory(t)
	p := prefix(t)
	k, node := "-k"+p+"/*/leader", "failed-"+strings.ToLower(p)
	if _, err := w.client.Catalog().Register(&api.CatalogRegistration{
		Node: node, Address: "10.0.0.9", Check: &api.AgentCheck{Node: node, CheckID: "serfHealth", Name: "Serf Health Status", Status: "critical"},
	}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.client.Catalog().Deregister(&api.CatalogDeregistration{Node: node}, nil) })
	lasting := w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay = node, time.Second })
	expiring := w.session(func(s *api.SessionEntry) { s.Node, s.LockDelay, s.TTL = node, time.Second, "1h" })
	w.acquire(p+"/alone/leader", w.session(nil), "alone-1")
	w.acquire(p+"/web/leader", lasting, "web-1")
	w.acquire(p+"/mail/leader", expiring, "mail-1")
	for _, args := range [][]string{{"show", "web", k}, {"show", "mail", k}, {"list", "--advice", k}} {
		has(t, w.run(args...).must(t, exitOK).out, node+" has failed (serfHealth is critical)")
	}
	if out := w.run("show", "alone", k).must(t, exitOK).out; strings.Contains(out, "has failed") {
		t.Errorf("show reports a failed leader, although the leader is healthy: %s", out)
	}
	if out := w.run("list", "--filter", "advice:leader_failed", k).must(t, exitOK).out; strings.Count(out, node[:20]) != 2 || strings.Contains(out, "alone") {
		t.Errorf("want the two elections whose leaders have failed, got %s", out)
	}
	out := w.run("list", "--sort", "problems", k).must(t, exitOK).out
	if strings.Index(out, "alone-1") < max(strings.Index(out, "web-1"), strings.Index(out, "mail-1")) {
		t.Errorf("want the healthy election after the others, got %s", out)
	}
}

// list reports that it cannot read the checks with which it finds failed leaders.
func TestUnreadableChecksAreReported(t *testing.T) {
	w := onMemory(t)
	w.acquire("service/web/leader", w.session(nil), "web-1")
	addr := unhealthy(t, w.addr)
	for _, args := range [][]string{{"--advice"}, {"--filter", "advice:leader_failed"}, {"--sort", "problems"}} {
		r := w.run(append([]string{"list", "--http-addr", addr}, args...)...).must(t, exitOK)
		if !strings.Contains(r.errOut, "the checks of 1 node cannot be read: leaders") {
			t.Errorf("%v: %q", args, r.errOut)
		}
	}
}
