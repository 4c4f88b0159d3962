package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
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

// errDeclined reports that the user did not confirm.
var errDeclined = errors.New("nothing was done")

// confirm requests one confirmation: yes or, if there are words, these words. The default answer is no.
func (d deps) confirm(ctx context.Context, question string, words ...string) error {
	hint, answers := "[y/N]", []string{"y", "yes"}
	if all := strings.Join(words, " "); all != "" {
		hint, answers = "Type "+clean(all)+" to confirm:", []string{strings.ToLower(all)}
	}
	fmt.Fprintf(d.stderr, "%s? %s ", question, hint)
	line := make(chan string, 1)
	go func() { // ends with the process, because a read from a terminal cannot be cancelled
		text, _ := bufio.NewReader(d.stdin).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-line:
		if slices.Contains(answers, text) {
			return nil
		}
	case <-ctx.Done():
	}
	return errDeclined
}
