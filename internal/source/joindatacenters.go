// Package source joins the snapshots of several stores of elections into one, so that the dashboard shows all of them.
// It does not depend on the kind of a [Source].
package source

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"electop/election"
	"electop/internal/crash"
)

// Source is an observed store in which elections are held, such as the KV store of one Consul datacenter.
type Source interface {
	// Datacenter is the name of the source. The elections and events of the source contain this name.
	Datacenter() string
	// Snapshots delivers the observed state, which includes the state of the connection. The source closes the channel
	// when it ends.
	Snapshots() <-chan *election.Snapshot
}

// Run joins the snapshots of sources with different names until ctx or all sources end. It sends the newest joined
// snapshot to joined, and closes joined.
func Run[S Source](ctx context.Context, sources []S, joined chan<- *election.Snapshot) {
	defer close(joined)
	var readers sync.WaitGroup
	defer readers.Wait()
	type arrival struct {
		from int
		snap *election.Snapshot // nil if the source has ended
	}
	arrived, parts := make(chan arrival), make([]*election.Snapshot, len(sources))
	for i, s := range sources {
		parts[i] = &election.Snapshot{Datacenter: s.Datacenter(), Connection: election.Connection{State: election.Connecting}}
		crash.Go(&readers, func() {
			for more := true; more; {
				a := arrival{from: i}
				select {
				case <-ctx.Done():
					return
				case a.snap, more = <-s.Snapshots():
				}
				select {
				case <-ctx.Done():
					return
				case arrived <- a:
				}
			}
		})
	}
	var next *election.Snapshot
	var out chan<- *election.Snapshot // nil while there is no new snapshot
	for left := len(sources); left > 0; {
		select {
		case <-ctx.Done():
			return
		case a := <-arrived:
			if a.snap == nil {
				left--
				continue
			}
			parts[a.from] = a.snap
			next, out = Join(parts...), joined
		case out <- next:
			out = nil
		}
	}
}

// Join returns the snapshot of several datacenters, each of which must have a name. If there is only one, Join returns
// its snapshot.
func Join(parts ...*election.Snapshot) *election.Snapshot {
	if len(parts) == 1 {
		return parts[0]
	}
	var stores []string
	s := &election.Snapshot{Parts: slices.Clone(parts), Connection: connection(parts), Loaded: loaded(parts), SessionList: sessionList(parts)}
	for _, p := range parts {
		stores, s.At = append(stores, p.Store.String()), election.Later(s.At, p.At)
		s.RecordedUntil = election.Later(s.RecordedUntil, p.RecordedUntil)
		s.Filtered = s.Filtered || p.Filtered
		s.Elections, s.Events = append(s.Elections, p.Elections...), append(s.Events, p.Events...)
	}
	slices.Sort(stores)
	s.Store.Name = strings.Join(slices.Compact(stores), " and ")
	slices.SortFunc(s.Elections, election.Compare)
	slices.SortStableFunc(s.Events, func(a, b election.Event) int { return a.Time.Compare(b.Time) })
	return s
}

// loaded reports whether the elections of every datacenter that responds have been read.
func loaded(parts []*election.Snapshot) bool {
	some := false
	for _, p := range parts {
		if !p.Loaded && p.Connection.State != election.Lost {
			return false
		}
		some = some || p.Loaded
	}
	return some
}

// connection returns the state of the joined connections. It is live if one of the connections is live, and lost if
// all are lost.
func connection(parts []*election.Snapshot) election.Connection {
	rank := map[election.ConnectionState]int{election.Connecting: 1, election.Live: 2}
	best := parts[0].Connection
	for _, p := range parts[1:] {
		c := p.Connection
		switch better := rank[c.State] - rank[best.State]; {
		case better > 0 || better == 0 && c.State == election.Lost && c.LastContact.After(best.LastContact):
			best = c
		case better == 0:
			best.Latency = max(best.Latency, c.Latency)
		}
	}
	best.Stale = nil
	return best
}

// sessionList joins the lists of sessions. It returns nil if no list was read. The time of the result is that of the
// oldest list.
func sessionList(parts []*election.Snapshot) *election.SessionList {
	var all *election.SessionList
	for _, p := range parts {
		l := p.SessionList
		switch {
		case l == nil:
			continue
		case all == nil:
			all = &election.SessionList{At: l.At, FirstSeen: map[string]election.Seen{}}
		}
		if l.At.Before(all.At) {
			all.At = l.At
		}
		if all.Until.IsZero() || !l.Until.IsZero() && l.Until.Before(all.Until) {
			all.Until = l.Until
		}
		all.Partial = all.Partial || l.Partial
		if all.Err == "" && l.Err != "" {
			all.Err = p.Datacenter + ": " + l.Err
		}
		all.Sessions = append(all.Sessions, l.Sessions...)
		maps.Copy(all.FirstSeen, l.FirstSeen)
	}
	return all
}
