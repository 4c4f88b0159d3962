package insight

import (
	"strings"
	"testing"
	"time"

	"electop/election"
)

func TestWhyVacant(t *testing.T) {
	for _, tt := range []struct {
		name, given string
		candidates  int
		want        string
	}{
		{"led", "held", 1, ""},
		{"in lock-delay", "lost delay=9s", 2, "No leader for 6s. No candidate can acquire the key for about 9s more (lock-delay of the lost session: 15s)."},
		{"after the lock-delay", "lost delay=-1s", 2, "No leader for 6s. The lock-delay should have ended: a candidate can acquire the key now."},
		{"25s after the lock-delay", "lost since=1m delay=-25s", 2, "No leader for 1m00s. The lock-delay should have ended: a candidate can acquire the key now. No candidate has acquired the key."},
		{"the cause is pending", "lost since=300ms cause= ended", 2, "No leader for 300ms. The cause is not known yet."},
		{"released", "lost cause=released", 1, "No leader for 6s. The key was released; no lock-delay follows a release."},
		{"released by electop", "lost cause=operator_release", -1, "No leader for 6s. The key was released; no lock-delay follows a release. No candidate has acquired the key."},
		{"no candidate", "lost", 0, "No leader for 6s. No candidate is known yet."},
		{"the key was deleted", "lost gone cause=key_deleted", 0, "No leader for 6s. The key was deleted while its session was alive; the next acquire creates it again. No candidate is known yet."},
		{"behavior delete", "lost gone deleting", 0, "No leader for 6s. The key was deleted with its session (behavior delete); the next acquire creates it again. No candidate is known yet."},
		{"deleted and in lock-delay", "lost gone cause=session_destroyed delay=1s", 0, "No leader for 6s. The key was deleted; the next acquire creates it again. No candidate can acquire the key for about 1s more (lock-delay of the lost session: 7s)."},
		{"vacant at the first read, less than 1s ago", "found since=0s", 0, "No leader when electop started; earlier history unknown. A lock-delay may still be active: the fix dialog and electop show --probe test it. No candidate is known yet."},
		{"vacant after a gap", "lost found since=0s", 0, "No leader; the end of the last term was not observed. No candidate is known yet."},
		{"vacant at the first read, watched since", "found since=90m", 1, "No leader for at least 1h30m. No candidate has acquired the key."},
		{"vacant after a gap, with bounds", "lost found since=0s unseen=20m", 0, "No leader: the last term ended between 11:40:00 and 12:00:00. No candidate is known yet."},
		{"vacant since a gap, with bounds", "lost found since=2m unseen=20m", 0, "No leader for at least 2m00s: the last term ended between 11:40:00 and 11:58:00. No candidate is known."},
		{"recorded", "lost since=5m recorded", 2, "No leader for 5m00s. This data is from the history; the election may have a leader by now."},
		{"no longer readable", "lost unreadable", 0, "No leader for 6s. This data is stale: this token can no longer read the key; the election may have a leader by now."},
		{"no contact", "lost delay=9s outage=12s", 3, "No leader for 6s. This data is stale: Consul has been unreachable for 12s; the election may have a leader by now."},
		{"never any contact", "lost delay=9s outage", 3, "No leader for 6s. This data is stale: Consul is unreachable; the election may have a leader by now."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, facts, _ := fixture(tt.given)
			if got := (*Board)(nil).WhyVacant(e, facts, tt.candidates); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func semaphore(value string) *election.Election {
	return &election.Election{Name: "gpu", Exists: true, Pair: election.Pair{Key: "jobs/gpu/.lock", Flags: election.SemaphoreFlag, Value: []byte(value)}}
}

func TestQueues(t *testing.T) {
	e, b := heldOf("election/web web-1 queue"), NewBoard(nil, nil)
	all := b.Candidates(e, nil)
	if len(all) != 1 || !all[0].Exact || all[0].Name != "web-2" || all[0].Session.ID != "b" || Likely(e, all, nil) != 1 {
		t.Errorf("%+v", all)
	}
	if advice := b.Advise(e, nil, t0); len(advice) != 0 || b.Fix(e, Facts{Now: t0}) != nil {
		t.Errorf("a leader with a lease has the advice %+v", advice)
	}
	e.Session, e.Pair.Session, e.VacantSince = nil, "", t0.Add(-6*time.Second)
	e.Pair.Queue = []election.Waiter{{Name: "election/web/config"}, {Session: "b", Name: "web-2"}}
	if f := b.Fix(e, Facts{Now: t0}); f.Code != QueueBlocked || !strings.Contains(f.Why, "The key election/web/config is the first of the queue") || len(b.Candidates(e, nil)) != 1 {
		t.Errorf("%+v", f)
	}
	e.Exists, e.Pair.Queue = false, []election.Waiter{}
	if f := b.Fix(e, Facts{Now: t0}); f.Code != NoCandidates || f.Why != "No leader for at least 6s. No candidate has a key." {
		t.Errorf("%+v", f)
	}
}
