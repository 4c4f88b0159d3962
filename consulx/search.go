package consulx

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"electop/consulx/internal/wire"
	"electop/election"
)

// Limits of a search for locks. Listing a folder is expensive: Consul walks every key below it.
const (
	nearbyLocks   = 5
	nearbyFolders = 32
	nearbyReads   = 2 * TxnReads // in one folder
	nearbyQueue   = 1000         // folders in the queue
	nearbyTime    = 3 * time.Second
)

// Nearby is the result of a search for locks around the keys of some patterns.
type Nearby struct {
	// Locked are keys that hold a lock, nearest first. The .lock key represents the holders of a semaphore.
	Locked []string
	// Readable reports whether the token can read some key.
	Readable bool
	// Hidden reports whether some key is unreadable.
	Hidden bool
	// Complete reports whether no limit or error cut the search short.
	Complete bool
	// Anonymous reports whether the client has no token.
	Anonymous bool
	// Rule is the ACL rule that reading the keys of the first pattern requires.
	Rule string
}

// FindNearby searches the folders around the keys of the patterns, nearest first, for other keys that hold a lock. Results,
// requests and time are bounded. With an error, it also returns the results found before.
func FindNearby(ctx context.Context, c *Client, ps election.Patterns) (Nearby, error) {
	ctx, cancel := context.WithTimeout(ctx, nearbyTime)
	defer cancel()
	watched := ps
	ps = ps.Selecting()
	s := &nearbySearch{client: c, watched: watched, patterns: ps, folders: foldersAbove(ps), found: Nearby{
		Anonymous: c.anonymous, Rule: keyRule(ps[0], "read"), Complete: true,
	}}
	for range nearbyFolders {
		if len(s.folders) == 0 || len(s.found.Locked) >= nearbyLocks {
			break
		}
		if err := s.next(ctx); err != nil {
			s.found.Complete = false
			return s.found, err
		}
	}
	s.found.Complete = s.found.Complete && len(s.folders) == 0
	s.found.Locked = s.found.Locked[:min(len(s.found.Locked), nearbyLocks)]
	return s.found, nil
}

type nearbySearch struct {
	client   *Client
	patterns election.Patterns
	watched  election.Patterns // with exclusions; their locks are left out
	folders  []string          // queue, nearest first
	found    Nearby
}

// foldersAbove are the folders above the patterns' keys, nearest first.
func foldersAbove(ps election.Patterns) []string {
	all := []string{""}
	for _, p := range ps {
		for prefix := p.Prefix(); strings.Contains(prefix, "/"); {
			folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
			if !slices.Contains(all, folder) && wire.LiteralPrefix(folder) == folder {
				all = append(all, folder)
			}
			prefix = strings.TrimSuffix(folder, "/")
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// next searches the nearest folder and queues its subfolders.
func (s *nearbySearch) next(ctx context.Context) error {
	folder := s.folders[0]
	s.folders = s.folders[1:]
	names, meta, err := s.client.api.KV().Keys(folder, "/", s.client.Read(ctx))
	if err = s.client.Wrap(err); IsDenied(err) {
		s.found.Hidden = true
		return nil
	} else if err != nil {
		return err
	}
	s.found.Readable = s.found.Readable || len(names) > 0
	s.found.Hidden = s.found.Hidden || s.client.Filtered(meta)
	var keys []string
	for _, name := range names {
		switch {
		case !strings.HasSuffix(name, "/"):
			keys = append(keys, name)
		case name != folder && wire.LiteralPrefix(name) == name:
			s.queue(name)
		}
	}
	s.sort(s.folders)
	return s.read(ctx, keys)
}

func (s *nearbySearch) queue(folder string) {
	// The folders above the patterns were queued at the start.
	if slices.ContainsFunc(s.patterns, func(p election.Pattern) bool { return strings.HasPrefix(p.Prefix(), folder) }) {
		return
	}
	if len(s.folders) == nearbyQueue {
		s.found.Complete = false
		return
	}
	s.folders = append(s.folders, folder)
}

// read searches the keys of a folder for locks.
func (s *nearbySearch) read(ctx context.Context, keys []string) error {
	s.sort(keys)
	if len(keys) > nearbyReads {
		keys, s.found.Complete = keys[:nearbyReads], false
	}
	for some := range slices.Chunk(keys, TxnReads) {
		pairs, _, err := s.client.readPairs(ctx, some)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			key := lockKey(p)
			if _, watched := s.watched.Match(key); p.Held() && !watched && !slices.Contains(s.found.Locked, key) {
				s.found.Locked = append(s.found.Locked, key)
			}
		}
	}
	return nil
}

// lockKey is the name under which users know a lock: the .lock key of a semaphore, whose holders have their own keys.
func lockKey(p election.Pair) string {
	if folder, ok := strings.CutSuffix(p.Key, "/"+p.Session); ok && p.Flags == election.SemaphoreFlag {
		return folder + "/.lock"
	}
	return p.Key
}

// sort orders names by similarity to a pattern: first by common prefix, then by last segment.
func (s *nearbySearch) sort(names []string) {
	nearness := func(name string) (begin, end int) {
		for _, p := range s.patterns {
			text := p.String()
			begin = max(begin, sharedPrefix(text, name))
			if strings.HasSuffix(name, text[strings.LastIndexByte(text, '/')+1:]) {
				end = 1
			}
		}
		return begin, end
	}
	slices.SortStableFunc(names, func(a, b string) int {
		beginA, endA := nearness(a)
		beginB, endB := nearness(b)
		return cmp.Or(cmp.Compare(endB, endA), cmp.Compare(beginB, beginA))
	})
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Hidden reports whether a key exists and is unreadable.
func Hidden(ctx context.Context, c *Client, key string) (bool, error) {
	_, hidden, err := c.readPairs(ctx, []string{key})
	return hidden, err
}

// ErrIncomplete is returned with a result that may be incomplete.
var ErrIncomplete = errors.New("may be incomplete")

// Holdings searches the whole KV store for keys that these sessions hold. progress, if not nil, receives the number
// of keys done and in total. With ErrIncomplete the token cannot read all keys.
func Holdings(
	ctx context.Context, c *Client, sessions []string, progress func(done, total int),
) ([]election.Pair, error) {
	keys, err := c.ListKeys(ctx, "")
	incomplete := IsDenied(err) || errors.Is(err, ErrPartly)
	if err != nil && !incomplete {
		return nil, err
	}
	var held []election.Pair
	hidden, err := Scan(ctx, c, keys, progress, func(p election.Pair) {
		if slices.Contains(sessions, p.Session) {
			held = append(held, p)
		}
	})
	if err == nil && (incomplete || hidden) {
		err = Fail(ErrIncomplete, "may be incomplete: this token cannot read all keys")
	}
	return held, err
}

// Scan reads keys and passes each to visit. progress, if not nil, receives the number of keys
// done and in total. hidden reports keys that the token or no client can read.
func Scan(
	ctx context.Context, c *Client, keys []string, progress func(done, total int), visit func(election.Pair),
) (hidden bool, err error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	progress(0, len(keys))
	done := 0
	for some := range slices.Chunk(keys, TxnReads) {
		pairs, unreadable, err := c.readPairs(ctx, some)
		if err != nil {
			return hidden, err
		}
		for _, p := range pairs {
			visit(p)
		}
		hidden = hidden || unreadable || slices.ContainsFunc(some, func(key string) bool { return !election.Addressable(key) })
		done += len(some)
		progress(done, len(keys))
	}
	return hidden, nil
}
