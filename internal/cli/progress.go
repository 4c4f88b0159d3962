package cli

import (
	"fmt"
	"io"
	"time"

	"electop/election"
)

// progressInterval is the minimum time between two updates of the progress.
const progressInterval = 100 * time.Millisecond

// progress updates one line of a terminal. If w is not a terminal, it writes only the last count.
type progress struct {
	w        io.Writer
	terminal bool
	where    string // prefix of each line, printed after the indentation
	written  time.Time
}

func (p *progress) update(done, total int) {
	switch {
	case total == 0:
	case done == total:
		erase := map[bool]string{true: "\x1b[K"}[p.terminal]
		fmt.Fprintf(p.w, "%s  %ssearched %d of %s\n", erase, p.where, total, election.Plural(uint64(total), "key")) //nolint:gosec // not negative
	case p.terminal && time.Since(p.written) >= progressInterval:
		p.written = time.Now()
		fmt.Fprintf(p.w, "  %ssearched %d of %d keys (ctrl-c stops)\r", p.where, done, total)
	}
}
