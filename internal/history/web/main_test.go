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
	"electop/internal/consultest"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var must = consultest.Must

// at returns a moment of the story. It has nanoseconds, to test that the wire format keeps them.
func at(n int) time.Time {
	return time.Date(2026, 11, 20, 3, 0, 0, 123_456_789, time.UTC).Add(time.Duration(n) * (time.Second + 1_234_567))
}

// past records elections with many types of events, and opens the file for reading.
func past(t *testing.T) (f *sqlite.File, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "h.db")
	w := sqlite.NewWriter(path, sqlite.WriterOptions{Observer: "ana@bastion", Finish: time.Hour})
	story(w)
	w.RecordAction(history.Action{
		Time: at(3600), By: "ana@bastion", Kind: election.ActionRelease, Datacenter: "dc1", Key: "service/web-1/leader",
		Session: "s1", Term: 3, Leader: "leader of s1", Node: "node-1", Result: history.ResultFailed, Detail: "denied",
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, w.Run(ctx))
	f = sqlite.NewFile(path)
	must(t, f.Open(t.Context()))
	t.Cleanup(func() { f.Close() })
	return f, path
}

func story(w *sqlite.Writer) {
	ps, _ := election.ParsePatterns(nil)
	tr := tracker.New(tracker.Options{Patterns: ps})
	see := func(o election.Observation) { w.Record(tr.Observe(o)) }
	see(election.DatacenterRead{At: at(0), Datacenter: "dc1"})
	see(election.SessionsRead{At: at(0), Sessions: []*election.Session{
		{ID: "s1", Name: "web", Node: "node-1", TTL: 10 * time.Second, Behavior: "release", LockDelay: 15 * time.Second}, {ID: "s2", Name: "web", Node: "node-2"},
	}})
	pairs := make([]election.Pair, 4)
	for i := range pairs {
		pairs[i] = election.Pair{Key: fmt.Sprintf("service/web-%d/leader", i), Value: []byte("leader of\u202es1"), Session: "s1", CreateIndex: 10, LockIndex: 1, ModifyIndex: 20}
	}
	pairs[3] = election.Pair{Key: "service/web-3/leader", Flags: election.SemaphoreFlag, CreateIndex: 10, ModifyIndex: 20, Value: []byte(`{"Limit":2,"Holders":{"s1":true,"s2":true}}`)}
	read := func(n int) {
		see(election.KeysRead{At: at(n), Range: election.PrefixRange("service/"), Pairs: election.Pairs(pairs...)})
	}
	read(0)
	w.Mark(tr.Snapshot(at(0)), ps)
	for i := range 60 {
		see(election.Clock{At: at(i + 1)})
		p := &pairs[i%2]
		if p.ModifyIndex = uint64(100 + i); p.Session != "" {
			p.Session = ""
		} else {
			p.Session, p.LockIndex = "s1", p.LockIndex+1+uint64(i%5/4) // some terms are missed
		}
		read(i + 1)
	}
	see(election.Clock{At: at(70)})
}

// served is a recorder that serves a history.
type served struct {
	*httptest.Server
	file    *sqlite.File
	path    string
	mu      sync.Mutex
	actions []history.Action
	errors  []error
	ill     error
}

func serve(t *testing.T, change func(*web.Options)) *served {
	t.Helper()
	s := &served{}
	s.file, s.path = past(t)
	locked := func(f func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f()
	}
	o := web.Options{
		Source: s.file, Local: true,
		Record:  func(a history.Action) { locked(func() { s.actions = append(s.actions, a) }) },
		OnError: func(err error) { locked(func() { s.errors = append(s.errors, err) }) },
		Health:  func() (err error) { locked(func() { err = s.ill }); return err },
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "electop_metric 1") }),
	}
	if change != nil {
		change(&o)
	}
	s.Server = httptest.NewServer(web.NewHandler(o))
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, url string) *web.Client {
	t.Helper()
	return clientOf(t, web.ClientOptions{URL: url})
}

func clientOf(t *testing.T, o web.ClientOptions) *web.Client {
	t.Helper()
	c, err := web.NewClient(o)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// fake is a source that answers some reads.
type fake struct {
	history.Source
	elections    func() []history.Election
	observations []history.Observation
}

func (f fake) Elections(context.Context) ([]history.Election, error) { return f.elections(), nil }

func (f fake) Observations(context.Context, history.Range) ([]history.Observation, error) {
	return f.observations, nil
}

func (fake) Events(context.Context, history.EventQuery) (p history.EventPage, err error) {
	return p, nil
}
