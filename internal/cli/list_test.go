package cli

import (
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election/query"
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

func TestDemoChecksItsFlags(t *testing.T) {
	withoutConfig(t)
	for want, flag := range map[string]string{"--services and --candidates must be at least 1": "--services=0", "remove --key": "--key=x"} {
		has(t, runPlain(t, "demo", "--headless", flag).must(t, exitUsage).errOut, want)
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
