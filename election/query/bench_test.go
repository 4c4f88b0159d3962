package query_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/election/query"
)

func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// crowd returns many elections with realistic names, sorted by key.
func crowd(n int) []*election.Election {
	es := make([]*election.Election, n)
	for i := range es {
		name := fmt.Sprintf("payments-worker-%05d", i)
		ses := &election.Session{ID: fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), Name: name, Node: fmt.Sprintf("node-%d", i%200), NodeChecks: []string{"serfHealth"}}
		es[i] = &election.Election{
			Name: name, Exists: true, Leader: fmt.Sprintf("%s on node-%d", name, i%200), Session: ses, Since: now().Add(-time.Hour), SinceKnown: true, Term: 3,
			Pair: election.Pair{Key: "service/" + name + "/leader", Session: ses.ID, LockIndex: 3, Flags: election.LockFlag},
		}
		for k := range 10 {
			es[i].Terms = append(es[i].Terms, election.Term{Number: uint64(k), Start: now().Add(-time.Duration(k) * 10 * time.Minute), StartKnown: true})
		}
	}
	return es
}

// Each key press filters and sorts all elections. This must take much less time than a frame of 16 ms.
func BenchmarkFilter(b *testing.B) {
	es := crowd(10_000)
	for _, text := range []string{"worker-0999", "!node-17", "/worker-0.*7$/", "/[0-9]{5}$/", "state:led node:node-1", "for:<2h", "changes:>3", "advice:any", "cause:released"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				f := query.Parse(text, query.Elections)
				query.Order{}.Sort(f.On(es, nil, query.Facts{At: now()}).Select(es), query.Facts{At: now()})
			}
		})
	}
}

// The dashboard evaluates its filter for each message, and the advice for each snapshot.
func BenchmarkAdviceAgain(b *testing.B) {
	es := crowd(10_000)
	f := query.Parse("advice:any", query.Elections)
	first := f.On(es, nil, query.Facts{At: now()})
	b.Run("message", func(b *testing.B) {
		for b.Loop() {
			f.After(first, es, nil, query.Facts{At: now().Add(time.Second)}).Select(es)
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		changed := slices.Clone(es)
		e := *es[7]
		changed[7] = &e
		for b.Loop() {
			f.After(first, changed, nil, query.Facts{At: now().Add(time.Second)}).Select(changed)
		}
	})
}
