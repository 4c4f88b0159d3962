package faults

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"electop/internal/consultest"
)

// In each of these faults, an operator restores a snapshot: ended terms become current again, or later terms no
// longer exist.
func TestSnapshotFaults(t *testing.T) {
	older := fault{
		name: "older snapshot restored", at: aDevAgent, lasts: 6 * time.Second, silent: true, still: true, quick: true,
		begin: func(s *stage) {
			image := s.snapshot()
			s.must(s.changeLeader())
			s.board.until("new leader", s.right)
			s.restore(image)
		},
		end: nothing,
	}
	newer := fault{
		name: "older snapshot restored, then a newer one", at: aDevAgent, lasts: 6 * time.Second, silent: true, still: true,
		begin: func(s *stage) {
			first := s.snapshot()
			s.must(s.changeLeader())
			s.must(s.changeLeader())
			second := s.snapshot()
			s.board.until("new leader", s.right)
			s.restore(first)
			s.board.until("leader of the older snapshot", s.right)
			s.restore(second)
		},
		end: nothing,
	}
	for _, f := range []fault{older, newer} {
		t.Run(f.name, f.play)
	}
}

func save(a *consultest.Agent) ([]byte, error) {
	saved, _, err := a.Client().Snapshot().Save(nil)
	if err != nil {
		return nil, err
	}
	defer saved.Close()
	return io.ReadAll(saved)
}

func (s *stage) snapshot() []byte {
	s.t.Helper()
	image, err := save(s.agent)
	s.must(err)
	return image
}

// restore restores a snapshot and logs the leader after the restore.
func (s *stage) restore(image []byte) {
	s.t.Helper()
	asked := time.Now()
	s.must(s.agent.Client().Snapshot().Restore(nil, bytes.NewReader(image)))
	s.must(s.writer.restored(asked))
	s.leads(leaderOf(s.writer.keys[0].pair))
}

// restored reads all keys after a snapshot was restored, and logs their state. The caller prevents other writes.
func (w *writer) restored(asked time.Time) error {
	w.session = ""
	for _, k := range w.keys {
		pair, err := w.read(context.Background(), k.key)
		if err != nil {
			return err
		}
		k.pair, k.doubtful, k.since = pair, false, time.Time{}
		id := ""
		if k.held() {
			id = leaderOf(pair)
		}
		w.truth.restored(k.key, asked, pair != nil, id)
	}
	return nil
}
