package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"electop/consulx"
	"electop/election"
)

// progressEvery is how often progress is told.
const progressEvery = 100 * time.Millisecond

// holdings is what a search of the whole KV store found.
type holdings struct {
	pairs      []election.Pair
	incomplete bool
}

// searchStore searches the whole KV store for the keys of a session. Stopping it stops
// the command: what is not known must not be confirmed.
func (a *action) searchStore(ctx context.Context, client *consulx.Client, session string) (*holdings, error) {
	p := &progress{w: a.d.stderr, live: a.d.interactive}
	pairs, err := consulx.Holdings(ctx, client, []string{session}, p.tell)
	p.end()
	if errors.Is(err, consulx.ErrIncomplete) {
		return &holdings{pairs: pairs, incomplete: true}, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the search was stopped: %w", errDeclined)
	}
	if err != nil {
		return nil, err
	}
	return &holdings{pairs: pairs}, nil
}

// progress counts on one line of a terminal; elsewhere only the last count is
// told.
type progress struct {
	w           io.Writer
	live        bool
	told        time.Time
	done, total int
}

func (p *progress) tell(done, total int) {
	p.done, p.total = done, total
	if p.live && time.Since(p.told) >= progressEvery {
		p.told = time.Now()
		fmt.Fprintf(p.w, "\r  searched %d of %d keys (ctrl-c stops)", done, total)
	}
}

func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "  searched %d of %s\n", p.done, election.Plural(uint64(p.total), "key")) //nolint:gosec // not negative
}
