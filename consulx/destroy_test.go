package consulx

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// A destroy must end exactly the holds that the user was shown.
func TestDestroyRefusesAnotherListOfKeys(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		s := b.Session()
		p := b.Prefix()
		one, two := p+"one", p+"two"
		b.Acquire(api.KVPair{Key: one, Session: s})
		d := shown(targetOf(PairOf(b.Get(one))))
		op := NewOperator(b.client, nil)
		refused := func(want string, d election.Destroy) {
			t.Helper()
			err := op.DestroySession(t.Context(), d)
			entry, _, infoErr := b.API.Session().Info(s, nil)
			if !errors.Is(err, ErrMoved) || !strings.Contains(Describe(err), want) || infoErr != nil || entry == nil {
				t.Errorf("%v, session %v %v; want a refusal with %q and the session alive", err, entry, infoErr, want)
			}
		}
		b.Acquire(api.KVPair{Key: two, Session: s})
		refused("the session also holds "+two, d)
		refused("the session also holds "+one, election.Destroy{Target: election.Target{Session: strings.ToUpper(s)}, Shown: time.Now()})
		d.Keys, d.Shown = []string{one, two}, time.Now()
		b.Release(two, s)
		refused("the session no longer holds "+two, d)
		d.Keys, d.Session = []string{one}, strings.ToUpper(s)
		why := errors.New("the node is healthy")
		d.Evidence = func(context.Context) error { return why }
		if err := op.DestroySession(t.Context(), d); !errors.Is(err, why) || b.Get(one).Session != s {
			t.Errorf("without evidence: %v", err)
		}
		d.Evidence = func(context.Context) error { // runs after the search, before the last read
			_, _, err := b.API.KV().Release(&api.KVPair{Key: one, Session: s}, nil)
			return err
		}
		refused("the session no longer holds "+one, d)
		b.Acquire(api.KVPair{Key: one, Session: s, Value: []byte("kept")})
		d.Evidence, d.Shown = nil, time.Now()
		if err := op.DestroySession(t.Context(), d); err != nil || b.Get(one).Session != "" || string(b.Get(one).Value) != "kept" {
			t.Errorf("a session ID in capitals: %v", err)
		}
		if err := op.DestroySession(t.Context(), election.Destroy{Target: election.Target{Session: s}}); !errors.Is(err, ErrNoSession) {
			t.Errorf("a second destroy returned %v, want ErrNoSession", err)
		}
	})
}

func TestDestroyUnderACLsRefusesHiddenKeys(t *testing.T) {
	root, with := underACLs(t)
	s := root.Session()
	root.Acquire(api.KVPair{Key: "seen/a", Session: s})
	root.Acquire(api.KVPair{Key: "unseen/b", Session: s})
	op := NewOperator(with(`key_prefix "seen/" { policy = "read" } session_prefix "" { policy = "write" }`), nil)
	d := shown(election.Target{Key: "seen/a", Session: s})
	if err := op.DestroySession(t.Context(), d); !errors.Is(err, ErrRefused) || !strings.Contains(Describe(err), "cannot read all keys") {
		t.Errorf("hidden keys: %v", err)
	}
	d.Incomplete = true // the user was told
	if err := op.DestroySession(t.Context(), d); err != nil {
		t.Error(err)
	}
}

// A search of the whole store is expensive for Consul.
func TestDestroysShareOneSearch(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		var searches atomic.Int64
		client := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			if r.URL.Query().Has("keys") {
				searches.Add(1)
				if !r.URL.Query().Has("consistent") || r.URL.Query().Has("stale") {
					t.Errorf("the search is not consistent: %s", r.URL)
				}
			}
			forward.ServeHTTP(w, r)
		})
		var all []election.Destroy
		for range 8 {
			all = append(all, shown(b.hold()))
		}
		op := NewOperator(client, nil)
		var actions sync.WaitGroup
		for _, d := range all {
			actions.Go(func() {
				if err := op.DestroySession(t.Context(), d); err != nil {
					t.Error(err)
				}
			})
		}
		actions.Wait()
		if searches.Load() != 1 {
			t.Errorf("%d searches for %d sessions, want 1", searches.Load(), len(all))
		}
		late := b.hold().Session
		if err := op.DestroySession(t.Context(), shown(election.Target{Session: late})); !errors.Is(err, ErrMoved) || searches.Load() != 2 {
			t.Errorf("a key that was acquired after the search: %v after %d searches", err, searches.Load())
		}
	})
}

// A proxy may answer the search. The key then shows that the session holds more than the search found.
func TestDestroyRefusesASearchThatMissedTheKey(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		target := b.hold()
		for _, status := range []int{http.StatusOK, http.StatusNotFound} {
			client := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
				if !r.URL.Query().Has("keys") {
					forward.ServeHTTP(w, r)
					return
				}
				w.Header().Set("X-Consul-Index", "7")
				w.WriteHeader(status)
				_, _ = w.Write([]byte("[]"))
			})
			err := NewOperator(client, nil).DestroySession(t.Context(), shown(target))
			if held := b.Get(target.Key).Session; err == nil || held != target.Session {
				t.Errorf("%d: %v, the key is held by %q", status, err, held)
			}
		}
	})
}

// A destroy has succeeded only if a read afterwards shows it.
func TestDestroyWhoseResultIsNotSeen(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		for name, c := range map[string]struct {
			answer string // replaces that of the destroy, if not empty
			reads  bool   // whether reads after the destroy succeed
			ends   bool   // whether the session ends
			want   string
		}{
			"no read afterwards": {"", false, true, "the keys could not be read afterwards"},
			"not confirmed":      {"false", true, false, "the session still exists"},
			"without effect":     {"true", true, false, "the session still holds "},
		} {
			target := b.hold()
			var destroyed atomic.Bool
			client := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
				switch destroy := strings.HasPrefix(r.URL.Path, "/v1/session/destroy/"); {
				case destroy && c.answer != "":
					_, _ = w.Write([]byte(c.answer))
				case destroyed.Load() && !c.reads:
					http.Error(w, "no leader", http.StatusInternalServerError)
				default:
					destroyed.CompareAndSwap(false, destroy)
					forward.ServeHTTP(w, r)
				}
			})
			op := NewOperator(client, nil)
			err := op.DestroySession(t.Context(), shown(target))
			if !errors.Is(err, ErrUnknown) || !strings.Contains(Describe(err), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			bare := b.Session()
			err = op.DestroySession(t.Context(), shown(election.Target{Session: bare}))
			if want := "confirmed the destroy, but the session still exists"; c.answer == "true" && (!errors.Is(err, ErrUnknown) || !strings.Contains(Describe(err), want)) {
				t.Errorf("%s, a session without keys: %v, want %q", name, err, want)
			}
			if ended := b.Get(target.Key).Session == ""; ended != c.ends {
				t.Errorf("%s: the session ended: %t", name, ended)
			}
		}
	})
}
