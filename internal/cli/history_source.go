package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

// lazyHistory is a [history.Source] that opens its file when it is first read. Until
// the file exists, the history is empty.
type lazyHistory struct {
	path string
	// cluster returns the identity of the observed cluster, or "" if it is unknown. It may be nil.
	cluster func(context.Context) string
	mu      sync.Mutex
	file    *sqlite.File
}

// historySource returns the history for reading. It returns nil if the history is off or cannot be used.
func (o *options) historySource(client *consulx.Client) history.Source {
	if isURL(o.history) {
		if recorder, err := o.historyClient(); err == nil {
			return recorder
		}
		return nil
	}
	path, err := o.historyPath(client)
	if err != nil || path == "" {
		return nil
	}
	return &lazyHistory{path: path, cluster: client.Cluster}
}

// clusterTimeout bounds the read of the cluster's identity before the history is read.
const clusterTimeout = 500 * time.Millisecond

// recallTimeout bounds the read of the history when a command begins.
const recallTimeout = 2 * time.Second

// recall reads the recorded history of the elections. It warns if the read fails.
func recall(ctx context.Context, source history.Source, warn func(line string)) election.HistoryRead {
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	past, err := history.Recall(ctx, source, time.Now())
	if err != nil && !errors.Is(err, context.Canceled) {
		warn(historyError(err) + "; events before electop started are unknown")
	}
	return past
}

// recallFrom returns a function that reads the recorded history of the elections for an observer. It returns nil if
// source is nil, because then no history is used.
func recallFrom(source history.Source, log *slog.Logger) func(context.Context) election.HistoryRead {
	if source == nil {
		return nil
	}
	return func(ctx context.Context) election.HistoryRead {
		return recall(ctx, source, func(line string) { log.Warn(line) }) // the commands that show the history report errors
	}
}

// open returns the file, or nil if the file does not exist.
func (l *lazyHistory) open(ctx context.Context) (*sqlite.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.file, nil
	}
	file, err := sqlite.OpenFile(ctx, l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, sqlite.ErrEmpty):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if l.cluster != nil {
		stored, err := file.Cluster(ctx)
		asking, cancel := context.WithTimeout(ctx, clusterTimeout) // while Consul is unreachable, the history is shown
		defer cancel()
		if now := l.cluster(asking); err == nil && stored != "" && now != "" && stored != now {
			err = &sqlite.Error{Path: l.path, Err: sqlite.ErrCluster}
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	l.file = file
	return file, nil
}

// readHistory calls a method of the file, or returns the zero value if there is no file.
func readHistory[Q, T any](ctx context.Context, l *lazyHistory, read func(*sqlite.File, context.Context, Q) (T, error), q Q) (empty T, err error) {
	file, err := l.open(ctx)
	if file == nil {
		return empty, err
	}
	return read(file, ctx, q)
}

func (l *lazyHistory) Events(ctx context.Context, q history.EventQuery) (history.EventPage, error) {
	return readHistory(ctx, l, (*sqlite.File).Events, q)
}

func (l *lazyHistory) Terms(ctx context.Context, q history.TermQuery) (history.TermPage, error) {
	return readHistory(ctx, l, (*sqlite.File).Terms, q)
}

func (l *lazyHistory) Stats(ctx context.Context, f history.Filter) (history.Stats, error) {
	return readHistory(ctx, l, (*sqlite.File).Stats, f)
}

func (l *lazyHistory) State(ctx context.Context, q history.StateQuery) (history.State, error) {
	return readHistory(ctx, l, (*sqlite.File).State, q)
}

func (l *lazyHistory) Observations(ctx context.Context, r history.Range) ([]history.Observation, error) {
	return readHistory(ctx, l, (*sqlite.File).Observations, r)
}

func (l *lazyHistory) Actions(ctx context.Context, r history.Range) ([]history.Action, error) {
	return readHistory(ctx, l, (*sqlite.File).Actions, r)
}

// Elections returns the elections in the file, sorted by key.
func (l *lazyHistory) Elections(ctx context.Context) ([]history.Election, error) {
	file, err := l.open(ctx)
	if file == nil {
		return nil, err
	}
	return file.Elections(ctx)
}

// Close closes the file.
func (l *lazyHistory) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
