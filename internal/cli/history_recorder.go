package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/internal/history"
	"electop/internal/history/sqlite"
	"electop/internal/history/web"
)

const (
	// historyMaxBytes is the size of the file above which its oldest events are deleted.
	historyMaxBytes = 1 << 30
	// sendTimeout bounds the request that sends an action to a recorder.
	sendTimeout = 4 * time.Second
	// closeTimeout bounds how long close waits for a disk that does not respond.
	closeTimeout = 10 * time.Second
)

// historyRecorder stores events and operators' actions in a file, or sends the actions to the recorder that stores the
// history. Except close and finish, its methods do not block. A nil historyRecorder stores nothing.
type historyRecorder struct {
	remote *web.Client    // nil if this process stores the history
	sent   sync.WaitGroup // the requests to remote
	writer *sqlite.Writer // not used if remote is set
	by     string
	warn   func(line string)
	open   context.Context // ends with close, not with the command: the last events are stored after the observer has ended
	cancel context.CancelFunc
	done   chan struct{}
	limit  time.Duration // closeTimeout, unless a test extends it
	// optional is set if the command continues when the file cannot be used.
	optional bool
	// err and failed may be read after done is closed. failed is set if the writer ended with an error before close
	// was called.
	err    error
	failed bool

	began    bool                     // an event other than a lost connection was recorded
	observer atomic.Pointer[observer] // nil if the command does not observe
}

// record starts a recorder. It returns nil if the history is off, or after an error that it passed to warn.
// warn receives one line without a line break when recording fails or works again; any
// goroutine may call it.
func (l lookup) record(warn func(line string)) *historyRecorder {
	path, err := l.historyPath(l.store)
	r := l.newHistoryRecorder(path, true, warn)
	if err == nil && isURL(l.history) {
		r.remote, err = l.historyClient(l)
	}
	switch {
	case err != nil:
		warn(historyError(err) + withoutHistory)
		return nil
	case path != "":
		r.start()
	case r.remote == nil:
		return nil
	}
	return r
}

const withoutHistory = "; continuing without history"

// newHistoryRecorder returns a recorder that does not write yet.
func (l lookup) newHistoryRecorder(path string, optional bool, warn func(line string)) *historyRecorder {
	open, cancel := context.WithCancel(context.Background())
	r := &historyRecorder{optional: optional, by: userAtHost(), warn: warn, open: open, cancel: cancel, limit: l.within(closeTimeout), done: make(chan struct{})}
	var shown sqlite.Status
	r.writer = sqlite.NewWriter(path, sqlite.WriterOptions{
		Observer: r.by, Recorder: !optional, Keep: l.keep.age, MaxBytes: historyMaxBytes, Cluster: l.identity(l.store), Finish: r.limit / 2,
		Mark: func() {
			if o := r.observer.Load(); o != nil {
				(*o).Mark()
			}
		},
		OnChange: func(st sqlite.Status) {
			switch {
			case st.Err != nil && shown.Err == nil:
				r.warn(historyError(st.Err) + "; retrying while events are queued in memory")
			case st.Err == nil && shown.Err != nil:
				r.warn("history: storing events again")
			case st.Other != "" && st.Other != shown.Other && !optional: // the dashboard and watch only need the history
				r.warn("history: " + clean(st.Other) + " stores the events; this process takes over when that one ends, or within 12s if that one is no recorder")
			}
			shown = st
		},
	})
	return r
}

// marked stores a complete snapshot of the observer.
func (r *historyRecorder) marked(s *election.Snapshot, ps election.Patterns) {
	if r != nil && r.remote == nil {
		r.writer.Mark(s, ps)
	}
}

// start runs the writer until close. If the file cannot be used, later events are
// dropped.
func (r *historyRecorder) start() {
	go func() {
		defer close(r.done)
		r.err = r.writer.Run(r.open)
		if r.failed = r.err != nil && r.open.Err() == nil; r.failed && r.optional {
			r.warn(historyError(r.err) + withoutHistory)
		}
	}()
}

// wait waits until the writer has failed or ctx ends.
func (r *historyRecorder) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.done:
		return r.err
	}
}

// stalledAfter is the time after which a disk counts as stalled if the queue has made no progress.
const stalledAfter = 30 * time.Second

// otherFor is how long the dashboard shows that another process stores the events.
const otherFor = 10 * time.Second

// problem returns why this process does not store events. Otherwise it returns "". Unlike a
// warning, the line does not name the file, so that it fits on a narrow screen.
func (r *historyRecorder) problem() string {
	select {
	case <-r.done:
		if r.failed {
			return "continuing without history: " + reasonOf(r.err)
		}
		return ""
	default:
		return writeProblem(r.writer.Status())
	}
}

// shown returns the line about the history that the dashboard shows: the problem, or for some time that another process
// stores the events.
func (r *historyRecorder) shown() string {
	if st := r.writer.Status(); r.problem() == "" && st.Other != "" && st.Other != r.by && time.Since(st.OtherSince) < otherFor {
		return "the history is that of another electop, of " + clean(st.Other)
	}
	return r.problem()
}

func writeProblem(st sqlite.Status) string {
	switch {
	case st.Err != nil:
		return "events are not stored: " + reasonOf(st.Err) + "; retrying"
	case st.Waiting > stalledAfter:
		return "events are not stored: the disk does not respond"
	}
	return ""
}

// reasonOf formats an error of the history as one line without the file's name, which /healthz must not show.
func reasonOf(err error) string {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "unknown error"
	}
	return sanitize.Line(e.Reason(), 400)
}

// historyError formats an error of the history as one line.
func historyError(err error) string { return sanitize.Line(err.Error(), 400) }

// userAtHost returns the name of the operator for the history, in the form user@host.
func userAtHost() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname() // "" after an error
	return name + "@" + cmp.Or(host, "unknown")
}

// events stores events.
func (r *historyRecorder) events(events []election.Event) {
	if r == nil || r.remote != nil {
		return
	}
	for len(events) > 0 && !r.began {
		// Drop events before the first connection, so that a wrong address does not create a file, and events before the
		// name of the datacenter was read: the first mark contains their result.
		if r.began = events[0].Type != election.ConnectionLost && events[0].Datacenter != ""; !r.began {
			events = events[1:]
		}
	}
	if len(events) > 0 {
		r.writer.Record(events)
	}
}

// action stores an action that was sent to Consul, with its result.
func (r *historyRecorder) action(o act.Outcome) {
	if r == nil {
		return
	}
	t := o.Target
	if o.Action == election.ActionDestroy { // it ends every hold of the session
		t.Key, t.CreateIndex, t.Term = "", 0, 0
	}
	a := history.Action{
		Time: time.Now(), By: r.by, Kind: o.Action, Datacenter: t.Datacenter, Key: t.Key, Session: t.Session,
		CreateIndex: t.CreateIndex, Term: t.Term, Leader: t.Leader, Node: t.Node, Result: history.ResultFailed, Detail: o.Note,
	}
	switch {
	case o.Kind.Applied():
		a.Result = history.ResultDone
	case o.Kind == act.OutcomeUnknown:
		a.Result, a.Detail = history.ResultUnconfirmed, o.Reason
	default:
		a.Detail = sanitize.Line(fmt.Sprintf("%s: %s", o.Kind, o.Reason), 400)
	}
	if r.remote == nil {
		r.writer.RecordAction(a)
		return
	}
	r.sent.Go(func() {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
			err := r.remote.Record(ctx, a)
			cancel()
			if err == nil {
				return
			}
			// After any other error, the recorder may have stored the action.
			if !strings.HasSuffix(err.Error(), syscall.ECONNREFUSED.Error()) || r.open.Err() != nil {
				r.warn(fmt.Sprintf("the %s of %s may be missing from the history: %s", a.Kind, clean(cmp.Or(a.Key, a.Session)), historyError(err)))
				return
			}
			consulx.Sleep(r.open, sendTimeout)
		}
	})
}

// finish closes the recorder and warns if events were not stored.
func (r *historyRecorder) finish() {
	if r == nil {
		return
	}
	if err := r.close(); err != nil {
		r.warn(historyError(err))
	}
}

// close stores the queued events. It returns an error if events were not stored, unless an optional recorder has
// already reported the error as a warning.
func (r *historyRecorder) close() error {
	r.cancel()
	if r.remote != nil {
		r.sent.Wait()
		return r.remote.Close()
	}
	select {
	case <-r.done:
	case <-time.After(r.limit):
		return errors.New("history: the disk does not respond; the latest events may be missing")
	}
	switch n := r.writer.Status().Dropped; {
	case r.failed && r.optional:
		return nil
	case r.err == nil && n > 0:
		return fmt.Errorf("history: %s not stored: the disk was too slow", election.Plural(n, "event"))
	}
	return r.err
}
