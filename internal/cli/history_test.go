package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// historyFile returns the path of a history that does not exist yet.
func historyFile(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "h.db") }

// watched runs watch while change acts, and returns the first n lines that it printed.
func watched(w *testConsul, file string, n int, change func()) (printed []string) {
	w.t.Helper()
	events := w.follow("watch", "-o", "json", "--history", file)
	printed = append(printed, events.next())
	change()
	for len(printed) < n {
		printed = append(printed, events.next())
	}
	events.stop()
	return printed
}

// failover moves the lock of web from a to b.
func failover(w *testConsul) (change func()) {
	a, b := w.session(nil), w.session(nil)
	w.acquire("service/web/leader", a, "a")
	return func() {
		w.unlock("service/web/leader", a)
		w.acquire("service/web/leader", b, "b")
	}
}

func TestHistoryPrintsTheEventsOfWatch(t *testing.T) {
	var w *testConsul
	var file string
	var printed []string
	eventually(t, "events with a node", func() bool { // the node is missing if a session is read too late
		w, file = onMemory(t), historyFile(t)
		printed = watched(w, file, 4, failover(w))
		return !slices.ContainsFunc(printed, func(line string) bool { return !strings.Contains(line, `"node":"node-1"`) })
	})
	r := w.run("history", "-o", "json", "--history", file).must(t, exitOK)
	got := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	slices.Sort(got) // explained may precede elected
	slices.Sort(printed)
	if !slices.Equal(got, printed) {
		t.Errorf("%s\nwatch printed\n%s", strings.Join(got, "\n"), strings.Join(printed, "\n"))
	}
	again := watched(w, file, 3, func() { w.client.KV().Delete("service/web/leader", nil) })
	r = w.run("history", "--history", file).must(t, exitOK)
	has(t, r.out, "TIME  ", "  web  ", "  elected  ", "a, term 1, node-1 · initial state", "b, term 2, node-1", "led for at least", "released", "the key was deleted")
	if n := strings.Count(r.out, "initial state"); n != 1 {
		t.Errorf("%d initial states, want 1; the second observer reported %v:\n%s", n, again, r.out)
	}
	if r := w.run("history", "--type", "deleted", "--history", file).must(t, exitOK); strings.Count(r.out, "\n") != 2 {
		t.Errorf("--type deleted: %s", r.out)
	}
	if r := w.run("history", "--until", "1h", "--history", file).must(t, exitOK); strings.Contains(r.out, "elected") {
		t.Errorf("--until 1h: %s", r.out)
	}
	r = w.run("history", "-o", "json", "--cause", "released", "--history", file).must(t, exitOK)
	has(t, r.out, `"type":"explained"`, `"key":"service/web/leader"`, `"cause":"released"`)
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("--cause released: %s", r.out)
	}
}

func TestHistoryOfTerms(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	watched(w, file, 4, failover(w))
	r := w.run("history", "web", "--terms", "-o", "json", "--history", file).must(t, exitOK)
	var terms []termJSON
	for line := range strings.Lines(r.out) {
		var term termJSON
		if err := json.Unmarshal([]byte(line), &term); err != nil {
			t.Fatal(err)
		}
		terms = append(terms, term)
	}
	if len(terms) != 2 {
		t.Fatalf("%s", r.out)
	}
	first, second := terms[0], terms[1]
	if first.Leader != "a" || first.Term != 1 || first.FromKnown || first.HeldKnown || first.To == "" || first.Cause != "released" || first.VacancyMS == nil {
		t.Errorf("first term %+v", first)
	}
	if second.Leader != "b" || second.Term != 2 || !second.FromKnown || second.HeldKnown || second.To != "" || second.VacancyMS != nil {
		t.Errorf("second term %+v", second)
	}
	r = w.run("history", "--terms", "--history", file).must(t, exitOK)
	has(t, r.out, "ELECTION  LEADER  NODE", "  before 20", "  >= ", "  released  ")
}

func TestHistoryStats(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	watched(w, file, 4, failover(w))
	r := w.run("history", "--stats", "-o", "json", "--history", file).must(t, exitOK)
	var got struct {
		Since, Until string
		Elections    []summaryJSON
		Total        summaryJSON
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Elections) != 1 || got.Since == "" || got.Until == "" {
		t.Fatalf("%s", r.out)
	}
	if s := got.Elections[0]; s.Election != "web" || s.Terms != 2 || s.Vacancies != 1 || s.Causes["released"] != 1 || got.Total.Terms != 2 {
		t.Errorf("%+v, total %+v", s, got.Total)
	}
	r = w.run("history", "--stats", "--history", file).must(t, exitOK)
	has(t, r.out, "AVAILABILITY", "released 1", "Observed for ", " of 24h0m0s; longest gap between two observations 0s.")
}

func TestHistorySelectsElectionsByNameAndKey(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	s := w.session(nil)
	for _, key := range []string{"a/web/leader", "b/web/leader", "b/mail/leader"} {
		w.acquire(key, s, "x")
	}
	events := w.follow("watch", "-k", "a/*/leader", "-k", "b/*/leader", "--history", file)
	for range 3 {
		events.next()
	}
	events.stop()
	for _, tt := range []struct {
		args []string
		code int
		want string // on stdout for success
		n    int    // number of events
	}{
		{nil, exitOK, "mail", 3},
		{[]string{"mail"}, exitOK, "mail", 1},
		{[]string{"/b/web/leader"}, exitOK, "web", 1},
		{[]string{"-k", "b/*/leader"}, exitOK, "mail", 2},
		{[]string{"web"}, exitUsage, "a/web/leader, b/web/leader", 0},
		{[]string{"web", "-k", "a/*/leader"}, exitOK, "web", 1},
		{[]string{"none"}, exitNoElection, "no such election in the history: none", 0},
		{[]string{"-k", "c/*"}, exitNoElection, "no election in the history matches -k or --preset: c/*", 0},
	} {
		r := w.run(append([]string{"history", "--history", file, "--type", "elected"}, tt.args...)...).must(t, tt.code)
		if n := max(0, strings.Count(r.out, "\n")-1); n != tt.n || !strings.Contains(r.out+r.errOut, tt.want) {
			t.Errorf("%v: %d events, want %d\n%s%s", tt.args, n, tt.n, r.out, r.errOut)
		}
	}
}

func TestHistoryUsageErrors(t *testing.T) {
	w := onMemory(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"history", "--history", "off"}, "this command reads the history"},
		{[]string{"list", "--history", "ftp://recorder"}, "must begin with https://"},
		{[]string{"list", "--history", ""}, "the value is empty"},
		{[]string{"list", "--keep", "-1h"}, "must be 0 or more"},
		{[]string{"list", "--keep", "xd"}, `invalid number of days "x"`},
		{[]string{"history", "--terms", "--stats"}, "--terms and --stats are mutually exclusive"},
		{[]string{"history", "--terms", "--type", "elected"}, "--type selects events"},
		{[]string{"history", "--stats", "--cause", "released"}, "--cause cannot be combined with --stats"},
		{[]string{"history", "--type", "lost"}, `--type "lost": must be one of elected, vacated`},
		{[]string{"history", "--cause", "fire"}, `--cause "fire": must be one of released`},
		{[]string{"history", "--since", "noon"}, `--since "noon": must be a duration before now`},
		{[]string{"history", "--since", "1h", "--until", "2h"}, "--since 1h is not before --until"},
		{[]string{"history", "-o", "xml"}, "must be table or json"},
	} {
		has(t, w.run(tt.args...).must(t, exitUsage).errOut, tt.want)
	}
	r := w.run("history", "--history", historyFile(t)).must(t, exitFailed)
	has(t, r.errOut, "electop: no history in ", "electop record write it")
}

func TestWatchContinuesWithoutAHistoryThatCannotBeUsed(t *testing.T) {
	w := led(t, 1)
	foreign := filepath.Join(t.TempDir(), "h.db")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := historyFile(t)
	watched(w, damaged, 4, failover(w))
	file, err := os.OpenFile(damaged, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte("damage"), 20_000), 8192)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, want string }{
		{foreign, "not an electop history file"},
		{damaged, "the file is damaged; move it away"},
		{filepath.Join(foreign, "h.db"), "not a directory"},
	} {
		events := w.follow("watch", "-o", "json", "--history", tt.file)
		events.until("elected")
		events.stop()
		got := events.next()
		for !strings.HasPrefix(got, "exit code") {
			got = events.next()
		}
		if !strings.HasPrefix(got, fmt.Sprintf("exit code 0: electop: history %q: ", tt.file)) || !strings.Contains(got, tt.want) || strings.Count(got, "electop:") != 1 {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestHistoryOffWritesNoFile(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	w := led(t, 1)
	for _, tt := range []struct {
		args []string
		want int // number of files
	}{{[]string{"--history", "off"}, 0}, {nil, 1}} {
		events := w.follow(append([]string{"watch"}, tt.args...)...)
		events.next()
		events.stop()
		files, err := filepath.Glob(filepath.Join(state, "electop", "*.db"))
		if err != nil || len(files) != tt.want {
			t.Errorf("%v: %v %v", tt.args, files, err)
		}
	}
}

func TestActionsAreRecordedAndExplainTheLoss(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	a, b := w.session(nil), w.session(nil)
	w.acquire("service/web/leader", a, "a")
	w.acquire("service/mail/leader", b, "b")
	events := w.follow("watch", "-o", "json", "--history", file)
	events.until("elected")
	events.until("elected")
	for _, args := range [][]string{{"release", "web"}, {"destroy", "mail"}} {
		if r := w.run(append(args, "--yes", "--history", file)...).must(t, exitOK); strings.Contains(r.errOut, "history") {
			t.Errorf("%v: %s", args, r.errOut)
		}
		for events.until("explained")["election"] != args[1] { // an election may be explained twice
		}
	}
	events.stop()
	f, err := sqlite.OpenFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	actions, err := f.Actions(t.Context(), history.Range{})
	if err != nil || len(actions) != 2 {
		t.Fatalf("%v %+v", err, actions)
	}
	for i, want := range []history.Action{
		{Kind: "release", Key: "service/web/leader", Session: a, Leader: "a"}, {Kind: "destroy", Key: "service/mail/leader", Session: b, Leader: "b"},
	} {
		got := actions[i]
		if got.Kind != want.Kind || got.Key != want.Key || got.Session != want.Session || got.Leader != want.Leader ||
			got.Result != history.ResultDone || got.By != userAtHost() || got.Term != 1 || got.Datacenter != "dc1" {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	r := w.run("history", "--terms", "--history", file).must(t, exitOK)
	has(t, r.out, "operator_release by "+userAtHost(), "operator_destroy by "+userAtHost())
}

// A gap follows the last event before it.
func TestHistoryPrintsGapsBetweenEvents(t *testing.T) {
	w := onMemory(t)
	file := historyFile(t)
	watched(w, file, 4, failover(w))
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// Move the first observation back by an hour and remove its end, as if its observer had been killed.
	_, err = db.ExecContext(t.Context(), `UPDATE events SET time = time - 3600000000000;
		UPDATE observations SET started = started - 3600000000000, ended = NULL, ending = NULL, seen = (SELECT max(time) FROM events)`)
	if err != nil {
		t.Fatal(err)
	}
	watched(w, file, 3, func() { w.client.KV().Delete("service/web/leader", nil) })
	r := w.run("history", "--since", "2h", "--history", file).must(t, exitOK)
	var types []string
	for line := range strings.Lines(r.out) {
		types = append(types, strings.Fields(line)[3])
	}
	// explained may precede elected
	if got := strings.Join(types, " "); !strings.HasPrefix(got, "DETAIL unobserved elected vacated e") || !strings.Contains(got, "ed unobserved vacated deleted") {
		t.Errorf("%s\n%s", got, r.out)
	}
}
