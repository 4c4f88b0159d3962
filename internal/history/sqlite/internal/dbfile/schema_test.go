package dbfile

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSeveralProcessesCreateOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	var g errgroup.Group
	for range 8 {
		g.Go(func() error {
			db, err := OpenForWriting(t.Context(), path)
			if err != nil {
				return err
			}
			return db.Close()
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	db, err := OpenForReading(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if version, err := schemaVersion(t.Context(), db, len(migrations())); err != nil || version != len(migrations()) {
		t.Errorf("version %d, %v", version, err)
	}
}

func TestMigrationsKeepWhatIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	db, err := OpenForWriting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO elections (datacenter, ident, key, name) VALUES ('dc1', 'k', 'k', 'web')"); err != nil {
		t.Fatal(err)
	}
	failing := append(migrations(), "ALTER TABLE elections ADD COLUMN team TEXT; ALTER TABLE missing ADD COLUMN x")
	if err := migrate(t.Context(), db, failing); err == nil {
		t.Error("a failed migration returned no error")
	}
	steps := append(migrations(), "ALTER TABLE elections ADD COLUMN team TEXT DEFAULT 'none'")
	for range 2 {
		if err := migrate(t.Context(), db, steps); err != nil {
			t.Fatal(err)
		}
	}
	var name, team string
	if err := db.QueryRow("SELECT name, team FROM elections").Scan(&name, &team); err != nil || name != "web" || team != "none" {
		t.Error(name, team, err)
	}
	if _, err := OpenForReading(t.Context(), path); !errors.Is(err, ErrNewer) {
		t.Error(err)
	}
}

// TestQueriesUseTheirIndexes fails if SQLite scans a table, because a table may have a million rows.
func TestQueriesUseTheirIndexes(t *testing.T) {
	db, err := OpenForWriting(t.Context(), filepath.Join(t.TempDir(), "h.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		"SELECT * FROM events v ORDER BY v.time DESC, v.id DESC LIMIT 10":                                                                                "events_by_time",
		"SELECT * FROM events v WHERE v.election = 1 ORDER BY v.time DESC, v.id DESC LIMIT 10":                                                           "events_by_election",
		"SELECT * FROM events v WHERE v.cause = 'released' ORDER BY v.time DESC, v.id DESC LIMIT 10":                                                     "events_by_cause",
		"SELECT * FROM events v WHERE v.type = 'deleted' AND v.type NOT IN ('elected', 'vacated', 'explained') ORDER BY v.time DESC, v.id DESC LIMIT 10": "events_by_type",
		"SELECT 1 FROM events WHERE election = 1 AND type IN " + StateTypes + " AND type IN ('entered', 'left')":                                         "events_of_state",
	} {
		if plan := explain(t, db, query); !strings.Contains(plan, "INDEX "+want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nuses %s, want %s", query, plan, want)
		}
	}
}

func explain(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN " + query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var a, b, c int
		var detail string
		if err := rows.Scan(&a, &b, &c, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "; ")
}
