package cli

import (
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/election/tracker"
	"electop/internal/act"
	"electop/internal/crash"
	"electop/internal/feed"
	"electop/internal/history"
)

const (
	// After a leader was lost, electop polls the actions of the last minute for some seconds, because another process
	// may store its action late.
	actionsEvery  = 500 * time.Millisecond
	actionsFor    = 5 * time.Second
	actionsWithin = time.Minute
)

// observers observe the datacenters of a command. After a leader was lost, they search the history for actions of other
// processes, so that they can report who released the key or destroyed the session.
type observers struct {
	*options
	history history.Source // contains all datacenters; nil if no history is used
	all     []observer
	lost    chan struct{}
}

func newObservers(source history.Source, o *options) *observers {
	return &observers{options: o, history: source, lost: make(chan struct{}, 1)}
}

// add creates the observer of a datacenter. It passes events to o.OnEvents and to rec.
func (s *observers) add(l lookup, rec *historyRecorder, o feed.Options) observer {
	onEvents := o.OnEvents
	o.Patterns = l.patterns
	o.Logger, o.OnMark, o.ExplainWithin, o.RecallPatience = s.log, rec.marked, s.within(tracker.ExplainWithin), s.within(recallTimeout)
	o.OnEvents = func(events []election.Event) {
		for _, e := range events {
			level := slog.LevelInfo
			if e.Type == election.ConnectionLost {
				level = slog.LevelWarn
			}
			if s.log.Enabled(context.Background(), level) {
				s.log.Log(context.Background(), level, string(e.Type), "election", clean(e.Election), "key", clean(e.Key), "what", e.Summary())
			}
			if s.history != nil && e.Type == election.Explained &&
				(election.ActionRelease.Explains(e.Cause, e.Guess) || election.ActionDestroy.Explains(e.Cause, e.Guess)) { // perhaps an operator
				feed.Notify(s.lost)
			}
		}
		if onEvents != nil {
			onEvents(events) // before they are stored, because the user waits for them
		}
		rec.events(events)
	}
	if began := time.Now(); s.history != nil { // what another process stores later is newer than the first read
		o.Recall = func(ctx context.Context) election.HistoryRead {
			return s.recall(ctx, s.history, began, func(line string) { s.log.Warn(line) }) // the commands that show the history report errors
		}
	}
	observer := l.Observer(o)
	if rec != nil {
		rec.observer.Store(&observer)
	}
	s.all = append(s.all, observer)
	return observer
}

// startTime is the time after which the first reads of observers have ended.
const startTime = 2 * time.Second

// run observes until ctx ends. It notes the actions in the history that other processes stored within some seconds of a
// loss.
func (s *observers) run(ctx context.Context) {
	for _, after := range []time.Duration{startTime, 5 * startTime} { // the start, and the first checkpoint, leave much garbage
		defer time.AfterFunc(after, debug.FreeOSMemory).Stop()
	}
	var all sync.WaitGroup
	defer all.Wait()
	for _, o := range s.all {
		crash.Go(&all, func() { o.Run(ctx) })
	}
	var known []history.Action
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.lost:
		}
		for until := time.Now().Add(s.within(actionsFor)); time.Now().Before(until) && ctx.Err() == nil; {
			now := time.Now()
			found, err := s.history.Actions(ctx, history.Range{Since: now.Add(-actionsWithin)})
			if err == nil { // the commands that show the history report errors
				for _, a := range found {
					for _, o := range s.all {
						if a.Result == history.ResultDone && !slices.Contains(known, a) && (a.Datacenter == "" || o.Snapshot().Datacenter == a.Datacenter) {
							o.Note(election.OperatorAction{
								At: now, Kind: a.Kind, Key: a.Key, Session: a.Session, CreateIndex: a.CreateIndex, LockIndex: a.Term,
								Stage: election.ActionDone, By: a.By, Detail: a.Detail,
							})
						}
					}
				}
				known = found
			}
			consulx.Sleep(ctx, actionsEvery)
		}
	}
}

// connectTimeout bounds the wait for the first complete snapshot. If it expires, the command fails, because the
// address is probably wrong. Later failures are reported as events.
const connectTimeout = 10 * time.Second

// awaitSnapshot waits for the first complete snapshot of an observer, so that the command reports a wrong address or
// token immediately.
func (l lookup) awaitSnapshot(ctx context.Context, o observer) (first *election.Snapshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for err == nil {
		act.AwaitState(ctx, o.Snapshots(), func(now *election.Snapshot) bool {
			first = now
			return now.Loaded || now.Connection.State == election.Lost || len(now.Connection.Stale) > 0
		})
		if first != nil && first.Loaded {
			return first, nil
		}
		// A snapshot has only the text of an error; this read returns the error itself, which determines the exit code.
		_, err = l.Once(ctx, o.Patterns(), election.HistoryRead{})
	}
	return nil, err
}
