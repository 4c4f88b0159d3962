package history_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
)

// TestCheckpointFormat fails if a field of a checkpoint was added, removed or renamed: gob then loses its value in the files
// that another version wrote. Raise the version in sqlite/schema.go, so that such files are refused, and then change the sum.
// An added field needs no new version if its zero value is right for the files of every earlier version.
func TestCheckpointFormat(t *testing.T) {
	text, err := history.NewBoard(&election.Snapshot{At: start()}).Encode() // gob describes all types before the first value
	if err != nil {
		t.Fatal(err)
	}
	described, err := io.ReadAll(flate.NewReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LockDelayDoubtful", "CreateIndex", "NotBefore", "NodeChecks", "Holders"} { // of all the types
		if !bytes.Contains(described, []byte(name)) {
			t.Errorf("the type with the field %s is not described", name)
		}
	}
	const want = "1443cd7cda38ee2f"
	if sum := sha256.Sum256(described); hex.EncodeToString(sum[:8]) != want {
		t.Errorf("the form of checkpoints has changed: sum %x, want %s", sum[:8], want)
	}
}

func TestALaterElectionHasTheStoreOfTheBoard(t *testing.T) {
	etcd := election.Store{Name: "etcd", Leases: true}
	text, err := history.NewBoard(&election.Snapshot{At: start(), Store: etcd, Elections: []*election.Election{{Pair: election.Pair{Key: "a"}, Exists: true, Store: etcd}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := history.DecodeBoard(text)
	b.Apply(&election.Event{Time: start(), Type: election.Elected, Key: "b", Term: 7, CreateIndex: 7, ModifyIndex: 7, Session: "1"})
	if all := b.Elections(start()); err != nil || len(all) != 2 || all[1].Store != etcd {
		t.Errorf("%v, %+v", err, all)
	}
}

func BenchmarkCheckpoint(b *testing.B) {
	s := &election.Snapshot{At: start(), Datacenter: "dc1"}
	for i := range 10_000 {
		id, since := fmt.Sprintf("%08x-6350-7587-addf-a18084928f3c", i*7919), start().Add(-time.Duration(i)*time.Minute)
		session := &election.Session{
			ID: id, Name: fmt.Sprint("team-", i), Node: fmt.Sprintf("node-%d", i%50), TTL: 15 * time.Second, Behavior: "release",
			LockDelay: 15 * time.Second, NodeChecks: []string{"serfHealth"}, CreateIndex: uint64(1000 + i),
		}
		term := election.Term{
			Number: 3, CreateIndex: uint64(2000 + i), Session: id, Leader: fmt.Sprintf("team-%d-%d  10.0.0.%d:9000", i, i%3, i%250), Node: session.Node,
			Start: since, StartKnown: true,
		}
		s.Elections = append(s.Elections, &election.Election{
			Name: session.Name, Datacenter: "dc1", Exists: true, Leader: term.Leader, Session: session, LastSession: session, Term: 3, Since: since,
			SinceKnown: true, Terms: []election.Term{term, term}, Pair: election.Pair{
				Key: fmt.Sprintf("service/team-%d/leader", i), Session: id, LockIndex: 3, CreateIndex: term.CreateIndex, ModifyIndex: uint64(90_000 + 3*i),
			},
		})
	}
	board := history.NewBoard(s)
	text, err := board.Encode()
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			text, err = board.Encode()
		}
		b.ReportMetric(float64(len(text)), "bytes")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			_, err = history.DecodeBoard(text)
		}
	})
	if err != nil {
		b.Fatal(err)
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
			t.Errorf("%+v: %t, %d", tt, added, ev.Count)
		}
	}
}
