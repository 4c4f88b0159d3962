package consulx

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

// fault is a failure of one write between electop and Consul.
type fault struct {
	name string
	// applied is set if Consul applies the write.
	applied bool
	// answer writes the response to the client; nil means no response.
	answer func(w http.ResponseWriter, r *http.Request)
}

func status(code int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

const leadershipLost = "rpc error making call: raft apply failed: leadership lost while committing log"

// unknownFaults returns the faults after which the client cannot exclude that the write was applied.
func unknownFaults() []fault {
	cutNow := func(w http.ResponseWriter, _ *http.Request) { cutConnection(w) }
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"Results":`)
		_ = http.NewResponseController(w).Flush()
		cutConnection(w)
	}
	return []fault{
		{"leadership lost", true, status(500, leadershipLost)},
		{"leadership lost", false, status(500, leadershipLost)},
		{"connection cut", true, cutNow},
		{"connection cut", false, cutNow},
		{"no response", true, nil},
		{"no response", false, nil},
		{"half a response", true, half},
		{"bad gateway", true, status(502, "<html>")},
		{"gateway timeout", false, status(504, "")},
		{"unavailable", false, status(503, "")},
		{"null", true, status(200, "null")},
		{"a page that contains true", false, status(200, `<html><script async="true">`)},
		{"a null result", true, status(200, `{"Results":[null]}`)},
		{"no results", true, status(200, `{"Results":[],"Errors":null}`)},
		{"a conflict without errors", true, status(409, `{}`)},
		{"the results of another transaction", false, status(200, `{"Results":[{"KV":{"Key":"other","ModifyIndex":9999999}}]}`)},
		{"raft shut down", true, status(500, "raft apply failed: raft is already shutdown")},
	}
}

// certainFaults returns the faults after which nothing was written.
func certainFaults() []fault {
	return []fault{
		{"no cluster leader", false, status(500, "rpc error making call: No cluster leader")},
		{"not the leader", false, status(500, "rpc error making call: raft apply failed: node is not the leader")},
		{"leadership transfer", false, status(500, "raft apply failed: leadership transfer in progress")},
		{"denied", false, status(403, "Permission denied: token lacks permission")},
		{"too many connections", false, status(429, "")},
		{"redirect", false, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}},
	}
}

// meet injects the fault into all writes of one kind, and runs a function with a client of that Consul. A write that
// hangs ends at its deadline.
func (f fault) meet(t *testing.T, b backend, is func(*http.Request) bool, do func(context.Context, *Operator) error) error {
	t.Helper()
	var arrived atomic.Bool
	var writing sync.Mutex // a later read waits until the write is applied
	faulty := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		writing.Lock()
		arrived.Store(arrived.Load() || is(r))
		if is(r) && f.applied {
			forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
		}
		writing.Unlock()
		if !is(r) {
			forward.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if f.answer == nil {
			<-r.Context().Done()
			return
		}
		f.answer(w, r)
	})
	if f.answer != nil {
		return do(t.Context(), NewOperator(faulty, nil))
	}
	for limit := 2 * time.Second; ; limit *= 2 { // on a slow machine, the reads before the write may take long
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		err := do(ctx, NewOperator(faulty, nil))
		if cancel(); arrived.Load() || t.Context().Err() != nil {
			return err
		}
	}
}

func TestWritesWithoutAResult(t *testing.T) {
	onBoth(t, func(b backend) {
		for _, f := range unknownFaults() {
			b.T.Run(f.name, func(t *testing.T) {
				if f.answer == nil {
					t.Parallel() // these wait
				}
				for _, a := range writes(b) {
					key, err := a.run(t, f)
					if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrMoved) || errors.Is(err, ErrDenied) {
						t.Errorf("%s: got error %v, want ErrUnknown", a.name, err)
						continue
					}
					want := "is now held by session"
					if f.applied {
						want = "is now unlocked"
					}
					if text := Describe(err); !strings.Contains(text, "may have been applied") || !strings.Contains(text, want) {
						t.Errorf("%s: %s; want %q", a.name, text, want)
					}
					if p := b.Get(key); (p.Session == "") != f.applied {
						t.Errorf("%s: the key is held by %q, although the write was applied: %t", a.name, p.Session, f.applied)
					}
				}
			})
		}
	})
}

func TestWritesThatCertainlyFailed(t *testing.T) {
	onBoth(t, func(b backend) {
		for _, f := range certainFaults() {
			b.T.Run(f.name, func(t *testing.T) {
				for _, a := range writes(b) {
					if _, err := a.run(t, f); err == nil || errors.Is(err, ErrUnknown) || strings.Contains(err.Error(), "may have been") {
						t.Errorf("%s: got %v", a.name, err)
					}
				}
			})
		}
	})
}

// write is an action that writes. run executes it.
type write struct {
	name string
	run  func(t *testing.T, f fault) (key string, err error)
}

// writes returns the actions on new keys. begun receives the key before the write.
func writes(b backend, begun ...func(key string)) []write {
	action := func(is func(*http.Request) bool, do func(context.Context, *Operator, election.Target) error) func(*testing.T, fault) (string, error) {
		return func(t *testing.T, f fault) (string, error) {
			t.Helper()
			target := b.hold()
			for _, f := range begun {
				f(target.Key)
			}
			return target.Key, f.meet(t, b, is, func(ctx context.Context, op *Operator) error { return do(ctx, op, target) })
		}
	}
	return []write{
		{"release", action(isRelease, func(ctx context.Context, op *Operator, t election.Target) error { return op.Release(ctx, t) })},
		{"destroy", action(isDestroy, func(ctx context.Context, op *Operator, t election.Target) error {
			return op.DestroySession(ctx, shown(t))
		})},
	}
}

// The error must contain the current state of the key, whatever it is.
func TestStateAfterAWriteWithoutAResult(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		other := b.Session()
		for want, then := range map[string]func(key string){
			"does not exist now": func(key string) {
				if _, err := b.API.KV().Delete(key, nil); err != nil {
					t.Error(err)
				}
			},
			"is now held by session " + election.ShortID(other): func(key string) {
				b.Acquire(api.KVPair{Key: key, Session: other})
			},
		} {
			var key string
			for _, a := range writes(b, func(k string) { key = k }) {
				f := fault{applied: true, answer: func(w http.ResponseWriter, r *http.Request) {
					then(key)
					status(500, leadershipLost)(w, r)
				}}
				if _, err := a.run(t, f); !errors.Is(err, ErrUnknown) || !strings.Contains(Describe(err), want) {
					t.Errorf("%s: want %q, got %v", a.name, want, err)
				}
			}
		}
	})
}

// While Consul elects its leader, reads also fail.
func TestStateIsReadAgainUntilConsulResponds(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		target, failures := b.hold(), 0
		client := b.through(func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
			switch {
			case isRelease(r):
				failures = 3
				forward.ServeHTTP(httptest.NewRecorder(), r)
				status(500, leadershipLost)(w, r)
			case failures > 0:
				failures--
				status(500, "rpc error getting client: failed to get conn")(w, r)
			default:
				forward.ServeHTTP(w, r)
			}
		})
		var last election.OperatorAction
		target.Note = "fix of leader_failed"
		err := NewOperator(client, func(a election.OperatorAction) { last = a }).Release(t.Context(), target)
		if last.Stage != election.ActionFailed || last.Detail != target.Note || !errors.Is(err, ErrUnknown) || !strings.Contains(Describe(err), "is now unlocked") || failures != 0 {
			t.Errorf("%d failures left, error %v; want ErrUnknown and the current state of the key after the last failure", failures, err)
		}
	})
}

func TestWriteToAnAgentThatIsGone(t *testing.T) {
	c := newClient(t, Config{Address: "127.0.0.1:1"})
	if err := c.release(t.Context(), &election.Pair{Key: "a", Session: "s"}); errors.Is(err, ErrUnknown) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}
