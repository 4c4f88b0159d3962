package history_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"testing"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/history"
)

// TestCheckpointFormat fails if a field of a checkpoint was added, removed or renamed: gob then loses its value in the files
// that another version wrote. Raise the version in sqlite/file.go, so that such files are refused, and then change the sum.
// An added field needs no new version if its zero value is right for the files of every earlier version.
func TestCheckpointFormat(t *testing.T) {
	text, err := history.NewBoard(&election.Snapshot{At: start(), Elections: []*election.Election{{}}}).Encode() // gob describes all types before the first value
	consultest.Must(t, err)
	described, err := io.ReadAll(flate.NewReader(bytes.NewReader(text)))
	consultest.Must(t, err)
	for _, name := range []string{"LockDelayDoubtful", "CreateIndex", "NotBefore", "NodeChecks", "Holders"} { // of all the types
		if !bytes.Contains(described, []byte(name)) {
			t.Errorf("the type with the field %s is not described", name)
		}
	}
	const want = "b5f6ba24d730d087"
	if sum := sha256.Sum256(described); hex.EncodeToString(sum[:8]) != want {
		t.Errorf("the form of checkpoints has changed: sum %x, want %s", sum[:8], want)
	}
}

func TestALaterElectionHasTheStoreOfTheBoard(t *testing.T) {
	etcd := election.Store{Name: "etcd", Leases: true}
	text, err := history.NewBoard(&election.Snapshot{At: start(), Store: etcd, Elections: []*election.Election{{Pair: election.Pair{Key: "a"}, Exists: true, Store: etcd}}}).Encode()
	consultest.Must(t, err)
	b, err := history.DecodeBoard(text)
	b.Apply(&election.Event{Time: start(), Type: election.Elected, Key: "b", Term: 7, CreateIndex: 7, ModifyIndex: 7, Session: "1"})
	if all := b.Elections(start()); err != nil || len(all) != 2 || all[1].Store != etcd {
		t.Errorf("%v, %+v", err, all)
	}
}

// Another process may have stored some of the missed terms that an event counts.
func TestMissedTermsThatAreStoredDoNotCount(t *testing.T) {
	key := election.Pair{Key: "service/web/leader", CreateIndex: 10, ModifyIndex: 20, LockIndex: 2}
	for _, tt := range []struct {
		term, count uint64
		held        bool
		want        uint64
	}{{5, 2, true, 2}, {5, 3, true, 2}, {5, 3, false, 3}, {5, 5, false, 3}, {3, 1, true, 0}, {2, 1, false, 0}} {
		b := history.NewBoard(&election.Snapshot{At: start(), Elections: []*election.Election{{Name: "web", Exists: true, Pair: key, Term: 2}}})
		ev := election.Event{Type: election.Missed, Time: start(), Key: key.Key, CreateIndex: 10, ModifyIndex: 30, Term: tt.term, Count: tt.count}
		if added := b.Adds(&ev, tt.held); added != (tt.want > 0) || added && ev.Count != tt.want {
			t.Errorf("%+v: %d", tt, ev.Count)
		}
	}
}

// Two processes read the same changes at different times. The one that takes over stores only what the other did not store.
func TestChangesThatAreStoredAreNotAdded(t *testing.T) {
	b := history.NewBoard(&election.Snapshot{At: start()})
	for _, tt := range []struct {
		kind        election.EventType
		term, index uint64
		session     string
		adds        bool
	}{
		{election.Elected, 1, 10, "a", true}, {election.Elected, 0, 11, "a", false},
		{election.Overwritten, 0, 11, "a", true}, {election.Overwritten, 1, 11, "a", false},
		{election.Vacated, 0, 11, "a", true}, {election.Overwritten, 0, 12, "", true}, {election.Overwritten, 1, 12, "", false},
		{election.Elected, 0, 13, "b", true}, {election.Overwritten, 0, 13, "b", true}, {election.Overwritten, 0, 13, "b", false},
		{election.Vacated, 0, 13, "b", true}, {election.Explained, 1, 10, "a", false},
	} {
		ev := election.Event{Type: tt.kind, Time: start(), Key: "service/web/leader", CreateIndex: 10, Term: tt.term, ModifyIndex: tt.index, Session: tt.session, LockDelayUntil: start()}
		if b.Adds(&ev, false) != tt.adds || !b.Elections(start())[0].LockDelayUntil.IsZero() {
			t.Errorf("%+v", tt)
		}
	}
}
