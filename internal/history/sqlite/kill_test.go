package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"electop/election"
	"electop/election/tracker"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// These are the environment variables of the helper process: the file and the first index.
const (
	recordEnv = "ELECTOP_TEST_RECORD"
	startEnv  = "ELECTOP_TEST_START"
)

// killings returns the number of times that the recorder is killed.
func killings() int {
	if os.Getenv("ELECTOP_FAULTS") == "all" {
		return 100
	}
	return 10
}

// recordUntilKilled records 50 changes per second and prints the index of each stored event. It returns only after an
// error.
func recordUntilKilled(path, from string) int {
	i, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return 2
	}
	ps := election.Patterns{election.KeyPattern("service/web/leader")}
	tr := tracker.New(tracker.Options{Patterns: ps})
	if f, err := sqlite.OpenFile(context.Background(), path); err == nil {
		past, err := history.Recall(context.Background(), f, time.Now())
		if err = errors.Join(err, f.Close()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		tr.Observe(past)
	}
	marks := make(chan bool, 1)
	w, err := sqlite.OpenWriter(context.Background(), path, sqlite.WriterOptions{
		Delay: 10 * time.Millisecond, Lease: 200 * time.Millisecond,
		Mark: func() { marks <- true },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	done := make(chan error, 1)
	go func() { done <- w.Run(context.Background()) }()
	tick := time.NewTicker(20 * time.Millisecond)
	marks <- true
	var recorded []election.Event
	var printed uint64
	see := func(p election.Pair) {
		events := tr.Observe(election.KeysRead{At: time.Now(), Range: election.KeyRange(p.Key), Pairs: []election.Pair{p}})
		w.Record(events)
		recorded = append(recorded, slices.DeleteFunc(events, func(e election.Event) bool { return e.Initial })...)
		for stored := w.Status().Stored; printed < stored; printed++ {
			fmt.Println(recorded[printed].ModifyIndex, recorded[printed].Type) //nolint:forbidigo // the test reads it
		}
	}
	for ; ; i++ {
		p := election.Pair{Key: "service/web/leader", CreateIndex: 1, LockIndex: i, ModifyIndex: 2 * i, Session: "session-" + strconv.FormatUint(i, 10)}
		see(p)
		select {
		case <-marks:
			w.Mark(tr.Snapshot(time.Now()), ps)
		default:
		}
		p.Session, p.ModifyIndex = "", p.ModifyIndex+1
		see(p)
		select {
		case err := <-done:
			fmt.Fprintln(os.Stderr, err)
			return 1
		case <-tick.C:
		}
	}
}

func TestStoredEventsSurviveAKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	path, kills := newPath(t), killings()
	acknowledged := map[string]bool{}
	next := uint64(1)
	for range kills {
		next = killOnce(t, path, next, acknowledged) + 10 // terms that end while no recorder is running
	}
	seen := map[string]int{}
	for _, e := range stored(t, path) {
		seen[fmt.Sprint(e.ModifyIndex, " ", e.Type)]++
	}
	for what := range acknowledged {
		if seen[what] == 0 {
			t.Errorf("lost: %s", what)
		}
	}
	for what, n := range seen {
		if n > 1 {
			t.Errorf("%d times: %s", n, what)
		}
	}
	periods, err := open(t, path).Observations(t.Context(), history.Range{})
	if err != nil || len(periods) < 2 {
		t.Fatalf("error %v, %d periods of observation", err, len(periods))
	}
	for i := 1; i < len(periods); i++ {
		if a, b := periods[i-1], periods[i]; a.To.Before(a.From) || !b.From.After(a.To) {
			t.Errorf("the periods %+v and %+v have no gap between them", a, b)
		}
	}
	st, err := open(t, path).Stats(t.Context(), history.Filter{})
	if err != nil || st.LongestGap <= 0 || st.Total.Missed == 0 {
		t.Errorf("%v: %+v", err, st)
	}
	t.Logf("%d events acknowledged, %d stored", len(acknowledged), len(seen))
}

// killOnce runs a recorder until some events are acknowledged, and kills it. It returns the index of the latest term
// that may be recorded.
func killOnce(t *testing.T, path string, from uint64, acknowledged map[string]bool) uint64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recordEnv+"="+path, startEnv+"="+strconv.FormatUint(from, 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	latest, want := from, 5+int(from%40)
	for n := 0; lines.Scan(); n++ {
		acknowledged[lines.Text()] = true
		var modify uint64
		var kind string
		if _, err := fmt.Sscan(lines.Text(), &modify, &kind); err != nil {
			t.Fatal(lines.Text(), err)
		}
		latest = max(latest, modify/2)
		if n == want {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Success() {
		t.Fatal("the recorder ended early")
	}
	return latest + 1000
}
