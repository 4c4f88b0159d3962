package sessions_test

import (
	"fmt"
	"testing"
	"time"

	"electop/election"
	"electop/internal/source"
	"electop/ui/internal/uitest"
)

func TestAPartialListIsMarked(t *testing.T) {
	s := listed()
	s.SessionList.Partial = true
	d := drive(t, s, nil)
	d.wants("This token cannot read all sessions: some are not listed.", "3, 2 hold a watched key")
	s.SessionList.Until, s.SessionList.Err = ago(3*time.Minute), "sessions: request timed out"
	d.show(s)
	d.wants("Sessions: request timed out. This list is 3m00s old.", "This token cannot read all sessions: some are not listed.")
	d.filter("no-such-session")
	d.wants("No session matches the filter.")
}

func TestADatacenterWithoutAListIsNamed(t *testing.T) {
	one, two := uitest.Studied(""), &election.Snapshot{At: uitest.Now(), Datacenter: "dc2"}
	d := drive(t, source.Join(one, two), nil)
	d.wants("dc2: The sessions have not been read yet.", "20, 9 hold a watched key")
	listed := *two
	listed.SessionList = &election.SessionList{At: uitest.Now()}
	d.show(source.Join(one, &listed))
	d.lacks("not read yet", "No sessions are visible", "no sessions are visible")
}

// Without a list, the view names the reason why the sessions were not read.
func TestAnUnreadListIsExplained(t *testing.T) {
	s := uitest.Mixed()
	s.Connection.State = election.Lost
	d := drive(t, s, nil)
	d.wants("Consul is unreachable: the sessions were not read.")
	s.Connection.Refused = true
	d.show(s)
	d.wants("Consul rejects this token: the sessions were not read.")
	d.lacks("unreachable")
}

// The state of one datacenter's list must not be shown as that of the whole list.
func TestProblemsNameTheirDatacenters(t *testing.T) {
	part := func(name string, list *election.SessionList) *election.Snapshot {
		return &election.Snapshot{At: uitest.Now(), Datacenter: name, SessionList: list}
	}
	old := ago(2*time.Hour + 10*time.Minute)
	one, current := uitest.Studied(""), uitest.Session(900, "other", "node-9")
	one.Datacenter, current.Datacenter = "dc1", "dc2"
	unreadable := &election.SessionList{At: old, Until: old, Err: "sessions: not readable with this token", Denied: true}
	d := drive(t, source.Join(one, part("dc2", unreadable), part("dc3", unreadable)), nil)
	d.wants(`dc2, dc3: Sessions: not readable with this token. Listing sessions requires session_prefix ""`, "20, 9 hold a watched key")
	d.lacks(" old.")
	outdated := &election.SessionList{At: old, Until: old, Err: "sessions: request timed out", Sessions: []*election.Session{current}}
	partial := &election.SessionList{At: uitest.Now(), Partial: true}
	rejected := part("dc4", unreadable)
	rejected.Connection.Refused = true
	d.show(source.Join(one, part("dc2", outdated), part("dc3", partial), rejected))
	d.wants("dc2: Sessions: request timed out. This list is 2h10m old.",
		"dc3: This token cannot read all sessions: some are not listed.",
		"dc4: Consul rejects this token. The sessions were not read.")
	lost := part("dc2", &election.SessionList{At: old, Until: old, Err: "sessions: connection refused"})
	lost.Connection.State = election.Live // only the read of the sessions fails
	d.show(source.Join(one, lost))
	d.wants("dc2: Sessions: connection refused.")
	d.lacks("session_prefix")
	lost.Connection.State = election.Lost
	d.show(source.Join(one, lost))
	d.wants("dc2: Unreachable. The sessions were not read.")
	d.lacks("session_prefix")
	d.filter("no-such-session")
	d.wants("No session matches the filter.")
}

// A line for each error of many datacenters would leave no room for the list.
func TestUnreachableDatacentersShareALine(t *testing.T) {
	all, old := []*election.Snapshot{uitest.Studied("")}, ago(time.Minute)
	all[0].Datacenter = "dc1"
	for n := range 3 {
		name := fmt.Sprintf("dc%d", n+2)
		ses := uitest.Session(900+n, "other", "node-9")
		ses.Datacenter = name
		list := &election.SessionList{At: old, Until: old, Err: "sessions: connection refused by " + name, Sessions: []*election.Session{ses}}
		all = append(all, &election.Snapshot{At: uitest.Now(), Datacenter: name, SessionList: list, Connection: election.Connection{State: election.Lost}})
	}
	d := drive(t, source.Join(all...), nil)
	d.wants("dc2, dc3, dc4: Unreachable. This list is 1m00s old.")
	d.lacks("refused")
}
