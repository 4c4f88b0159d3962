package consulx

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"electop/election"
)

// ErrIncomplete says that an answer may lack something. It comes along with what
// was found.
var ErrIncomplete = errors.New("may be incomplete")

// Holdings searches the whole KV store for the keys that any of these sessions holds, until
// ctx ends. progress, which may be nil, is told how many of how many keys were
// looked at. Where the token may not read everything, the error is ErrIncomplete
// and comes with what was found. Memory is bounded by the names of all keys and
// the values of a few.
func Holdings(
	ctx context.Context, c *Client, sessions []string, progress func(done, total int),
) ([]election.Pair, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	keys, err := c.ListKeys(ctx, "")
	incomplete := IsDenied(err) || errors.Is(err, ErrPartly)
	if err != nil && !incomplete {
		return nil, err
	}
	wanted := make(map[string]bool, len(sessions))
	for _, id := range sessions {
		wanted[id] = true
	}
	var held []election.Pair
	progress(0, len(keys))
	for done := 0; done < len(keys); {
		some := keys[done:min(done+TxnReads, len(keys))]
		pairs, hidden, err := c.readPairs(ctx, some)
		if err != nil {
			return held, err
		}
		for _, p := range pairs {
			if wanted[p.Session] {
				held = append(held, p)
			}
		}
		incomplete = incomplete || hidden || anyMangled(some)
		done += len(some)
		progress(done, len(keys))
	}
	if incomplete {
		return held, Fail(ErrIncomplete, "may be incomplete: this token may not read all keys")
	}
	return held, nil
}

// anyMangled reports keys that are not UTF-8: JSON can't carry their names, so
// they can't be asked for.
func anyMangled(keys []string) bool {
	for _, key := range keys {
		if strings.ContainsRune(key, utf8.RuneError) {
			return true
		}
	}
	return false
}
