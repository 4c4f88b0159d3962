package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"electop/consulx"
	"electop/election"
	"electop/internal/history"
	"electop/internal/history/sqlite"
)

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
	return sqlite.NewFile(path, client.Cluster)
}

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
