package campaign

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/internal/consultest"
	"electop/internal/memconsul"
)

// failing is a transport that, while on is true, replaces the responses to some requests, including pending ones.
type failing struct {
	to      http.RoundTripper
	only    func(*http.Request) bool
	respond func(*http.Request) (*http.Response, error)
	on      atomic.Bool
	count   atomic.Int64 // number of replaced responses
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	replace := f.only(r)
	if !f.on.Load() || !replace {
		if response, err := f.to.RoundTrip(r); !f.on.Load() || !replace {
			return response, err
		}
	}
	f.count.Add(1)
	return f.respond(r)
}

// fails returns a transport to an in-process agent, and the agent without the transport.
func fails(t *testing.T, only func(*http.Request) bool, respond func(*http.Request) (*http.Response, error)) (*failing, consultest.Backend) {
	agent := memconsul.New(memconsul.Config{})
	t.Cleanup(func() { agent.Close() })
	return &failing{to: agent, only: only, respond: respond}, consultest.Backend{T: t, API: over(t, agent).API()}
}

// candidate returns a candidate that the end of the test closes, after the failure has ended.
func candidate(t *testing.T, rt http.RoundTripper, o Options) *Candidate {
	c := New(over(t, rt), o)
	t.Cleanup(func() {
		if f, ok := rt.(*failing); ok {
			f.on.Store(false)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

func isRead(r *http.Request) bool { return r.URL.Path == "/v1/txn" || r.Method == http.MethodGet }

func everything(*http.Request) bool { return true }

func isRenewal(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v1/session/renew/") }

func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func reply(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) { return consultest.Answer(r, status, 7, body), nil }
}

// A proxy or an ACL may reject reads and accept renewals, a cache may serve old responses to GET, and a connection may be
// silent. Another client can then release and acquire the key, and no lock-delay follows.
func TestALeaderWhoseReadsFailLosesTheLeadership(t *testing.T) {
	var leader string
	isGet := func(r *http.Request) bool { return r.Method == http.MethodGet }
	for name, c := range map[string]struct {
		only    func(*http.Request) bool
		respond func(*http.Request) (*http.Response, error)
	}{
		"403": {isRead, reply(http.StatusForbidden, "Permission denied")}, "429": {isRead, reply(http.StatusTooManyRequests, "")},
		"500": {isRead, reply(http.StatusInternalServerError, "rpc error")}, "hanging": {isRead, hang}, "silent queries": {isGet, hang},
		"incomplete": {isRead, reply(http.StatusOK, `[{"Key":"k","Sess`)}, "not Consul's": {isRead, reply(http.StatusOK, "<html>")},
		"old responses": {isGet, func(r *http.Request) (*http.Response, error) {
			return reply(http.StatusOK, `[{"Key":"k","CreateIndex":1,"ModifyIndex":2,"LockIndex":1,"Session":"`+leader+`","Value":null,"Flags":0}]`)(r)
		}},
	} {
		for session, limit := range map[*SessionOptions]time.Duration{
			{}: 10 * time.Second, {TTL: time.Hour, LockDelay: time.Minute}: 10 * time.Second, {LockDelay: MinLockDelay}: 5 * time.Second,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network, agent := fails(t, c.only, c.respond)
					l := campaign(t, candidate(t, network, Options{Key: "k", Session: *session, StopTime: 3 * time.Second}))
					consulx.Sleep(t.Context(), time.Minute+1234*time.Millisecond)
					leader = l.Pair.Session
					network.on.Store(true)
					began := time.Now()
					agent.Release("k", l.Pair.Session)
					awaitLoss(t, l)
					if late := time.Since(began); late > limit || l.Remaining() < 3*time.Second {
						t.Errorf("lost after %s with %s remaining, want at most %s and at least 3s", late, l.Remaining(), limit)
					}
					if n := network.count.Load(); n > 25 {
						t.Errorf("%d failed reads in %s", n, limit)
					}
				})
			})
		}
	}
}

// While reads show that the session holds the key, no other client can lead. The session ends after twice its TTL.
func TestALeaderWhoseRenewalsFailLeadsUntilItsSessionEnds(t *testing.T) {
	for name, respond := range map[string]func(*http.Request) (*http.Response, error){
		"403": reply(http.StatusForbidden, "Permission denied"), "hanging": hang,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, _ := fails(t, isRenewal, respond)
				l := campaign(t, candidate(t, network, Options{Key: "k", StopTime: 3 * time.Second}))
				network.on.Store(true)
				began := time.Now()
				<-l.Lost()
				if took := time.Since(began); took < 29*time.Second || took > 32*time.Second || !errors.Is(l.Err(), consulx.ErrMoved) {
					t.Errorf("lost after %s: %v, want the end of the session after 30s", took, l.Err())
				}
			})
		})
	}
}

func TestACandidateThatIsDeniedFails(t *testing.T) {
	denied := reply(http.StatusForbidden, "Permission denied")
	for name, only := range map[string]func(*http.Request) bool{"reads": isRead, "renewals": isRenewal} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, _ := fails(t, only, denied)
				campaign(t, candidate(t, network.to, Options{Key: "k"}))
				c := candidate(t, network, Options{Key: "k"})
				failed := make(chan error, 1)
				go func() {
					_, err := c.Campaign(t.Context())
					failed <- err
				}()
				consulx.Sleep(t.Context(), time.Minute+time.Second)
				network.on.Store(true)
				began := time.Now()
				select {
				case err := <-failed:
					if n := network.count.Load(); !errors.Is(err, consulx.ErrDenied) || n > 3 || time.Since(began) > 10*time.Second {
						t.Errorf("after %s and %d requests: %v", time.Since(began), n, err)
					}
				case <-time.NewTimer(time.Minute).C:
					t.Errorf("the candidate still waits after a minute and %d requests", network.count.Load())
				}
			})
		})
	}
}

// A proxy may answer instead of Consul. Such a response ends neither a campaign nor a term.
func TestAForeignResponseEndsNoCampaignAndNoTerm(t *testing.T) {
	isTxn := func(r *http.Request) bool { return r.URL.Path == "/v1/txn" }
	for name, tt := range map[string]struct {
		only   func(*http.Request) bool
		status int
		body   string
	}{
		"renewal: 404": {isRenewal, 404, "<html>404 Not Found</html>"}, "renewal: null": {isRenewal, 200, "null"}, "renewal: []": {isRenewal, 200, "[]"},
		"renewal: 502": {isRenewal, 502, "<html>"}, "renewal: another JSON": {isRenewal, 200, `{"error":"not found"}`},
		"transaction: null": {isTxn, 200, "null"}, "transaction: {}": {isTxn, 200, "{}"}, "transaction: no results": {isTxn, 200, `{"Results":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, _ := fails(t, tt.only, reply(tt.status, tt.body))
				network.on.Store(true)
				time.AfterFunc(9*time.Second, func() { network.on.Store(false) })
				l, err := candidate(t, network, Options{Key: "k"}).Campaign(t.Context()) // the pauses between attempts have no limit here
				must(t, err)
				consulx.Sleep(t.Context(), time.Hour)
				if l.Err() != nil || network.count.Load() == 0 {
					t.Errorf("after an hour and %d foreign responses: %v", network.count.Load(), l.Err())
				}
			})
		})
	}
}

func TestASessionWithoutAnIDIsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, _ := fails(t, func(r *http.Request) bool { return r.URL.Path == "/v1/session/create" }, reply(http.StatusOK, "null"))
		network.on.Store(true)
		c := candidate(t, network, Options{Key: "k"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Campaign(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("Campaign returned %v, want an error before its context ends", err)
		}
		network.on.Store(false)
		if l := campaign(t, c); l.Pair.Session == "" || l.Err() != nil {
			t.Errorf("%q leads, %v", l.Pair.Session, l.Err())
		}
	})
}
