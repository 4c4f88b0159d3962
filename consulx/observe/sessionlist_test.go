package observe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// listConsul is a Consul with held keys. It delays its response to the query for all sessions.
type listConsul struct {
	after time.Duration
	keys  int
	mu    sync.Mutex
	lists int
	infos int
}

func (l *listConsul) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Path == "/v1/session/list":
		l.count(&l.lists)
		hang(r, l.after)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return consultest.Answer(r, 200, 7, l.all(`{"ID":"s%d","Node":"listed"}`)), nil
	case strings.HasPrefix(r.URL.Path, "/v1/session/info/s"):
		l.count(&l.infos)
		return consultest.Answer(r, 200, 7, l.all(`{"ID":"s%d","Node":"asked"}`)), nil
	}
	f := &fakeConsul{keys: func(_ int, index string, r *http.Request) (int, int, string) {
		if index != "" {
			hang(r, time.Hour)
		}
		return 200, 7, l.all(`{"Key":"%[1]d/leader","Session":"s%[1]d","ModifyIndex":5,"CreateIndex":5,"LockIndex":1}`)
	}}
	return f.RoundTrip(r)
}

// all returns a JSON list with one object per key.
func (l *listConsul) all(object string) string {
	objects := make([]string, l.keys)
	for i := range objects {
		objects[i] = fmt.Sprintf(object, i)
	}
	return "[" + strings.Join(objects, ",") + "]"
}

func (l *listConsul) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

// The first board must be complete: if many sessions are missing, the observer delays the response about keys until it
// has read the list of sessions, for a limited time, and then reads another list. If only a few are missing, it reads each
// session separately.
func TestTheFirstBoardHasItsSessions(t *testing.T) {
	many := consulx.ManySessions + 1
	for _, tt := range []struct {
		name         string
		keys         int
		after        time.Duration // delay of the session list
		pattern      string
		at           time.Duration // time of the first complete board
		node         string        // node of a leader on the first complete board
		later        string        // node of the same leader at the end
		lists, infos int
	}{
		{"many sessions, early list", many, 300 * time.Millisecond, "*/leader", 300 * time.Millisecond, "listed", "listed", 1, 0},
		{"many, late", many, 3 * time.Second, "*/leader", time.Second + sessionPatience, "", "listed", 2, 0},
		{"many, never", many, time.Hour, "*/leader", time.Second + sessionPatience, "", "", 2, 0},
		{"few", 1, time.Hour, "*/leader", 0, "asked", "asked", 1, 1},
		{"one key", 1, 0, "0/leader", 0, "asked", "asked", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &listConsul{after: tt.after, keys: tt.keys}
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				o := New(over(t, l), Options{Patterns: patterns(t, tt.pattern), Wait: fakeWait})
				var run sync.WaitGroup
				run.Go(func() { o.Run(ctx) })
				time.AfterFunc(9*time.Second, cancel)
				node := func(s *election.Snapshot) string {
					if ses := s.Elections[0].Session; ses != nil {
						return ses.Node
					}
					return ""
				}
				var whole, last *election.Snapshot
				for s := range o.Snapshots() {
					if s.Loaded && whole == nil {
						whole = s
					}
					last = s
				}
				run.Wait()
				if got := fmt.Sprint(whole.At.Sub(start), node(whole), node(last)); got != fmt.Sprint(tt.at, tt.node, tt.later) {
					t.Errorf("time of the first complete board, node, node later: got %s, want %s", got, fmt.Sprint(tt.at, tt.node, tt.later))
				}
				if l.lists != tt.lists || l.infos != tt.infos {
					t.Errorf("%d lists and %d single sessions were read, want %d and %d", l.lists, l.infos, tt.lists, tt.infos)
				}
			})
		})
	}
}
