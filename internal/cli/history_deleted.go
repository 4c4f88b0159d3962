package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/crash"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// loaded returns a function that receives the first complete snapshot of an observer. The function records that
// observation began, and which keys were deleted while no observer was running. Without these deletions, the last
// terms of the deleted keys would never end in the history.
func (r *historyRecorder) loaded(client *consulx.Client, ps election.Patterns) func(*election.Snapshot) {
	return func(s *election.Snapshot) {
		if r == nil || r.path == "" {
			return
		}
		if len(s.Elections) == 0 { // if there are elections, their initial events record when observation began
			r.events([]election.Event{sqlite.Observing(s.Datacenter, s.At)})
		}
		crash.Go(&r.reads, func() {
			events, err := deletedUnobserved(r.reading, client, ps, s, r.path)
			var file *sqlite.Error // the writer reports errors of the file
			if err != nil && r.reading.Err() == nil && !errors.As(err, &file) {
				r.warn("history: deletions of keys while no observer was running are not recorded: " + consulx.Describe(err))
			}
			r.events(events)
		})
	}
}

// deletedUnobserved returns a deleted event for each key that exists according to the history, but not in Consul.
func deletedUnobserved(
	ctx context.Context, client *consulx.Client, ps election.Patterns, s *election.Snapshot, path string,
) ([]election.Event, error) {
	f, err := sqlite.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at := time.Now() // before the read: the events of a key that is created again must be later than its deletion
	st, err := f.State(ctx, history.StateQuery{At: at, Window: time.Nanosecond})
	if err != nil {
		return nil, err
	}
	absent := slices.DeleteFunc(st.Elections, func(e *election.Election) bool {
		_, matches := ps.Match(e.Key())
		return !matches || !e.Exists || e.Unaddressable || e.Datacenter != s.Datacenter || s.Find(election.KeyID(e.Key())) != nil
	})
	var events []election.Event
	for some := range slices.Chunk(absent, consulx.TxnReads) {
		keys := make([]string, len(some))
		for i, e := range some {
			keys[i] = e.Key()
		}
		// Only a consistent transaction distinguishes a deleted key from an unreadable one.
		_, exist, err := client.ReadExisting(keys, client.Consistent(ctx))
		if err != nil {
			return nil, err
		}
		for _, e := range some {
			if !slices.Contains(exist, e.Key()) {
				events = append(events, election.Event{
					Time: at, Type: election.Deleted, Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter,
					Term: e.Term, CreateIndex: e.Pair.CreateIndex, Gap: true,
				})
			}
		}
	}
	return events, nil
}
