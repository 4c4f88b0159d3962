package cli

import (
	"context"
	"log/slog"
	"os"

	"electop/election"
	"electop/election/sanitize"
)

// logger returns a logger that writes to --log-file, or discards everything if --log-file is not set. The returned
// function closes the file.
func (o *options) logger() (*slog.Logger, func(), error) {
	if o.logFile == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	var level slog.Level
	_ = level.UnmarshalText([]byte(o.logLevel)) // the flag accepts only levels
	f, err := os.OpenFile(o.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level})), func() { _ = f.Close() }, nil
}

// logged returns a function that logs a warning and passes it to warn.
func logged(warn func(line string), log *slog.Logger) func(line string) {
	return func(line string) {
		log.Warn(line)
		warn(line)
	}
}

func logEvents(log *slog.Logger, events []election.Event) {
	for _, e := range events {
		level := slog.LevelInfo
		if e.Type == election.ConnectionLost {
			level = slog.LevelWarn
		}
		if log.Enabled(context.Background(), level) {
			log.Log(context.Background(), level, string(e.Type), "election", sanitize.Line(e.Election, 100),
				"key", sanitize.Line(e.Key, 200), "what", e.Summary())
		}
	}
}
