package source_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/election"
	"electop/internal/act"
	"electop/internal/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a source that records the requests.
type fake struct {
	name      string
	snapshots chan *election.Snapshot
	calls     string
}

func newFake(name string) *fake { return &fake{name: name, snapshots: make(chan *election.Snapshot)} }

func (f *fake) called(what string, args ...any) { f.calls += what + fmt.Sprint(args...) + ", " }

func (f *fake) Datacenter() string                   { return f.name }
func (f *fake) Snapshots() <-chan *election.Snapshot { return f.snapshots }
func (f *fake) WatchChecks(nodes []string)           { f.called("checks ", nodes) }
func (f *fake) Study(key string)                     { f.called("study ", key) }
func (f *fake) WatchSessions(on bool)                { f.called("sessions ", on) }
func (f *fake) Act(_ context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	f.called(string(kind)+" ", d.Key)
	return act.Outcome{Target: d.Target, Kind: act.OutcomeDone}
}

func (f *fake) Rights(context.Context, election.Target) (election.MissingRules, error) {
	return election.MissingRules{election.ActionRelease: f.name}, nil
}

func held(datacenter, name string) *election.Election {
	return &election.Election{
		Name: name, Datacenter: datacenter, Exists: true, Pair: election.Pair{Key: "service/" + name + "/leader", Session: datacenter + "-session"},
	}
}

func snapshot(datacenter string, state election.ConnectionState, names ...string) *election.Snapshot {
	at := time.Date(2026, 11, 20, 12, 0, len(names), 0, time.UTC)
	s := &election.Snapshot{
		At: at, Datacenter: datacenter, Loaded: true, Connection: election.Connection{State: state, Since: at, LastContact: at},
		Checks: map[string]election.NodeChecks{"node-1": {At: at, Err: datacenter}},
	}
	for _, name := range names {
		s.Elections = append(s.Elections, held(datacenter, name))
	}
	return s
}

func TestJoinKeepsTheDatacentersApart(t *testing.T) {
	one, two := snapshot("dc1", election.Live, "a", "web"), snapshot("dc2", election.Lost, "b", "web", "x")
	s := source.Join(one, two)
	var got []string
	for _, e := range s.Elections {
		got = append(got, e.Datacenter+" "+e.Name)
	}
	if want := []string{"dc1 a", "dc2 b", "dc1 web", "dc2 web", "dc2 x"}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	for _, e := range s.Elections {
		if e.ID() == "" || e.ID() == held("dc3", e.Name).ID() || e.ID() == held(e.Datacenter, "other").ID() {
			t.Errorf("%q is not the ID of exactly this election", e.ID())
		}
		if s.Find(e.ID()) != e || s.Find(e.Target().ID()) != e || s.In(e.Datacenter).Find(e.ID()) != e {
			t.Errorf("Find does not return the election of %q", e.ID())
		}
		if _, stale := s.In(e.Datacenter).StaleSince(e.Key()); stale != (e.Datacenter == "dc2") {
			t.Errorf("%s: stale %v", e.ID(), stale)
		}
	}
	if s.In("dc1").Find(held("dc2", "web").ID()) != nil || s.Find("dc3\x00service/web/leader") != nil {
		t.Error("Find returned an election of another datacenter")
	}
	if n := len(s.Named("web")); n != 2 {
		t.Errorf("%d elections named web, want 2", n)
	}
	if n := len(s.Named("service/web/leader")); n != 2 {
		t.Errorf("%d elections with the key, want 2", n)
	}
	if s.Connection.State != election.Live || !s.At.Equal(two.At) || s.CountStale() != 3 || s.ChecksOf(two.Elections[0])["node-1"].Err != "dc2" {
		t.Errorf("%+v, %d stale", s.Connection, s.CountStale())
	}
	if none := s.In("dc3"); len(none.Elections) != 0 || none.Connection.State == election.Live {
		t.Errorf("%+v", none)
	}
}

func TestJoinedConnections(t *testing.T) {
	for _, c := range []struct{ one, two, want election.ConnectionState }{
		{election.Live, election.Live, election.Live}, {election.Lost, election.Live, election.Live},
		{election.Connecting, election.Lost, election.Connecting}, {election.Lost, election.Lost, election.Lost},
	} {
		if got := source.Join(snapshot("dc1", c.one), snapshot("dc2", c.two)).Connection.State; got != c.want {
			t.Errorf("%s and %s: %s", c.one, c.two, got)
		}
	}
	loading := snapshot("dc2", election.Connecting)
	loading.Loaded = false
	if source.Join(snapshot("dc1", election.Live), loading).Loaded {
		t.Error("the joined snapshot is loaded before dc2 has been read")
	}
	loading.Connection.State = election.Lost
	if !source.Join(snapshot("dc1", election.Live), loading).Loaded {
		t.Error("the joined snapshot is not loaded because the connection to dc2 is lost")
	}
}

func TestJoinedSessions(t *testing.T) {
	one, two := snapshot("dc1", election.Live), snapshot("dc2", election.Live)
	if source.Join(one, two).SessionList != nil {
		t.Error("the joined snapshot has a list of sessions, although none was read")
	}
	at := one.At
	one.SessionList = &election.SessionList{At: at, Sessions: []*election.Session{{ID: "1", Datacenter: "dc1"}}}
	two.SessionList = &election.SessionList{At: at.Add(-time.Second), Until: at, Sessions: []*election.Session{{ID: "2", Datacenter: "dc2"}}, Err: "no answer"}
	list := source.Join(one, two).SessionList
	if len(list.Sessions) != 2 || !list.At.Equal(two.SessionList.At) || !list.Until.Equal(at) || list.Err != "dc2: no answer" || list.Partial {
		t.Errorf("%+v", list)
	}
	one.SessionList.Partial = true
	if !source.Join(one, two).SessionList.Partial {
		t.Error("the joined list is complete, although that of dc1 is partial")
	}
}

// await reads joined snapshots until one satisfies ok.
func await(t *testing.T, g *source.Group[*fake], ok func(*election.Snapshot) bool) *election.Snapshot {
	t.Helper()
	for {
		select {
		case s, more := <-g.Snapshots():
			if !more {
				t.Fatal("the group has ended")
			}
			if ok(s) {
				return s
			}
		case <-t.Context().Done():
			t.Fatal("timeout: no joined snapshot satisfied the condition")
		}
	}
}

func TestAGroupJoinsTheNewestSnapshots(t *testing.T) {
	one, two := newFake("dc1"), newFake("dc2")
	g := source.NewGroup(one, two)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { g.Run(ctx) })
	one.snapshots <- snapshot("dc1", election.Live, "a")
	first := await(t, g, func(s *election.Snapshot) bool { return len(s.Elections) == 1 })
	if c := first.In("dc2").Connection.State; c != election.Connecting || first.Loaded {
		t.Errorf("%s, loaded %v", c, first.Loaded)
	}
	both := snapshot("dc2", election.Live, "a", "b")
	two.snapshots <- both
	await(t, g, func(s *election.Snapshot) bool { return len(s.Elections) == 3 })
	latency := *both
	latency.Connection.Latency = time.Millisecond
	two.snapshots <- &latency
	third := await(t, g, func(s *election.Snapshot) bool { return s.In("dc2").Connection.Latency > 0 })
	if third.Connection.Latency != time.Millisecond {
		t.Errorf("the latency is %s, want that of the slowest datacenter", third.Connection.Latency)
	}
	cancel()
	running.Wait()
}

func TestAGroupOfOneIsThatSource(t *testing.T) {
	one := newFake("")
	g := source.NewGroup(one)
	go func() { one.snapshots <- snapshot("dc1", election.Live, "a") }()
	if s := await(t, g, func(*election.Snapshot) bool { return true }); s.Parts != nil {
		t.Errorf("%+v", s)
	}
	g.Act(t.Context(), election.ActionRelease, election.Destroy{Target: held("dc1", "a").Target()})
	g.Study("dc1", "key")
	g.WatchChecks("", []string{"node"})
	if want := "release service/a/leader, study key, checks [node], "; one.calls != want {
		t.Errorf("%s, want %s", one.calls, want)
	}
}

// A target of an unknown datacenter is refused.
func TestRequestsReachTheirDatacenter(t *testing.T) {
	one, two := newFake("dc1"), newFake("dc2")
	g := source.NewGroup(one, two)
	t1, t2 := held("dc1", "web").Target(), held("dc2", "web").Target()
	g.Act(t.Context(), election.ActionRelease, election.Destroy{Target: t2})
	g.Act(t.Context(), election.ActionDestroy, election.Destroy{Target: t1})
	unknown := t1
	for _, name := range []string{"", "dc3"} {
		unknown.Datacenter = name
		if o := g.Act(t.Context(), election.ActionRelease, election.Destroy{Target: unknown}); o.Kind != act.OutcomeRefused || o.Target != unknown {
			t.Errorf("%+v", o)
		}
		if _, err := g.Find(name); err == nil {
			t.Error("Find returned no error for an unknown datacenter")
		}
		if _, err := g.Rights(t.Context(), unknown); err == nil {
			t.Error("Rights returned no error for an unknown datacenter")
		}
	}
	if r, _ := g.Rights(t.Context(), t2); r[election.ActionRelease] != "dc2" {
		t.Errorf("%+v", r)
	}
	if found, err := g.Find("dc2"); found != two || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	g.Study("dc1", "a")
	g.Study("dc2", "b")
	g.WatchChecks("dc2", []string{"node-1"})
	g.WatchSessions(true)
	if want := "destroy service/web/leader, study a, study , sessions true, "; one.calls != want {
		t.Errorf("%s, want %s", one.calls, want)
	}
	if want := "release service/web/leader, study , study b, checks [node-1], sessions true, "; two.calls != want {
		t.Errorf("%s, want %s", two.calls, want)
	}
}
