package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/consultest"
	"electop/internal/history"
)

var must = consultest.Must

// explainer reports queries that scan events or terms, or that sort them.
type explainer struct {
	t    *testing.T
	db   *sql.DB
	name string
}

// A scan in the order of an index ends after a page.
var expensive = regexp.MustCompile(`^(SCAN (v|t|events|terms)( USING .*PRIMARY KEY.*)?$|USE TEMP B-TREE FOR (ORDER BY|DISTINCT))`)

func (x *explainer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := x.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		x.t.Fatal(query, err)
	}
	defer rows.Close()
	var plan []string
	bad := false
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must(x.t, rows.Scan(&id, &parent, &unused, &detail))
		plan = append(plan, detail)
		// The rows of a page, elections and observations are few.
		sorts := strings.HasPrefix(detail, "USE TEMP") && (parent == 0 && strings.Contains(query, ") p CROSS JOIN") || strings.Contains(query, "FROM elections") || strings.Contains(query, "FROM observations"))
		bad = bad || expensive.MatchString(detail) && !sorts
	}
	if bad {
		x.t.Errorf("%s: %s\n  %s", x.name, query, strings.Join(plan, "\n  "))
	}
	return x.db.QueryContext(ctx, query, args...)
}

// Every query of the command line and of the dashboard uses an index, with every filter.
func TestQueriesUseTheirIndexes(t *testing.T) {
	path := t.TempDir() + "/h.db"
	c, err := connect(t.Context(), path, busyTimeout, "", nil)
	must(t, err)
	for i := range 3 {
		must(t, c.exec(t.Context(), "INSERT INTO elections (datacenter, key, name, found) VALUES ('dc1', ?1, ?1, 1)", fmt.Sprint("web-", i)))
	}
	must(t, c.exec(t.Context(), "INSERT INTO checkpoints (datacenter, at, event, board) VALUES ('dc1', 1, 0, ?)", board(t)))
	if err := c.db.Close(); err != nil {
		t.Fatal(err)
	}
	f := NewFile(path)
	must(t, f.Open(t.Context()))
	defer f.Close()
	x := &explainer{t: t, db: f.db}
	f.q = x
	now := time.Now()
	ranges := []history.Range{{}, {Since: now.Add(-time.Hour)}, {Until: now}, {Since: now.Add(-time.Hour), Until: now}}
	newer := history.Cursor(fmt.Sprintf("n%d.0", now.UnixNano()))
	older := "o" + newer[1:]
	cursors := []history.Cursor{"", "s7.7", newer, older}
	read := func(_ any, err error) {
		if err != nil {
			t.Error(x.name, err)
		}
	}
	for _, names := range [][]string{nil, {"web-0"}, {"web-0", "web-1"}} {
		for _, datacenters := range [][]string{nil, {"dc1"}} {
			for _, r := range ranges {
				filter := history.Filter{Range: r, Names: names, Datacenters: datacenters}
				for _, causes := range [][]election.Cause{nil, {election.Released}, {election.Released, election.NodeGone}} {
					for _, types := range [][]election.EventType{nil, {election.Deleted}, {election.Updated, election.Left}} {
						for _, cursor := range cursors {
							x.name = fmt.Sprint("events ", filter, types, causes, cursor)
							read(f.Events(t.Context(), history.EventQuery{Filter: filter, Types: types, Causes: causes, Page: cursor}))
						}
					}
					x.name = fmt.Sprint("terms ", filter, causes)
					read(f.Terms(t.Context(), history.TermQuery{Filter: filter, Causes: causes}))
					read(f.Terms(t.Context(), history.TermQuery{Filter: filter, Causes: causes, Page: older}))
					read(f.Terms(t.Context(), history.TermQuery{Filter: filter, Causes: causes, Page: history.Oldest}))
				}
				x.name = fmt.Sprint("stats ", filter)
				read(f.Stats(t.Context(), filter))
				x.name = "observations and actions"
				read(f.Observations(t.Context(), r))
				read(f.Actions(t.Context(), r))
			}
		}
	}
	x.name = "state"
	read(f.State(t.Context(), now))
}

func board(t *testing.T) []byte {
	b, err := history.NewBoard(&election.Snapshot{At: time.Unix(0, 1), Datacenter: "dc1"}).Encode()
	must(t, err)
	return b
}

// Every statement of a writer uses an index: an operator's action must not delay the events.
func TestStatementsOfAWriterUseTheirIndexes(t *testing.T) {
	w := NewWriter(t.TempDir()+"/h.db", WriterOptions{})
	must(t, w.Open(t.Context()))
	w.Mark(&election.Snapshot{At: time.Now().Add(-time.Minute), Datacenter: "dc1", Loaded: true}, nil)
	at := time.Now()
	e := election.Event{Time: at, Type: election.Elected, Election: "web", Key: "service/web/leader", Datacenter: "dc1", Term: 1, CreateIndex: 1, ModifyIndex: 1, Session: "s1", Leader: "a", VacancyKnown: true}
	for _, kind := range []election.EventType{election.Elected, election.Updated, election.Vacated, election.Explained, election.Deleted, election.ConnectionLost} {
		e.Type, e.Leader = kind, "web of "+string(kind)
		e.Cause = election.Released
		w.Record([]election.Event{e})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, w.Run(ctx))
	c, err := connect(t.Context(), w.path, busyTimeout, "", nil)
	must(t, err)
	defer c.db.Close()
	w.conn = c
	for range 2 {
		if err := w.transaction(t.Context(), func(ctx context.Context) error {
			a := history.Action{Time: at, By: "ana", Kind: election.ActionRelease, Datacenter: "dc1", Session: "s1", Result: history.ResultDone}
			err := w.exec(ctx, "INSERT INTO actions (time, by, action, datacenter, key, session, create_index, term, leader, node, result, detail) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", actionColumns(&a)...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, w.Trim(t.Context(), at, time.Nanosecond))
	parameter := regexp.MustCompile(`\?[0-9]*`)
	columns := func(detail *string) []any { return []any{new(int), new(int), new(int), detail} }
	attributions := []string{"SELECT * FROM attribution WHERE action = 1", "SELECT * FROM attribution WHERE explanation = 1"} // of the triggers
	for _, query := range append(slices.AppendSeq(attributions, maps.Keys(c.prepared)), strings.Split(strings.TrimSuffix(strings.TrimSpace(deleteOld), ";"), ";")...) {
		plan, err := list(t.Context(), w.reading, columns, "EXPLAIN QUERY PLAN "+parameter.ReplaceAllString(query, "NULL"))
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		for _, detail := range plan {
			scans := slices.Contains(attributions, query) && strings.HasPrefix(detail, "SCAN")
			if scans || expensive.MatchString(detail) && !strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", query, detail)
			}
		}
	}
}

// Times that nanoseconds cannot represent are limited.
func TestNanosOfDistantTimes(t *testing.T) {
	for year, want := range map[int]int64{2300: math.MaxInt64, 1600: math.MinInt64, 1970: 0} {
		if got := nanos(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("%d: %d, want %d", year, got, want)
		}
	}
}
