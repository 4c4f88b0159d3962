package uitest

import (
	"fmt"
	"strconv"
	"time"

	"electop/election"
	"electop/election/tracker"
)

// Queue returns a queue of a store with leases, read at a revision. The candidates, each "name@revision", are in their
// order; a name with a "/" is another key.
func Queue(key string, revision uint64, candidates ...string) election.Pair {
	p := election.Pair{Key: key, ModifyIndex: revision, Queue: []election.Waiter{}}
	for i, text := range candidates {
		var w election.Waiter
		for at := range text {
			if text[at] == '@' {
				w.Name = text[:at]
				w.Revision, _ = strconv.ParseUint(text[at+1:], 10, 64)
			}
		}
		if base := election.Parent(w.Name); base == "" {
			w.Session = fmt.Sprintf("694d9e1c%08x", w.Revision)
		}
		if i == 0 {
			p.Session, p.CreateIndex = w.Session, w.Revision
			if w.Session != "" {
				p.LockIndex, p.Value = w.Revision, []byte(w.Name)
			}
		}
		if i > 0 || w.Session == "" {
			p.Queue = append(p.Queue, w)
		}
	}
	return p
}

// Queues returns a snapshot of a store with leases: queues with and without a leader, and Patroni's key.
func Queues() *election.Snapshot {
	patterns, _ := election.ParsePatterns([]string{"**"})
	store := election.Store{Name: "etcd", Revisions: true, Leases: true}
	t := tracker.New(tracker.Options{Patterns: patterns, Store: store})
	lease := func(p election.Pair, remaining time.Duration) *election.Session {
		return &election.Session{ID: p.Session, Store: store, TTL: 10 * time.Second, Behavior: election.BehaviorDelete, Read: Now().Add(-2 * time.Second), Expires: Now().Add(remaining)}
	}
	t.Observe(election.DatacenterRead{At: ago(time.Hour), Datacenter: "etcd"})
	billing, mail := Queue("election/billing", 20500, "billing-1@20101", "billing-3@20106", "billing-2@20107"), Queue("election/mail", 20500, "mail-1@20110")
	patroni, lock := Queue("/service/pg/leader", 20500, "pg-1@19007"), Queue("lock/nightly", 20500, "x@20200", "y@20201")
	patroni.Queue, lock.Value = nil, nil
	t.Observe(election.KeysRead{At: ago(time.Hour), Range: election.Range{}, Pairs: election.Pairs(
		patroni, billing, mail, Queue("election/search", 20500, "election/search/config@20120", "search-2@20121"), lock,
	)})
	change := func(d time.Duration, key string, p ...election.Pair) {
		events := t.Observe(election.KeysRead{At: ago(d), Range: election.KeyRange(key), Pairs: election.Pairs(p...)})
		if events[0].Type == election.Vacated {
			t.Observe(election.TermEvidence{At: ago(d), Event: events[0], Outcome: election.Evidence{SessionRead: true, SessionExists: len(p) > 0, DeleteIndex: 20517}})
		}
	}
	t.Observe(election.SessionsRead{At: ago(5 * time.Minute), Sessions: []*election.Session{{
		ID: mail.Session, TTL: 10 * time.Second, Behavior: election.BehaviorDelete, Read: ago(4*time.Minute + 5*time.Second), Expires: ago(4*time.Minute + 2*time.Second),
	}}})
	change(4*time.Minute+1500*time.Millisecond, mail.Key)
	next := Queue(billing.Key, 20517, "billing-3@20106", "billing-2@20107")
	change(3*time.Minute+12*time.Second, billing.Key, next)
	t.Observe(election.SessionsRead{At: Now(), Sessions: []*election.Session{lease(next, 8200*time.Millisecond), lease(patroni, 7*time.Second), lease(lock, 9*time.Second)}})
	search := lease(election.Pair{Session: "694d9e1c00004e99"}, 9*time.Second)
	t.Observe(election.SessionListRead{At: Now(), Sessions: []*election.Session{lease(patroni, 7*time.Second), search}})
	t.Observe(election.LinkUp{At: Now(), Source: "etcd", Latency: time.Millisecond})
	return t.Snapshot(Now())
}
