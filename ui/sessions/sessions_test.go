package sessions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui"
	"electop/ui/internal/uitest"
	"electop/ui/sessions"
)

// driver sends messages to the view.
// drive shows a snapshot in a view of 120x33 cells.
// row returns the first line that contains a text.
// said returns the note of an action.
func drive(t *testing.T, snap *election.Snapshot) *uitest.View {
	v := uitest.Drive(t, sessions.New(ui.NewKeys(false, nil)), snap, 120, 33)
	v.Show(snap)
	return v
}

// listed returns a snapshot whose session list contains the sessions of auth and billing and an idle one.
func listed(seen ...election.Seen) *election.Snapshot {
	s := uitest.Mixed()
	auth, idle := s.Find("service/auth/leader"), uitest.Session(400, "idle", "node-4")
	auth.Pair.Session = strings.ToUpper(auth.Session.ID) // the spelling of the acquire
	all := []*election.Session{auth.Session, s.Find("service/billing/leader").Session, idle}
	s.SessionList = &election.SessionList{At: uitest.Now(), Sessions: all, FirstSeen: map[string]election.Seen{}}
	for i, first := range seen {
		s.SessionList.FirstSeen[all[i].ID] = first
	}
	return s
}

func ago(d time.Duration) time.Time { return uitest.Now().Add(-d) }

// A session that led before, or that resembles the session of a leader, may be a waiting candidate.
func TestWaitingSessionsAreNoOrphans(t *testing.T) {
	for what, change := range map[string]func(s *election.Snapshot, left []*election.Session){
		"only two sessions": func(s *election.Snapshot, _ []*election.Session) {
			s.SessionList.Sessions = slices.DeleteFunc(slices.Clone(s.SessionList.Sessions), func(x *election.Session) bool { return x.ID == uitest.SessionID(320) })
		},
		"the name of the holder's": func(s *election.Snapshot, _ []*election.Session) {
			s.Find("service/auth/leader").Session.Name = "report-cron"
		},
		"a service check like the holder's": func(_ *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				ses.ServiceChecks = []string{"service:auth-7"}
			}
		},
		"former leaders": func(s *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				e := s.Find("service/auth/leader")
				uitest.AddTerm(e, 1, 3*time.Hour, 2*time.Hour, election.Released, "")
				e.Terms[0].Session = ses.ID
			}
		},
		"the name of an election": func(_ *election.Snapshot, left []*election.Session) {
			for _, ses := range left {
				ses.Name = "waits for auth-host17"
			}
		},
	} {
		s := uitest.Studied("")
		var left []*election.Session
		for _, ses := range s.SessionList.Sessions {
			if ses.Name == "report-cron" {
				left = append(left, ses)
			}
		}
		change(s, left)
		if got := drive(t, s).Row("orphan"); got != "" {
			t.Errorf("%s: possible waiters are listed as orphans: %q", what, got)
		}
	}
}

// The marked sessions are chosen, except for hidden ones. Without marks, the selected session is chosen.
