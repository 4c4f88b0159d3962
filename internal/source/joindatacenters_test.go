package source_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"electop/election"
	"electop/internal/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fake struct {
	name      string
	snapshots chan *election.Snapshot
}

func newFake(name string) *fake { return &fake{name: name, snapshots: make(chan *election.Snapshot)} }

func (f *fake) Datacenter() string                   { return f.name }
func (f *fake) Snapshots() <-chan *election.Snapshot { return f.snapshots }
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
func await(t *testing.T, joined <-chan *election.Snapshot, ok func(*election.Snapshot) bool) *election.Snapshot {
	t.Helper()
	for {
		select {
		case s, more := <-joined:
			if !more {
				t.Fatal("the sources have ended")
			}
			if ok(s) {
				return s
			}
		case <-t.Context().Done():
			t.Fatal("timeout: no joined snapshot satisfied the condition")
		}
	}
}

func TestTheNewestSnapshotsAreJoined(t *testing.T) {
	one, two, joined := newFake("dc1"), newFake("dc2"), make(chan *election.Snapshot)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { source.Run(ctx, []*fake{one, two}, joined) })
	one.snapshots <- snapshot("dc1", election.Live, "a")
	first := await(t, joined, func(s *election.Snapshot) bool { return len(s.Elections) == 1 })
	if c := first.In("dc2").Connection.State; c != election.Connecting || first.Loaded {
		t.Errorf("%s, loaded %v", c, first.Loaded)
	}
	both := snapshot("dc2", election.Live, "a", "b")
	two.snapshots <- both
	await(t, joined, func(s *election.Snapshot) bool { return len(s.Elections) == 3 })
	latency := *both
	latency.Connection.Latency = time.Millisecond
	two.snapshots <- &latency
	third := await(t, joined, func(s *election.Snapshot) bool { return s.In("dc2").Connection.Latency > 0 })
	if third.Connection.Latency != time.Millisecond {
		t.Errorf("the latency is %s, want that of the slowest datacenter", third.Connection.Latency)
	}
	cancel()
	running.Wait()
}

func TestTheSnapshotsOfOneSourceStayAsTheyAre(t *testing.T) {
	one, joined := newFake(""), make(chan *election.Snapshot)
	go source.Run(t.Context(), []*fake{one}, joined)
	sent := snapshot("dc1", election.Live, "a")
	one.snapshots <- sent
	if s := await(t, joined, func(*election.Snapshot) bool { return true }); s != sent {
		t.Errorf("%+v", s)
	}
	close(one.snapshots)
	if _, more := <-joined; more {
		t.Error("the joined snapshots did not end with those of the source")
	}
}
