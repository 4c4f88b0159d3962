package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"electop/election/sanitize"
	"electop/internal/crash"
)

// crashed reports a panic and ends the program. The terminal is already restored.
func (o *options) crashed(p crash.Panic) {
	text := fmt.Sprintf("electop: the dashboard crashed: panic: %v\n\n%s", p.Value, p.Stack)
	for line := range strings.SplitSeq(strings.ReplaceAll(o.redact(text), "\t", "    "), "\n") {
		fmt.Fprintln(o.stderr, sanitize.Text(line))
	}
	os.Exit(exitFailed)
}

// keepFatalErrors lets the Go runtime also append its fatal errors, such as a concurrent map write, to crash.log in the
// state folder, because the terminal is not restored. Without the file, they are only on the terminal.
func keepFatalErrors() {
	folder, err := stateFolder()
	if err != nil {
		return
	}
	_ = os.MkdirAll(folder, 0o700) // otherwise, OpenFile fails
	if f, err := os.OpenFile(filepath.Join(folder, "crash.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
		defer f.Close()
		_ = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
}
