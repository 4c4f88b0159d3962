package observe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
)

// A consumer that blocks occupies one goroutine. The observer must continue and report everything in order when the
// consumer returns.
func TestABlockedConsumerDelaysNoObservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeConsul{}
		f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
			if asked != "" {
				hang(r, time.Second)
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/kv/"), "/")
			index := 5 + n
			return 200, index, fmt.Sprintf(`[{"Key":"%s/leader","CreateIndex":1,"ModifyIndex":%d}]`, name, index)
		}
		release := make(chan struct{})
		first := true
		var reported []election.Event
		o := New(over(t, f), Options{
			Patterns: patterns(t, "a/leader", "b/leader", "c/leader"), Wait: fakeWait,
			OnEvents: func(events []election.Event) {
				if first {
					first = false
					<-release
				}
				reported = append(reported, events...)
			},
		})
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(done); o.Run(ctx) }()
		pass(20 * time.Second)
		asked := len(f.questions())
		if asked < 20 {
			t.Errorf("only %d queries in 20 s while the consumer blocks, want at least 20", asked)
		}
		close(release)
		pass(time.Second)
		cancel()
		<-done
		for i := 1; i < len(reported); i++ {
			if reported[i].Time.Before(reported[i-1].Time) {
				t.Errorf("event %+v was reported after the later event %+v", reported[i], reported[i-1])
			}
		}
		if len(reported) < 3 {
			t.Errorf("reported %+v, want at least one event per key", reported)
		}
	})
}

// A history stores a mark under the name of its datacenter. So a mark waits for the name, also if the board does not, and
// nothing is reported if the observer ends before.
func TestMarksNameTheirDatacenter(t *testing.T) {
	for _, tt := range []struct {
		ends   time.Duration
		boards bool
		want   []string
	}{{500 * time.Millisecond, false, nil}, {2 * time.Second, true, nil}, {5 * time.Second, true, []string{"dc1"}}} {
		t.Run(tt.ends.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				consul := &fakeConsul{start: time.Now(), keys: func(_ int, index string, r *http.Request) (int, int, string) {
					if index != "" {
						<-r.Context().Done()
					}
					return 200, 7, `[{"Key":"service/web/leader","ModifyIndex":7,"CreateIndex":7}]`
				}}
				client := over(t, consultest.RoundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/v1/agent/self" {
						consulx.Sleep(r.Context(), 3*time.Second)
					}
					if err := r.Context().Err(); err != nil {
						return nil, err
					}
					return consul.RoundTrip(r)
				}))
				var marks []string
				var board bool
				ctx, cancel := context.WithTimeout(t.Context(), tt.ends)
				defer cancel()
				var o *Observer
				o = New(client, Options{Patterns: patterns(t, election.DefaultPattern), OnMark: func(s *election.Snapshot, _ election.Patterns) {
					_ = o.Snapshot() // the observer's lock is not held
					marks = append(marks, s.Datacenter)
				}})
				o.Run(ctx)
				board = o.Snapshot().Loaded
				if !slices.Equal(marks, tt.want) || board != tt.boards {
					t.Errorf("marks of %q, board %t; want %q, %t", marks, board, tt.want, tt.boards)
				}
			})
		})
	}
}

// A mark that is requested after the process was stopped waits until every key was read again.
func TestAMarkAfterAStopIsCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		holder := "s1"
		consul := &fakeConsul{start: time.Now(), keys: func(_ int, index string, r *http.Request) (int, int, string) {
			if index != "" {
				<-r.Context().Done()
			}
			return 200, 7, fmt.Sprintf(`[{"Key":"service/web/leader","Session":%q,"LockIndex":1,"ModifyIndex":7,"CreateIndex":7}]`, holder)
		}}
		var marks []string
		o := New(over(t, consul), Options{Patterns: patterns(t, election.DefaultPattern), OnMark: func(s *election.Snapshot, _ election.Patterns) {
			marks = append(marks, s.Elections[0].Pair.Session)
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.Run(ctx) }()
		consulx.Sleep(ctx, 5*time.Second)
		holder = "s2"
		o.Send(true, election.Gap{At: time.Now(), Since: time.Now().Add(-10 * time.Second)})
		o.jumped()
		o.Mark()
		consulx.Sleep(ctx, 5*time.Second)
		cancel()
		<-done
		if !slices.Equal(marks, []string{"s1", "s2"}) {
			t.Errorf("%q", marks)
		}
	})
}

// A list that was not received yet is replaced, but not its gap.
func TestTheNewestListKeepsTheGap(t *testing.T) {
	lists := make(chan listing, 1)
	keepNewest(lists, listing{gap: true})
	keepNewest(lists, listing{names: make([]listedKey, 1)})
	if l := <-lists; !l.gap || len(l.names) != 1 {
		t.Errorf("%+v", l)
	}
}
