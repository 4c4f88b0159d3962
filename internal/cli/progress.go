package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"electop/election"
)

// progressInterval is the minimum time between two updates of the progress.
const progressInterval = 100 * time.Millisecond

// heldKeys is the result of a search of the whole KV store.
type heldKeys struct {
	pairs      []election.Pair
	at         time.Time // when the search ended
	incomplete bool
}

// of returns the keys that one session holds.
func (h *heldKeys) of(session string) []election.Pair {
	if h == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(h.pairs), func(p election.Pair) bool { return !p.HeldBy(session) })
}

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
