package sessions_test

import (
	"testing"
	"time"

	"electop/election"
	"electop/internal/source"
	"electop/ui/internal/uitest"
	"electop/ui/scene"
)

// The lines above the list tell why it is empty, incomplete or old. The state of one datacenter's list must not be shown
// as that of the whole list.
func TestNews(t *testing.T) {
	old := ago(2*time.Hour + 10*time.Minute)
	listed := func(list *election.SessionList) *election.Snapshot {
		s := listed()
		list.At, list.Sessions, list.FirstSeen = s.SessionList.At, s.SessionList.Sessions, s.SessionList.FirstSeen
		s.SessionList = list
		return s
	}
	second := func(list *election.SessionList, state election.ConnectionState) *election.Snapshot {
		one := uitest.Studied("")
		one.Datacenter = "dc1"
		return source.Join(one, &election.Snapshot{At: uitest.Now(), Datacenter: "dc2", SessionList: list, Connection: election.Connection{State: state}})
	}
	other := []*election.Session{uitest.Session(900, "other", "node-9")}
	for _, c := range []struct {
		snap  *election.Snapshot
		want  []string
		lacks string
	}{
		{listed(&election.SessionList{}), []string{"3, 2 hold a watched key"}, "This list is"},
		{listed(&election.SessionList{Partial: true}), []string{"Access to some sessions is denied: they are not listed."}, "This list is"},
		{listed(&election.SessionList{Until: ago(3 * time.Minute)}), []string{"This list is 3m00s old.", "idle"}, "cannot read"},
		{listed(&election.SessionList{Until: ago(3 * time.Minute), Err: "sessions: request timed out"}), []string{"Sessions: request timed out.", "This list is 3m00s old."}, "cannot read"},
		{uitest.Mixed(), []string{"The sessions have not been read yet."}, "SESSION"},
		{second(nil, election.Live), []string{"dc2: The sessions have not been read yet.", "20, 9 hold a watched key"}, "No sessions are visible"},
		{second(&election.SessionList{At: uitest.Now()}, election.Live), []string{"20, 9 hold"}, "not read yet"},
		{second(&election.SessionList{At: old, Until: old, Err: "sessions: not readable with this token", Denied: true}, election.Live),
			[]string{`dc2: Sessions: not readable with this token. Listing sessions requires session_prefix ""`}, " old."},
		{second(&election.SessionList{At: old, Until: old, Err: "sessions: request timed out", Sessions: other}, election.Live),
			[]string{"dc2: Sessions: request timed out.", "dc2: This list is 2h10m old."}, "session_prefix"},
		{second(&election.SessionList{At: old, Until: old, Err: "sessions: connection refused"}, election.Lost),
			[]string{"dc2: The sessions have not been read yet."}, "refused"}, // a banner shows the error of the connection
	} {
		d := drive(t, c.snap)
		d.Wants(c.want...)
		d.Lacks(c.lacks)
	}
	d := drive(t, listed(&election.SessionList{}))
	d.Send(scene.Filtered{Text: "no-such-session"})
	d.Wants("No session matches the filter.")
}
