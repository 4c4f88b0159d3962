package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/consultest"
	"electop/internal/feed"
)

// fakeConsul responds to the probe and to queries for keys. A test sets the responses to these queries. It uses no
// network, so it can run in a synctest bubble.
type fakeConsul struct {
	keys func(n int, asked string, r *http.Request) (status, index int, body string)
	txn  string // the response to transactions
	list string // the list of sessions

	mu       sync.Mutex
	noQuorum atomic.Bool
	limited  atomic.Bool // the probe exceeds the limit of connections
	asked    []string    // index and time of each query for keys
	start    time.Time
}

func (f *fakeConsul) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case r.URL.Path == "/v1/status/leader":
		if f.limited.Load() {
			return consultest.Answer(r, 429, 0, tooMany), nil
		}
		if f.noQuorum.Load() {
			return consultest.Answer(r, 200, 0, `""`), nil
		}
		return consultest.Answer(r, 200, 0, `"10.0.0.1:8300"`), nil
	case r.URL.Path == "/v1/agent/self":
		return consultest.Answer(r, 200, 0, `{"Config":{"Datacenter":"dc1","NodeName":"n","Version":"1"}}`), nil
	case r.URL.Path == "/v1/session/list":
		return consultest.Answer(r, 200, 1, "["+f.list+"]"), nil
	case r.URL.Path == "/v1/txn" && f.txn != "":
		return consultest.Answer(r, 200, 21, f.txn), nil
	case strings.HasPrefix(r.URL.Path, "/v1/kv/"):
		f.mu.Lock()
		n, index := len(f.asked), r.URL.Query().Get("index")
		f.asked = append(f.asked, fmt.Sprintf("%s@%s", index, time.Since(f.start).Round(time.Millisecond)))
		f.mu.Unlock()
		status, got, body := f.keys(n, index, r)
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		if status == 0 {
			return nil, errors.New("connection refused")
		}
		return consultest.Answer(r, status, got, body), nil
	}
	return consultest.Answer(r, 404, 0, ""), nil
}

func (f *fakeConsul) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// hang blocks a query until its client disconnects or its wait ends.
func hang(r *http.Request, d time.Duration) {
	select {
	case <-r.Context().Done():
	case <-time.NewTimer(d).C:
	}
}

// waitOf returns the wait time of a query.
func waitOf(r *http.Request) time.Duration {
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait"))
	return wait
}

const (
	// tooMany is Consul's response to a connection above the limit.
	tooMany  = "Your IP is issuing too many concurrent connections, please rate limit your calls\n"
	fakeWait = time.Minute
	oneKey   = `[{"Key":"a/leader","ModifyIndex":5,"CreateIndex":5,"LockIndex":1}]`
)

// inBubble observes a fake Consul in a synctest bubble.
func inBubble(t *testing.T, f *fakeConsul, test func(b *board)) {
	t.Helper()
	inBubbleWith(t, f, Options{Patterns: patterns(t, "*/leader"), Wait: fakeWait}, test)
}

func inBubbleWith(t *testing.T, f *fakeConsul, o Options, test func(b *board)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		b := observeWith(t, over(t, f), o)
		test(b)
		b.stop()
	})
}

func pass(d time.Duration) {
	consulx.Sleep(context.Background(), d)
	synctest.Wait()
}

// Consul's data may be replaced with other data that has the same indexes. A previous value must then not be reused.
func TestValuesFollowARestoreToTheSameIndexes(t *testing.T) {
	other := strings.Replace(oneKey, "{", `{"Value":"b3RoZXI=",`, 1)
	for what, index := range map[string]int{"the previous index": 7, "a smaller index": 6} {
		t.Run(what, func(t *testing.T) {
			f := &fakeConsul{}
			f.keys = func(n int, _ string, r *http.Request) (int, int, string) {
				switch n {
				case 0:
					return 200, 7, oneKey
				case 1:
					hang(r, 10*time.Second)
					return 200, index, oneKey
				case 2:
					return 200, index, other
				}
				hang(r, time.Hour)
				return 0, 0, ""
			}
			inBubble(t, f, func(b *board) {
				pass(30 * time.Second)
				if got := b.snapshot().Find("a/leader").Pair.Value; string(got) != "other" {
					t.Errorf("the snapshot contains the value %q, want other", got)
				}
			})
		})
	}
}

func TestLoopRestartsWhenTheIndexDecreases(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(n int, _ string, r *http.Request) (int, int, string) {
		if n < 4 {
			return 200, []int{2493, 2490, 2490, 2495}[n], strings.ReplaceAll(oneKey, "5", fmt.Sprint(n+1))
		}
		hang(r, time.Hour)
		return 0, 0, ""
	}
	inBubble(t, f, func(*board) {
		pass(time.Second)
		want := []string{"@0s", "2493@0s", "@5ms", "2490@5ms", "2495@5ms"}
		if got := f.questions(); !slices.Equal(got, want) {
			t.Errorf("requested %q, want %q", got, want)
		}
	})
}

func TestLoopDoesNotSpinOnAnEmptyPrefix(t *testing.T) {
	const writtenAfter = 10 * time.Second
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case time.Since(f.start) < writtenAfter:
			return 404, n + 1, "" // every write to the store ends the query
		case asked == "1000000":
			hang(r, time.Hour)
		}
		return 200, 1000000, oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(writtenAfter - time.Nanosecond)
		if n := len(f.questions()); n < 100 || n > 140 {
			t.Errorf("%d queries for an empty prefix in 10 s, want 100 to 140", n)
		}
		e, _ := b.event(0, election.Missed, "a/leader")
		if late := e.Time.Sub(f.start.Add(writtenAfter)); late > 100*time.Millisecond {
			t.Errorf("a new key was reported after %s, want at most 100ms", late)
		}
	})
}

func TestLoopBacksOffAndReportsTheGap(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(n int, _ string, r *http.Request) (int, int, string) {
		switch {
		case n == 0:
			return 200, 7, strings.ReplaceAll(oneKey, `"a/leader"`, `"a/leader","Session":"s1"`)
		case n < 8:
			return []int{500, 403}[n/7], 0, "rpc error getting client: failed to get conn\x1b[2J" // the last error is a denial
		case n == 8:
			return 200, 9, strings.ReplaceAll(oneKey, `5,"LockIndex":1`, `5,"LockIndex":2,"Session":"s2"`)
		}
		hang(r, time.Hour)
		return 0, 0, ""
	}
	inBubble(t, f, func(b *board) {
		pass(3 * time.Minute)
		if asked := f.questions(); len(asked) < 10 || !strings.HasPrefix(asked[7], "@") || !strings.HasPrefix(asked[9], "9@") {
			t.Errorf("requested %q", asked)
		}
		kinds := []election.EventType{}
		for _, e := range b.events {
			kinds = append(kinds, e.Type)
		}
		want := []election.EventType{election.Elected, election.ConnectionLost, election.ConnectionRestored, election.Vacated}
		if len(kinds) < 4 || !slices.Equal(kinds[:4], want) {
			t.Errorf("got the events %v, want first %v", kinds, want)
		}
		if text, want := b.events[1].Error, "Consul answered 500: rpc error getting client: failed to get conn␛[2J"; text != want {
			t.Errorf("the error of the connection_lost event is %q, want %q", text, want)
		}
	})
}

// A query on a dead connection times out, and the observer then reads the missed changes immediately. Only the time
// of the change is unknown.
func TestLoopCancelsAQueryWithoutAResponse(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case n == 1:
			hang(r, time.Hour)
		case asked != "":
			hang(r, waitOf(r))
		case n > 1:
			return 200, 8, strings.ReplaceAll(oneKey, `"ModifyIndex":5`, `"ModifyIndex":8,"Session":"s"`)
		}
		return 200, 7, oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(2 * time.Minute)
		e, _ := b.event(0, election.Elected, "a/leader")
		if took := e.Time.Sub(f.start); took > fakeWait+fakeWait/16+5*time.Second || took < fakeWait/2 || e.VacancyKnown {
			t.Errorf("the observer read the keys again after %s: %+v; want a read after the query's timeout, and an unknown vacancy", took, e)
		}
		for _, e := range b.of("") {
			if e.Type == election.ConnectionLost {
				t.Errorf("the failure of a query that succeeded at the second attempt was reported: %s", e.Error)
			}
		}
	})
}

// Blocked queries do not detect a lost quorum. All of them must restart when the probe succeeds again.
func TestProbeNoticesLostQuorum(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(n int, _ string, r *http.Request) (int, int, string) {
		if n > 0 && f.questions()[n][0] != '@' {
			hang(r, time.Hour)
		}
		return 200, 7, oneKey
	}
	inBubble(t, f, func(b *board) {
		pass(5500 * time.Millisecond)
		f.noQuorum.Store(true)
		pass(time.Second)
		if c := b.snapshot().Connection; c.State != election.Lost || c.Error != "Consul has no consensus leader" {
			t.Errorf("without a quorum, the connection is %+v, want lost", c)
		}
		f.noQuorum.Store(false)
		pass(time.Second)
		b.connection(election.Live, "with a quorum again")
		if got, want := f.questions(), []string{"@0s", "7@0s", "@7s", "7@7s"}; !slices.Equal(got, want) {
			t.Errorf("requested %q, want %q", got, want)
		}
	})
}

func TestSnapshotsAreSpacedAndTheLastOneIsSent(t *testing.T) {
	f := &fakeConsul{}
	f.keys = func(n int, _ string, r *http.Request) (int, int, string) {
		if n >= 1000 {
			hang(r, time.Hour)
		}
		consulx.Sleep(context.Background(), time.Millisecond)
		return 200, n + 1, strings.ReplaceAll(oneKey, `"ModifyIndex":5`, fmt.Sprintf(`"ModifyIndex":%d`, n+5))
	}
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		o := New(over(t, f), Options{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		var run sync.WaitGroup
		run.Go(func() { o.Run(ctx) })
		time.AfterFunc(10*time.Second, cancel)
		var got []*election.Snapshot
		for s := range o.Snapshots() {
			// The first complete board is published immediately.
			first := s.Loaded && !slices.ContainsFunc(got, func(s *election.Snapshot) bool { return s.Loaded })
			if n := len(got); n > 0 && !first && s.At.Sub(got[n-1].At) < feed.SnapshotGap {
				t.Errorf("a snapshot was published %s after the previous one, want at least %s", s.At.Sub(got[n-1].At), feed.SnapshotGap)
			}
			got = append(got, s)
		}
		run.Wait()
		last := got[len(got)-1].Elections[0].Pair.ModifyIndex
		if len(got) < 20 || last != 1004 {
			t.Errorf("%d snapshots, the last one has the index %d; want at least 20, the last one with 1004", len(got), last)
		}
	})
}
