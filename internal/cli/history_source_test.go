package cli

import (
	"path/filepath"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

func TestHistoryIsOpenedWhenTheFileExists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	source := sqlite.NewFile(path, nil)
	defer source.Close()
	if page, err := source.Events(t.Context(), history.EventQuery{}); err != nil || len(page.Events) != 0 {
		t.Fatalf("without a file: %+v, %v", page, err)
	}
	store := newHistoryRecorder(func(line string) { t.Error(line) })
	store.start(sqlite.NewWriter(path, sqlite.WriterOptions{}))
	store.marked(&election.Snapshot{At: time.Now(), Datacenter: "dc1", Loaded: true}, nil)
	store.events([]election.Event{{Time: time.Now(), Type: election.Elected, Election: "web", Key: "service/web/leader", Datacenter: "dc1", CreateIndex: 1, ModifyIndex: 1}})
	store.finish()
	if page, err := source.Events(t.Context(), history.EventQuery{}); err != nil || len(page.Events) != 1 {
		t.Fatalf("with a file: %+v, %v", page, err)
	}
}
