package consulx

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"electop/election"
)

// listConsul has one held key and answers the list of all sessions after a while.
type listConsul struct {
	after time.Duration
	body  string
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
		return answer(r, 200, 7, l.body), nil
	case strings.HasPrefix(r.URL.Path, "/v1/session/info/s"):
		l.count(&l.infos)
		return answer(r, 200, 7, `[{"ID":"s1","Node":"n2"}]`), nil
	}
	f := &fakeConsul{keys: func(_ int, index string, r *http.Request) (int, int, string) {
		if index != "" {
			hang(r, time.Hour)
		}
		return 200, 7, `[{"Key":"a/leader","Session":"s1","ModifyIndex":5,"CreateIndex":5,"LockIndex":1}]`
	}}
	return f.RoundTrip(r)
}

func (l *listConsul) count(n *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*n++
}

func (l *listConsul) listed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists
}

// The board is drawn once, and whole: keys wait for the list of sessions that is
// read while they are, but not for long.
func TestTheFirstBoardHasItsSessions(t *testing.T) {
	const list = `[{"ID":"s0","Node":"n0"},{"ID":"s1","Node":"n1"}]`
	for _, tt := range []struct {
		name          string
		after         time.Duration
		body, pattern string
		at            time.Duration // of the first whole board
		node          string        // of the leader on it
		later         string        // and in the end
		lists, infos  int
	}{
		{"in time", 300 * time.Millisecond, list, "*/leader", 300 * time.Millisecond, "n1", "n1", 1, 0},
		{"late", 3 * time.Second, list, "*/leader", listPatience, "", "n1", 1, 0},
		{"without it", 0, `[]`, "*/leader", 0, "n2", "n2", 1, 1},
		{"never", time.Hour, list, "*/leader", listPatience, "", "", 1, 0},
		{"of one key", 0, list, "a/leader", 0, "n2", "n2", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &listConsul{after: tt.after, body: tt.body}
				start := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				o := NewObserver(over(t, l), ObserverOptions{Patterns: patterns(t, tt.pattern), Wait: fakeWait, Probe: time.Hour})
				var run sync.WaitGroup
				run.Go(func() { _ = o.Run(ctx) })
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
					t.Errorf("whole at, node, node later: %s", got)
				}
				if l.lists != tt.lists || l.infos != tt.infos {
					t.Errorf("%d lists, %d sessions read", l.lists, l.infos)
				}
			})
		})
	}
}

// What was listed at the start is good for the first study too.
func TestTheFirstListServesTheStudy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listConsul{body: `[{"ID":"s1","Node":"n1"}]`}
		b := observeWith(t, over(t, l), ObserverOptions{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		pass(firstFresh / 2)
		b.o.Study("a/leader")
		pass(sessionsGap / 4)
		if n := l.listed(); n != 1 {
			t.Errorf("%d lists", n)
		}
		pass(studyEvery)
		if n := l.listed(); n != 2 {
			t.Errorf("%d lists after a while", n)
		}
		b.stop()
		late := observeWith(t, over(t, l), ObserverOptions{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		pass(2 * firstFresh)
		late.o.Study("a/leader")
		pass(sessionsGap / 4)
		if n := l.listed(); n != 4 {
			t.Errorf("%d lists when the study began late", n)
		}
		late.stop()
	})
}
