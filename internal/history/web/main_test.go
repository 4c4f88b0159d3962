package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start has nanoseconds, to test that the wire format keeps them.
func start() time.Time { return time.Date(2026, 11, 20, 3, 0, 0, 123_456_789, time.UTC) }

const second = time.Second + 1_234_567

// past records elections with many types of events, and opens the file for reading.
func past(t *testing.T) *sqlite.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.db")
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sqlite.OpenWriter(t.Context(), path, sqlite.WriterOptions{Observer: "ana@bastion"})
	if err != nil {
		t.Fatal(err)
	}
	story(w, ps)
	w.RecordAction(history.Action{
		Time: start().Add(time.Hour), By: "ana@bastion", Kind: election.ActionRelease, Datacenter: "dc1", Key: "service/web-1/leader",
		Session: "s1", Term: 3, Leader: "leader of s1", Node: "node-1", Result: history.ResultFailed, Detail: "denied",
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx); err != nil {
		t.Fatal(err)
	}
	f, err := sqlite.OpenFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func story(w *sqlite.Writer, ps election.Patterns) {
	at := start()
	tr := tracker.New(tracker.Options{Patterns: ps})
	see := func(o election.Observation) { w.Record(tr.Observe(o)) }
	see(election.DatacenterRead{At: at, Datacenter: "dc1"})
	see(election.SessionsRead{At: at, Sessions: []*election.Session{
		{ID: "s1", Name: "web", Node: "node-1", TTL: 10 * time.Second, Behavior: "release", LockDelay: 15 * time.Second}, {ID: "s2", Name: "web", Node: "node-2"},
	}})
	pairs := make([]election.Pair, 4)
	for i := range pairs {
		pairs[i] = election.Pair{Key: fmt.Sprintf("service/web-%d/leader", i), Value: []byte("leader of s1"), Session: "s1", CreateIndex: 10, LockIndex: 1, ModifyIndex: 20}
	}
	pairs[3] = election.Pair{Key: "service/web-3/leader", Flags: election.SemaphoreFlag, CreateIndex: 10, ModifyIndex: 20, Value: []byte(`{"Limit":2,"Holders":{"s1":true,"s2":true}}`)}
	read := func() { see(election.KeysRead{At: at, Range: election.PrefixRange("service/"), Pairs: pairs}) }
	read()
	w.Mark(tr.Snapshot(at), ps)
	for i := range uint64(60) {
		at = at.Add(second)
		see(election.Clock{At: at})
		p := &pairs[i%2]
		if p.ModifyIndex = 100 + i; p.Session != "" {
			p.Session = ""
		} else {
			p.Session, p.LockIndex = "s1", p.LockIndex+1+i%5/4 // some terms are missed
		}
		read()
	}
	see(election.Clock{At: at.Add(10 * second)})
}

// served is a recorder that serves a history.
type served struct {
	*httptest.Server
	file    *sqlite.File
	mu      sync.Mutex
	actions []history.Action
	errors  []error
	ill     error
}

func (s *served) add(a history.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions = append(s.actions, a)
}

func (s *served) recorded() []history.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.actions
}

func serve(t *testing.T, change func(*web.Options)) *served {
	t.Helper()
	s := &served{file: past(t)}
	o := web.Options{
		Source: s.file, Local: true, Record: s.add, OnError: func(err error) { s.mu.Lock(); s.errors = append(s.errors, err); s.mu.Unlock() },
		Health:  func() error { s.mu.Lock(); defer s.mu.Unlock(); return s.ill },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "electop_metric 1") }),
	}
	if change != nil {
		change(&o)
	}
	s.Server = httptest.NewServer(web.NewHandler(o))
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, o web.ClientOptions) *web.Client {
	t.Helper()
	c, err := web.NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
