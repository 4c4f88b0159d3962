package uitest

import (
	"fmt"
	"slices"
	"time"

	"electop/election"
	"electop/internal/source"
)

// Federated returns a snapshot of the datacenters dc1 and dc2. Some keys and node names exist in both datacenters.
func Federated() *election.Snapshot { return source.Join(first(), second()) }

// WithoutSecond returns the snapshot of [Federated] after electop lost the connection to dc2.
func WithoutSecond() *election.Snapshot {
	lost := second()
	lose(lost, "HTTP 500: rpc error making call: No path to datacenter")
	return source.Join(first(), lost)
}

// lose changes the connection of a snapshot to one that was lost 14 seconds ago.
func lose(s *election.Snapshot, reason string) {
	s.Connection = election.Connection{
		State: election.Lost, Since: ago(14 * time.Second), LastContact: ago(15 * time.Second), RetryAt: Now().Add(3 * time.Second), Error: reason,
	}
}

// Clusters returns the snapshot of the contexts consul and etcd. If lost is set, etcd does not respond.
func Clusters(lost bool) *election.Snapshot {
	one, two := first(), Queues()
	rename(one, "consul")
	if lost {
		lose(two, "cannot reach etcd: http://10.0.0.2:2379: connection refused")
	}
	return source.Join(one, two)
}

// Twins returns the snapshot of a cluster and of another one that was restored from its snapshot.
func Twins() *election.Snapshot {
	one, two := Studied(""), Studied("")
	rename(one, "prod")
	rename(two, "stage")
	return source.Join(one, two)
}

// rename changes the name of the datacenter of a snapshot.
func rename(s *election.Snapshot, name string) {
	s.Datacenter = name
	for _, e := range s.Elections {
		e.Datacenter = name
		if e.Session != nil {
			e.Session.Datacenter = name
		}
	}
	if s.SessionList != nil {
		for _, session := range s.SessionList.Sessions {
			session.Datacenter = name
		}
	}
	for i := range s.Events {
		s.Events[i].Datacenter = name
	}
}

// first returns the snapshot of dc1.
func first() *election.Snapshot {
	s := Mixed()
	for _, e := range s.Elections {
		if e.Session != nil {
			e.Session.Datacenter = "dc1"
		}
	}
	return s
}

// second returns the snapshot of dc2.
func second() *election.Snapshot {
	s := &election.Snapshot{
		At: Now(), Datacenter: "dc2", Loaded: true,
		Connection: election.Connection{State: election.Live, Since: ago(time.Hour), LastContact: Now(), Latency: 41 * time.Millisecond},
		Checks: map[string]election.NodeChecks{
			"node-1": {At: Now(), Checks: append(Passing("node-1", "auth-1", "passing", "TTL ok"), Passing("node-1", "cart-1", "passing", "TTL ok")...)},
			"node-2": {At: Now(), Checks: Passing("node-2", "billing-2", "passing", "TTL ok")},
		},
	}
	for i, name := range []string{"auth", "billing", "cart"} {
		e := Led(20+i, name, 1+i%2, time.Duration(i+1)*20*time.Minute)
		e.Datacenter, e.Session.Datacenter = "dc2", "dc2"
		e.Leader = fmt.Sprintf("%s-eu-%d", name, 1+i%2)
		for k := range e.Terms {
			e.Terms[k].Leader = e.Leader
		}
		s.Elections = append(s.Elections, e)
	}
	idle := Vacant(23, "web", 1, 2*time.Hour, 90*time.Second, 0, election.Released, "the session still exists and no longer holds the key")
	idle.Datacenter = "dc2"
	s.Elections = append(s.Elections, idle)
	slices.SortFunc(s.Elections, election.Compare)
	lost := election.Event{
		Time: ago(90 * time.Second), Type: election.Vacated, Election: "web", Key: idle.Key(), Datacenter: "dc2", Term: idle.Term,
		CreateIndex: 40, Leader: "web-1", Session: SessionID(101), Node: "node-1", Held: 2 * time.Hour, HeldKnown: true,
	}
	s.Events = []election.Event{lost}
	return s
}

// Eleven returns a snapshot of the datacenters dc1 to dc11. lost is the number of datacenters, counted from the last,
// that do not respond. Their error is longer than a line of the screen.
func Eleven(lost int) *election.Snapshot {
	parts := []*election.Snapshot{first()}
	for n := 2; n <= 11; n++ {
		part := second()
		rename(part, fmt.Sprintf("dc%d", n))
		if n > 11-lost {
			lose(part, `Get "https://consul.`+part.Datacenter+`.example.com:8501/v1/kv/service/?index=4711&recurse=&wait=300000ms": dial tcp 10.20.30.40:8501: connect: no route to host`)
		}
		parts = append(parts, part)
	}
	return source.Join(parts...)
}
