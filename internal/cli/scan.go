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

// progressEvery is how often progress is written.
const progressEvery = 100 * time.Millisecond

// holdings is what a search of the whole KV store found.
type holdings struct {
	pairs      []election.Pair
	incomplete bool
}

// of lists the keys that one session holds.
func (h *holdings) of(session string) []election.Pair {
	if h == nil {
		return nil
	}
	var all []election.Pair
	for _, p := range h.pairs {
		if p.Session == session {
			all = append(all, p)
		}
	}
	return all
}

// search looks in the whole KV store for the keys of the sessions to destroy. An
// interrupted search ends the command: a plan with missing keys must not be
// confirmed.
func (j *job) search(ctx context.Context) error {
	p := &progress{w: j.d.stderr, live: j.d.interactive}
	var ids []string
	for _, t := range j.sessions() {
		ids = append(ids, t.Session)
	}
	pairs, err := consulx.Holdings(ctx, j.client, ids, p.update)
	p.end()
	switch {
	case errors.Is(err, consulx.ErrIncomplete):
		j.held = &holdings{pairs: pairs, incomplete: true}
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("the search was interrupted: %w", errDeclined)
	case err != nil:
		return err
	}
	j.held = &holdings{pairs: pairs}
	return nil
}

// progress counts on one line of a terminal; elsewhere it writes the last count
// only.
type progress struct {
	w           io.Writer
	live        bool
	written     time.Time
	done, total int
}

func (p *progress) update(done, total int) {
	p.done, p.total = done, total
	if p.live && time.Since(p.written) >= progressEvery {
		p.written = time.Now()
		fmt.Fprintf(p.w, "\r  searched %d of %d keys (ctrl-c stops)", done, total)
	}
}

func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "  searched %d of %s\n", p.done, election.Plural(uint64(p.total), "key")) //nolint:gosec // not negative
}
