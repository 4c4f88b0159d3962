package cli

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
	"electop/internal/history/sqlite"
)

func TestWhyEventsAreNotStored(t *testing.T) {
	for name, tt := range map[string]struct {
		status sqlite.Status
		want   string
	}{
		"no error":       {sqlite.Status{Queued: 5, Waiting: time.Second}, ""},
		"a full disk":    {sqlite.Status{Err: &sqlite.Error{Path: "/secret", Err: errors.New("the disk\nis full")}}, "events are not stored: the disk is full; retrying"},
		"other error":    {sqlite.Status{Err: errors.New("/secret")}, "events are not stored: unknown error; retrying"},
		"a stalled disk": {sqlite.Status{Queued: 7, Waiting: time.Minute}, "events are not stored: the disk does not respond"},
	} {
		if got := writeProblem(tt.status); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestWhyElectionsAreNotObserved(t *testing.T) {
	live := election.Connection{State: election.Live}
	for want, s := range map[string]*election.Snapshot{
		"<nil>":                                {Connection: live, Loaded: true},
		"the elections have not been read yet": {Connection: live},
		"the connection to Consul has been lost since 2026-11-20T03:00:00.000Z: refused": {
			Connection: election.Connection{State: election.Lost, Since: time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC), Error: "refused"}, Loaded: true,
		},
		"the data of 1 election is stale: some queries fail": {
			Connection: election.Connection{State: election.Live, Stale: []election.LinkLost{{Part: election.Part{Kind: election.PartKeys}}}}, Loaded: true,
			Elections: []*election.Election{{Name: "web", Pair: election.Pair{Key: "service/web/leader"}}},
		},
	} {
		if got := fmt.Sprint(unobserved(s)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTheLineAboutTheHistoryIsSentWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		lines := make(chan string)
		answers := []string{"", "", "full", "full", "stalled", "", ""}
		go func() {
			watchHistory(ctx, func(context.Context) string {
				line := answers[0]
				answers = answers[min(1, len(answers)-1):]
				return line
			}, lines)
		}()
		for _, want := range []string{"full", "stalled", ""} {
			if got := <-lines; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	})
}

// lockHistory keeps the file locked, so that writes fail as on a full disk, until the
// function that it returns is called.
func lockHistory(t *testing.T, file string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	must(t, err)
	run := func(statement string) {
		if _, err := conn.ExecContext(context.Background(), statement); err != nil {
			t.Error(statement, err)
		}
	}
	run("PRAGMA busy_timeout = 60000")
	run("BEGIN IMMEDIATE")
	return func() {
		run("ROLLBACK")
		conn.Close()
	}
}

const locked = "another process keeps the file locked; retrying while events are queued in memory"

// A write error is reported when it happens: on standard error, in the log, by the health
// check and as a metric.
func TestRecordReportsAHistoryThatFails(t *testing.T) {
	t.Parallel()
	slow(t)
	w := led(t, 1)
	log := filepath.Join(t.TempDir(), "log")
	r := recordOn(w, "--metrics", "ADDRESS", "--log-file", log)
	healthy := func() bool { code, _ := r.get("/healthz"); return code == 200 }
	metric := func(want string) bool {
		_, text := r.get("/metrics")
		return strings.Contains(text, "electop_history_writable "+want)
	}
	logged := func(want string) bool { text, _ := os.ReadFile(log); return strings.Contains(string(text), want) }
	eventually(t, "healthy recorder", healthy)
	unlock := lockHistory(t, r.file)
	eventually(t, "warning in the log", func() bool { return logged(locked) })
	if healthy() || !metric("0") {
		t.Error("/healthz or /metrics does not report the write error")
	}
	unlock()
	eventually(t, "end of the failure", func() bool { return healthy() && metric("1") && logged("storing events again") })
	ended := r.stop().errOut
	if strings.Count(ended, locked) != 1 || strings.Count(ended, "storing events again") != 1 {
		t.Errorf("%s", ended)
	}
}

func TestRecordEndsWhenItsFileIsReplaced(t *testing.T) {
	t.Parallel()
	slow(t)
	w := led(t, 1)
	file := historyFile(t)
	r := w.background("record", "--history", file)
	eventually(t, "stored event", func() bool { return strings.Contains(w.run("history", "--terms", "--history", file).out, "web") })
	must(t, os.WriteFile(file+".new", []byte(strings.Repeat("not a database ", 100)), 0o600))
	must(t, os.Rename(file+".new", file))
	r.wait().must(exitFailed).hasErr("electop: history \"" + file + "\": " + sqlite.ErrMoved.Error() + "\n")
}

// A recorder that does not respond delays the end of a command once, not once for each action, and a line names each.
func TestActionsForASilentRecorder(t *testing.T) {
	t.Parallel()
	slow(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	var mu sync.Mutex
	var lines []string
	client, err := consulx.NewClient(consulx.Config{Address: "127.0.0.1:1"})
	must(t, err)
	r := lookup{options: &options{history: "http://" + silent.Addr().String()}, store: consul{client}}.record(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	})
	began := time.Now()
	const actions = 30
	for range actions {
		r.action(act.Outcome{Action: election.ActionRelease, Target: election.Target{Key: "service/web/leader"}})
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
	if len(lines) != actions || !strings.Contains(lines[0], "the release of service/web/leader") || !strings.Contains(lines[0], silent.Addr().String()) || time.Since(began) > actions*sendTimeout/2 {
		t.Errorf("%s: %q", time.Since(began), lines)
	}
}
