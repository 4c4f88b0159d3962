package source

import (
	"maps"
	"slices"
	"strings"

	"electop/election"
)

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
