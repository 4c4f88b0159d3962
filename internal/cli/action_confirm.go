package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"electop/election"
)

// canAsk returns a usage error unless stdin and stderr are terminals. Results may be
// redirected: stdout need not be a terminal.
func (d deps) canAsk() error {
	stdin, isFile := d.stdin.(*os.File)
	switch {
	case !isFile && d.interactive:
		return nil
	case !isFile || !term.IsTerminal(stdin.Fd()):
		return usagef("stdin is not a terminal; use --yes to skip the confirmation")
	case !term.IsTerminal(os.Stderr.Fd()):
		return usagef("stderr is not a terminal and cannot show the plan; use --yes to skip the confirmation")
	}
	return nil
}

// confirm requests confirmation, unless --yes is set.
func (b *batch) confirm(ctx context.Context) error {
	if b.yes {
		return nil
	}
	return b.d.confirm(ctx, b.question())
}

// confirm requests one confirmation. The default answer is no.
func (d deps) confirm(ctx context.Context, question string) error {
	fmt.Fprintf(d.stderr, "%s? [y/N] ", question)
	switch strings.ToLower(strings.TrimSpace(readLine(ctx, d.stdin))) {
	case "y", "yes":
		return nil
	}
	return errDeclined
}

func (b *batch) question() string {
	pending, sessions := b.pending(), b.sessions()
	switch {
	case b.kind == election.ActionDestroy && len(sessions) == 1:
		return "Destroy session " + election.ShortID(sessions[0].Session)
	case b.kind == election.ActionDestroy:
		return fmt.Sprintf("Destroy %d sessions", len(sessions))
	case len(pending) == 1:
		return "Release " + pending[0].name()
	}
	return fmt.Sprintf("Release %d elections", len(pending))
}

// readLine reads one line, or returns "" when ctx ends. A read from a terminal cannot
// be cancelled: its goroutine ends with the process.
func readLine(ctx context.Context, from io.Reader) string {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(from).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		return text
	case <-ctx.Done():
		return ""
	}
}
