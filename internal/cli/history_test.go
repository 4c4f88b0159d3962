package cli

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/consultest"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// historyFile returns the path of a history that does not exist yet.
func historyFile(t *testing.T) string { return filepath.Join(t.TempDir(), "state", "h.db") }

// watched runs watch while change acts, and returns the first n lines that it printed.
func watched(w *testConsul, file string, n int, change func()) (printed []string) {
	w.T.Helper()
	events := w.background("watch", "-o", "json", "--history", file)
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
	a, b := w.session(), w.session()
	w.acquire("service/web/leader", a, "a")
	return func() {
		w.Release("service/web/leader", a)
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
	r := w.run("history", "-o", "json", "--history", file).must(exitOK)
	more := regexp.MustCompile(`,"(alive_until|outage_m\w+)":("[^"]*"|\d+)`) // known later, from the cause of the loss
	got := strings.Split(strings.TrimSuffix(more.ReplaceAllString(r.out, ""), "\n"), "\n")
	printed = strings.Split(more.ReplaceAllString(strings.Join(printed, "\n"), ""), "\n")
	printed = slices.DeleteFunc(printed, func(line string) bool { return strings.Contains(line, `"initial":true`) }) // terms contain the initial state
	slices.Sort(got)                                                                                                 // explained may precede elected
	slices.Sort(printed)
	if !slices.Equal(got, printed) {
		t.Errorf("%s\nwatch printed\n%s", strings.Join(got, "\n"), strings.Join(printed, "\n"))
	}
	w.run("history", "--terms", "--history", file).must(exitOK).has("ELECTION  LEADER  NODE", "  before 20", "  ≥", "  released  ")
	w.run("history", "--stats", "--history", file).must(exitOK).has("released 1", " of 1d00h; longest gap between two observations 0s.")
}

// A result has several pages.
func TestHistoryReadsAllPages(t *testing.T) {
	source, terms := &longHistory{}, 2*historyPage+1
	c := &historyCommand{Source: source, options: &options{deps: deps{stdout: &source.out}, output: "json"}}
	source.n = terms
	must(t, c.writeTerms(t.Context()))
	if lines := strings.Split(source.out.String(), "\n"); len(lines) != terms+1 || !strings.Contains(lines[0], `"term":0,`) || !strings.Contains(lines[terms-1], fmt.Sprintf(`"term":%d,`, terms-1)) {
		t.Errorf("%d lines", len(lines)-1)
	}
}

// longHistory is a history of n terms.
type longHistory struct {
	history.Source
	n   int
	out strings.Builder
}

func (p *longHistory) Terms(_ context.Context, q history.TermQuery) (page history.TermPage, err error) {
	from, _ := strconv.Atoi(strings.TrimSuffix(string(q.Page[1:]), ".0"))
	for i := from; i < min(p.n, from+q.Limit); i++ {
		page.Items = append(page.Items, history.Term{Term: election.Term{Number: uint64(i)}})
	}
	page.Next, page.More = history.Cursor(fmt.Sprint("n", from+q.Limit)), from+q.Limit < p.n
	return page, nil
}

func TestWatchContinuesWithoutAHistoryThatCannotBeUsed(t *testing.T) {
	w := led(t, 1)
	foreign := filepath.Join(t.TempDir(), "h.db")
	must(t, os.WriteFile(foreign, []byte(strings.Repeat("not a database ", 100)), 0o600))
	damaged := historyFile(t)
	watched(w, damaged, 4, failover(w))
	file, err := os.OpenFile(damaged, os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte("damage"), 20_000), 8192)
	}
	must(t, errors.Join(err, file.Close()))
	for _, tt := range []struct{ file, want string }{
		{foreign, "not an electop history file"},
		{damaged, "the file is damaged; move it away"},
		{filepath.Join(foreign, "h.db"), "not a directory"},
	} {
		events := w.background("watch", "-o", "json", "--history", tt.file)
		events.until("elected")
		got := events.stop().must(exitOK).errOut
		if !strings.HasPrefix(got, fmt.Sprintf("electop: history %q: ", tt.file)) || !strings.Contains(got, tt.want) || strings.Count(got, "electop:") != 1 {
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
		events := w.background(append([]string{"watch"}, tt.args...)...)
		events.next()
		events.stop()
		files, err := filepath.Glob(filepath.Join(state, "electop", "*.db"))
		if err != nil || len(files) != tt.want {
			t.Errorf("%v: %v %v", tt.args, files, err)
		}
	}
}

// identified returns an agent of a cluster with this identity.
func (w *testConsul) identified(trustDomain string) *testConsul {
	return newTestConsul(w.T, consultest.ReverseProxy(w.T, w.Addr, func(w http.ResponseWriter, r *http.Request, forward http.Handler) {
		if r.URL.Path == "/v1/connect/ca/roots" {
			fmt.Fprintf(w, `{"TrustDomain":%q}`, trustDomain)
			return
		}
		forward.ServeHTTP(w, r)
	}))
}

// Without --history, all agents of a cluster use one file.
func TestAgentsOfAClusterShareAHistory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	w := led(t, 1)
	one, two, other := w.identified("a"), w.identified("a"), w.identified("b")
	events := one.background("watch")
	events.next()
	events.stop()
	two.run("list").must(exitOK)
	two.run("history", "--terms").must(exitOK).has("leader-0")
	other.run("history").must(exitFailed).hasErr("no history in ")
	r := recordOn(one, "--metrics", "ADDRESS")
	eventually(t, "an observation", func() bool { _, text := r.get("/v1/observations"); return strings.Contains(text, "service/") })
	for agent, refused := range map[*testConsul]bool{two: false, other: true} {
		got := agent.run("list", "--history", r.url).must(exitOK).errOut
		if strings.Contains(got, "belongs to another cluster") != refused {
			t.Errorf("refused: %v, %q", refused, got)
		}
		got = agent.run("release", "--yes", "--node", "any", "--history", r.url).errOut
		if strings.Contains(got, "select the keys with -k") != refused {
			t.Errorf("refused: %v, %q", refused, got)
		}
	}
}

// noon is a time of a recorded story.
func noon(clock string) time.Time {
	at, err := time.ParseInLocation(time.DateTime, "2026-11-20 "+clock, time.Local)
	if err != nil {
		panic(err)
	}
	return at
}

// killed writes a history: web-1 led from 01:00 until after 01:44:36, when its observer was killed. At 01:45:53, another
// observer found the leader web-2, and observed until 02:00.
func killed(t *testing.T, actions ...history.Action) (file string) {
	t.Helper()
	file = historyFile(t)
	ps := consultest.Patterns(t)
	read := func(at time.Time, session string, lock uint64) election.KeysRead {
		p := election.Pair{Key: "service/web/leader", Value: []byte(session), Session: session, CreateIndex: 7, LockIndex: lock, ModifyIndex: 10 * lock}
		return election.KeysRead{At: at, Range: election.PrefixRange("service/"), Pairs: election.Pairs(p)}
	}
	for _, run := range []struct {
		from, to string
		reads    []election.KeysRead
	}{
		{"01:00:00", "01:44:36", []election.KeysRead{read(noon("01:00:00"), "", 0), read(noon("01:10:00"), "web-1", 1)}},
		{"01:45:53", "02:00:00", []election.KeysRead{read(noon("01:45:53"), "web-2", 2)}},
	} {
		w := sqlite.NewWriter(file, sqlite.WriterOptions{Observer: "ana@bastion", Finish: time.Hour})
		tr := tracker.New(tracker.Options{Patterns: ps})
		observe := func(o election.Observation) { w.Record(tr.Observe(o)) }
		if run.from != "01:00:00" {
			source := sqlite.NewFile(file)
			past, err := history.Recall(t.Context(), source, noon(run.from))
			must(t, errors.Join(err, source.Close()))
			observe(past)
		}
		observe(election.DatacenterRead{At: noon(run.from), Datacenter: "dc1"})
		observe(election.SessionsRead{At: noon(run.from), Sessions: []*election.Session{{ID: "web-1", Name: "web-1", Node: "n", TTL: 10 * time.Second}, {ID: "web-2", Name: "web-2", Node: "n"}}})
		for i, r := range run.reads {
			observe(r)
			if i == 0 {
				w.Mark(tr.Snapshot(r.At), ps)
			}
		}
		observe(election.Clock{At: noon(run.to)})
		for _, a := range actions {
			w.RecordAction(a)
		}
		actions = nil
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		db, dbErr := sql.Open("sqlite", file)
		err := errors.Join(w.Run(ctx), dbErr)
		if err == nil { // the writer uses the real time
			_, err = db.ExecContext(t.Context(), "UPDATE observations SET seen = ?1, ended = ?1 WHERE started = ?2", noon(run.to).UnixNano(), noon(run.from).UnixNano())
		}
		must(t, errors.Join(err, db.Close()))
	}
	return file
}

// A datacenter that is not observed has gaps while another one is observed.
func TestHistoryTellsTheGapsOfADatacenter(t *testing.T) {
	file, w := killed(t), newTestConsul(t, "127.0.0.1:1")
	writer := sqlite.NewWriter(file, sqlite.WriterOptions{Finish: time.Hour})
	writer.Mark(&election.Snapshot{At: noon("01:00:00"), Datacenter: "dc2", Loaded: true}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must(t, writer.Run(ctx))
	for _, tt := range []struct{ args, want string }{
		{"", "no observer was connected for 1m17s, until 2026-11-20 01:45:53"}, {"web", "no observer was connected for 10m00s"},
		{"--stats", "Observed for 58m43s of 1h10m; longest gap between two observations 1m17s."},
	} {
		w.run(append([]string{"history", "--history", file, "--datacenter", "dc1", "--since", noon("01:00:00").Format(time.RFC3339), "--until",
			noon("02:10:00").Format(time.RFC3339)}, strings.Fields(tt.args)...)...).must(exitOK).has(tt.want)
	}
}

// Every view tells between which times a failover without an observer happened, and none invents what happened.
func TestAFailoverWithoutAnObserver(t *testing.T) {
	file, w := killed(t), newTestConsul(t, "127.0.0.1:1")
	const between = "between 01:44:36 and 01:45:53"
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"history", []string{"01:10:00.000  web               elected       web-1, term 1, n", "2026-11-20 01:44:36.000  -                 unobserved    no observer was connected for 1m17s",
			"vacated       web-1, term 1 · " + between + " · led for at least 34m36s", "elected       web-2, term 2, n · " + between}},
		{"history -o json", []string{`"type":"vacated"`, `"gap":true`, `"seen_until":"` + election.FormatTime(noon("01:44:36")) + `"`}},
		{"history --terms", []string{"  between 2026-11-20 01:44:36 and 01:45:53  ≥34m36s  ", "  web-2   n     2     between 2026-11-20 01:44:36 and 01:45:53  -  "}},
		{"history --terms -o json", []string{`"seen_until":"`, `"not_before":"`, `"alive_until":"` + noon("01:44:15").UTC().Format("2006-01-02T15:04:05")}},
		// 10 of 60 minutes were vacant, 77 s are unknown, and web-1 may have died 20.5 s before.
		{"history --stats", []string{"80.625% to 83.333%", " 0+1 ", "Observed for 58m43s of 1h00m; longest gap between two observations 1m17s."}},
		{"history --stats -o json", []string{`"availability_min":0.806`, `"availability_max":0.83`, `"vacancies":0`, `"vacancies_unmeasured":1`}},
	} {
		args := append(strings.Fields(tt.args), "--since", noon("01:00:00").Format(time.RFC3339), "--until", noon("02:00:00").Format(time.RFC3339), "--history", file)
		w.run(args...).must(exitOK).has(tt.want...)
	}
}
