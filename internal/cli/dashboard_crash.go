package cli

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"electop/consulx"
	"electop/election/sanitize"
	"electop/internal/logfile"
	"electop/internal/ttyguard"
)

// crashLength is the maximum length of a crash reason or path, in runes.
const crashLength = 200

// runGuarded opens the dashboard in a child process, so that the terminal is restored even after a crash. In the
// child process, and if no child process can be used, it opens the dashboard in this process.
func (d deps) runGuarded(o *options, open func() error) error {
	if d.guarded || !o.rereadable() {
		return open()
	}
	// The secrets are read before a crash, because the files may change. A goroutine reads them, so that the
	// dashboard starts without delay.
	redact := make(chan func(string) string, 1)
	go func() { redact <- o.redactor() }()
	end, err := ttyguard.Run(os.Stdin, os.Stdout)
	if err != nil {
		return open()
	}
	output := safeLines((<-redact)(string(end.Output)))
	if end.Crashed {
		return d.reportCrash(end, output, o.logFile)
	}
	fmt.Fprint(d.stderr, output) // errors, and actions whose result was not observed
	if end.Code == exitOK {
		return nil
	}
	return exitError(end.Code)
}

// rereadable reports whether all files with settings can be read twice: the child process reads them again. A pipe,
// such as <(…) in a shell, can be read only once.
func (o *options) rereadable() bool {
	c := &o.consul
	for _, path := range []string{
		o.config, cmp.Or(c.TokenFile, os.Getenv("CONSUL_HTTP_TOKEN_FILE")), cmp.Or(c.CAFile, os.Getenv("CONSUL_CACERT")),
		cmp.Or(c.ClientCert, os.Getenv("CONSUL_CLIENT_CERT")), cmp.Or(c.ClientKey, os.Getenv("CONSUL_CLIENT_KEY")),
	} {
		if info, err := os.Stat(path); err == nil && info.Mode().Type() == fs.ModeNamedPipe { //nolint:gosec // a path of the user
			return false
		}
	}
	return true
}

// redactor returns a function that removes the token and passwords from a string.
func (o *options) redactor() func(string) string {
	client, err := consulx.NewClient(o.consul)
	if err != nil {
		// The child process fails with the same error and reports it. If the child process crashes instead, the returned
		// function does not know the secrets, so it drops the whole output.
		return func(text string) string {
			if crashReason(text) != "" {
				return ""
			}
			return text
		}
	}
	return client.Redact
}

// reportCrash writes the stacks to a file and reports the crash in one line.
func (d deps) reportCrash(end ttyguard.End, output, logFile string) error {
	what, code := crashReason(output), exitFailed
	if end.Signal != 0 {
		what, code = "signal: "+end.Signal.String(), end.Code
	}
	text := "the dashboard crashed"
	if what != "" {
		text += ": " + sanitize.Line(what, crashLength)
	}
	if strings.TrimSpace(output) != "" {
		path, err := writeStacks(logFile, output)
		if err != nil {
			text += "; its stack traces cannot be written: " + consulx.Describe(err)
		} else {
			text += "; its stack traces are in " + sanitize.Line(path, crashLength)
		}
	}
	fmt.Fprintln(d.stderr, "electop: "+text)
	return exitError(code)
}

// crashReason returns the line in which the Go runtime reports why it ended the process.
func crashReason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIG") {
			return line
		}
	}
	return ""
}

// writeStacks appends a crash report to the log file. If there is no log file or the write fails, it uses crash.log. It
// returns the path.
func writeStacks(logFile, output string) (string, error) {
	text := fmt.Sprintf("time=%s level=ERROR msg=\"the dashboard crashed\" version=%s\n%s\n",
		time.Now().Format(time.RFC3339Nano), version(), strings.TrimRight(output, "\n"))
	if logFile != "" && logfile.Append(logFile, text) == nil {
		return logFile, nil
	}
	dir := stateDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "crash.log")
	return path, logfile.Append(path, text)
}

// stateDir returns the folder for files that are neither configuration nor cache.
func stateDir() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); !filepath.IsAbs(dir) && err == nil {
		dir = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(dir) {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "electop")
}

// safeLines makes each line safe to show. It keeps leading tabs, which indent a stack.
func safeLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		plain := strings.TrimLeft(line, "\t")
		b.WriteString(line[:len(line)-len(plain)])
		b.WriteString(sanitize.Text(plain))
		b.WriteByte('\n')
	}
	return b.String()
}
