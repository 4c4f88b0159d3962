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

// crashLength is how much of a crash's reason is shown, in runes.
const crashLength = 200

// guard opens the dashboard in a child process, so that the terminal is
// restored whatever ends it. In the child itself, and where no child can be
// started, it opens the dashboard here.
func (d deps) guard(o *options, open func() error) error {
	if d.guarded || !o.readableTwice() {
		return open()
	}
	// The secrets are read beside the start of the child, so that the first board
	// is not later, and not after a crash, when a file may hold other ones.
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
	fmt.Fprint(d.stderr, output) // errors, and actions whose end was not observed
	if end.Code == exitDone {
		return nil
	}
	return exitError(end.Code)
}

// readableTwice reports that no setting comes from a pipe, such as the shell's
// <(…): the child reads all of them again.
func (o *options) readableTwice() bool {
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

// redactor gives a function that replaces the token and passwords in a text.
func (o *options) redactor() func(string) string {
	client, err := o.client()
	if err != nil {
		// The child has failed alike and says why. Should it crash nevertheless, the
		// secrets are not known.
		return func(text string) string {
			if crashReason(text) != "" {
				return ""
			}
			return text
		}
	}
	return client.Redact
}

// reportCrash keeps the stacks in a file and says in one line what happened.
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
		path, err := keepStacks(logFile, output)
		if err != nil {
			text += "; its stacks cannot be written: " + consulx.Describe(err)
		} else {
			text += "; its stacks are in " + sanitize.Line(path, crashLength)
		}
	}
	fmt.Fprintln(d.stderr, "electop: "+text)
	return exitError(code)
}

// crashReason is the line that says why the Go runtime ended a process.
func crashReason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIG") {
			return line
		}
	}
	return ""
}

// keepStacks appends a crash report to the log file, or to a file of its own when
// there is no log or it cannot be written, and gives the file's path.
func keepStacks(logFile, output string) (string, error) {
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

// stateDir is where electop keeps files that are neither settings nor a cache.
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

// safeLines makes each line safe to show. Tabs at the beginning of a line are
// kept: they indent a stack.
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
