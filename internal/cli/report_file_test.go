package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/ui"
)

// storedHistory returns a history in which the elections have a leader at the given time.
func storedHistory(t *testing.T, at time.Time, names ...string) history.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.db")
	store := newHistoryRecorder(func(line string) { t.Error(line) })
	store.start(sqlite.NewWriter(path, sqlite.WriterOptions{}))
	store.marked(&election.Snapshot{At: at.Add(-time.Minute), Datacenter: "dc1", Loaded: true}, nil)
	for i, name := range names {
		store.events([]election.Event{{
			Time: at, Type: election.Elected, Election: name, Key: "service/" + name + "/leader", Datacenter: "dc1",
			Term: 1, CreateIndex: 7, ModifyIndex: uint64(10 + i), Leader: name + "-1", Session: name,
		}})
	}
	store.finish()
	source := &lazyHistory{path: path}
	t.Cleanup(func() { _ = source.Close() })
	return source
}

func subjects(keys ...string) (all []ui.Subject) {
	for _, key := range keys {
		all = append(all, ui.Subject{Key: key})
	}
	return all
}

func TestReportFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	now := time.Date(2026, 11, 21, 3, 12, 40, 0, time.Local)
	source := storedHistory(t, now.Add(-time.Minute), "web", "a/../b c\x1b[2J")
	r := history.Range{Since: now.Add(-time.Hour), Until: now}
	const web, other = "service/web/leader", "service/a/../b c\x1b[2J/leader"
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{web}, "electop-report-web-20261121-0312.md"},
		{[]string{web}, "electop-report-web-20261121-0312-2.md"},
		{[]string{other}, "electop-report-a-..-b-c--2J-20261121-0312.md"},
		{[]string{web, other, "unknown"}, "electop-report-2-elections-20261121-0312.md"},
	} {
		file, err := writeIncidents(t.Context(), source, subjects(tt.keys...), r)
		if err != nil || file != tt.want {
			t.Errorf("%v: %q, %v", tt.keys, file, err)
			continue
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
		text, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(text), "\x1b") || strings.Count(string(text), "# Incident report: ") != min(2, len(tt.keys)) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	if file, err := writeIncidents(t.Context(), source, subjects("unknown"), r); err == nil {
		t.Errorf("%s was written for an election that is not in the history", file)
	}
	if err := os.Chmod(".", 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := writeIncidents(t.Context(), source, subjects(web), r); err == nil && os.Getuid() != 0 {
		t.Error("writeIncidents returned no error for a read-only folder")
	}
}

// A report about an election of a lost datacenter contains the gap, although another datacenter was observed.
func TestReportOfALostDatacenter(t *testing.T) {
	path, now := filepath.Join(t.TempDir(), "h.db"), time.Now()
	for _, name := range []string{"dc1", "dc2"} {
		store := newHistoryRecorder(func(line string) { t.Error(line) })
		store.start(sqlite.NewWriter(path, sqlite.WriterOptions{}))
		ps, err := election.ParsePatterns(nil)
		if err != nil {
			t.Fatal(err)
		}
		store.marked(&election.Snapshot{At: now.Add(-time.Hour), Datacenter: name, Loaded: true}, ps)
		if name == "dc2" {
			store.events([]election.Event{
				{Time: now.Add(-50 * time.Minute), Type: election.Elected, Election: "web", Key: "service/web/leader", Datacenter: name, CreateIndex: 7, ModifyIndex: 10, Session: "s"},
				{Time: now.Add(-40 * time.Minute), Type: election.ConnectionLost, Datacenter: name, Error: "refused"},
			})
		}
		store.finish()
	}
	source := &lazyHistory{path: path}
	defer source.Close()
	i, err := readIncident(t.Context(), source, ui.Subject{Key: "service/web/leader"}, history.Range{Since: now.Add(-time.Hour), Until: now})
	if err != nil || len(i.Gaps) != 1 || i.Gaps[0].Until.Sub(i.Gaps[0].Since) < 39*time.Minute {
		t.Errorf("%v: %+v", err, i)
	}
}
