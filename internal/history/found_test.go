package history_test

import (
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/history"
)

// The events must equal the first events of an observer that starts now.
func TestFoundIsTheInitialStateOfAnObserver(t *testing.T) {
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)
	ps, err := election.ParsePatterns(nil)
	if err != nil {
		t.Fatal(err)
	}
	tr := tracker.New(tracker.Options{Patterns: ps})
	want := tr.Observe(election.DatacenterRead{At: at, Datacenter: "dc1"})
	want = append(want, tr.Observe(election.KeysRead{At: at, Range: election.PrefixRange("service/"), Pairs: []election.Pair{
		{Key: "service/a/leader", Value: []byte("a-1"), Session: "s1", CreateIndex: 3, LockIndex: 7, ModifyIndex: 20},
		{Key: "service/b/leader", CreateIndex: 4, LockIndex: 2, ModifyIndex: 21},
		{Key: "service/c/leader", Flags: election.SemaphoreFlag, Value: []byte(`{"Limit":3,"Holders":{"s1":true,"s2":true}}`), CreateIndex: 5, ModifyIndex: 22},
		{Key: "service/d/leader", Flags: election.SemaphoreFlag, Value: []byte(`{"Limit":3,"Holders":{}}`), CreateIndex: 6, ModifyIndex: 23},
	}})...)
	got := history.Found(tr.Snapshot(at))
	if len(got) != len(want) || len(want) != 5 {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v\nwant %+v", got[i], want[i])
		}
	}
}
