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
	w           io.Writer
	terminal    bool
	where       string // prefix of each line, printed after the indentation
	written     time.Time
	done, total int
}

func (p *progress) update(done, total int) {
	p.done, p.total = done, total
	if p.terminal && time.Since(p.written) >= progressInterval {
		p.written = time.Now()
		fmt.Fprintf(p.w, "\r  %ssearched %d of %d keys (ctrl-c stops)", p.where, done, total)
	}
}

func (p *progress) end() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "  %ssearched %d of %s\n", p.where, p.done, election.Plural(uint64(p.total), "key")) //nolint:gosec // not negative
}
