package cli

import (
	"log/slog"
	"os"
)

// openLog opens --log-file. Without the flag, the log is discarded.
func (o *options) openLog() error {
	o.log = slog.New(slog.DiscardHandler)
	if o.logFile == "" {
		return nil
	}
	f, err := os.OpenFile(o.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // the end of the process closes it
	var level slog.Level
	_ = level.UnmarshalText([]byte(o.logLevel)) // the flag accepts only levels
	o.log = slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level}))
	return err
}

// logged returns a function that logs a warning and passes it to warn.
func (o *options) logged(warn func(line string)) func(line string) {
	return func(line string) {
		o.log.Warn(line)
		warn(line)
	}
}
