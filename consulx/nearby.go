package consulx

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"electop/election"
)

// Limits of a search. Listing a folder is expensive, because Consul reads every key below the folder.
const (
	// MaxNearbyLocks is the maximum number of keys in a [NearbyLocks].
	MaxNearbyLocks = 5
	maxFolders     = 32
	maxReads       = 2 * TxnReads // maximum number of keys that are read in one folder
	maxQueue       = 1000         // maximum number of folders in the queue
	maxTime        = 3 * time.Second
)

// NearbyLocks contains the locks near the keys of some patterns.
type NearbyLocks struct {
	// Locked contains the keys that sessions hold, nearest first. The .lock key represents the holders of a
	// semaphore.
	Locked []string
	// Readable is set if the token can read at least one key.
	Readable bool
	// Hidden is set if the token cannot read at least one key.
	Hidden bool
	// Complete is set if the search ended without reaching a limit and without an error.
	Complete bool
	// Anonymous is set if the client has no token.
	Anonymous bool
	// Rule is the ACL rule that is necessary to read the keys of the first pattern.
	Rule string
}

// FindNearby searches the folders near the keys of the patterns for other keys that are locked, nearest first. It omits
// keys for which skip, if not nil, returns true. If it fails, it also returns the results found before the error.
func FindNearby(ctx context.Context, c *Client, ps election.Patterns, skip func(key string) bool) (NearbyLocks, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	selecting := ps.Selecting()
	s := &nearbySearch{client: c, watched: ps, skip: skip, patterns: selecting, folders: foldersAbove(selecting), found: NearbyLocks{
		Anonymous: c.Anonymous(), Rule: KeyRule(selecting[0], "read"), Complete: true,
	}}
	for range maxFolders {
		if len(s.folders) == 0 || len(s.found.Locked) >= MaxNearbyLocks {
			break
		}
		if err := s.next(ctx); err != nil {
			s.found.Complete = false
			return s.found, err
		}
	}
	s.found.Complete = s.found.Complete && len(s.folders) == 0 && len(s.found.Locked) <= MaxNearbyLocks
	s.found.Locked = s.found.Locked[:min(len(s.found.Locked), MaxNearbyLocks)]
	return s.found, nil
}

type nearbySearch struct {
	client   *Client
	patterns election.Patterns // without exclusions
	watched  election.Patterns // the nearbySearch omits the keys of these patterns
	skip     func(key string) bool
	folders  []string // folders to nearbySearch, nearest first
	found    NearbyLocks
}

// foldersAbove returns the folders above the patterns' keys, nearest first.
func foldersAbove(ps election.Patterns) []string {
	all := []string{""}
	for _, p := range ps {
		for prefix := p.Prefix(); strings.Contains(prefix, "/"); {
			folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
			if !slices.Contains(all, folder) && LiteralPrefix(folder) == folder {
				all = append(all, folder)
			}
			prefix = strings.TrimSuffix(folder, "/")
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// next searches the first folder in the queue and adds its subfolders to the queue.
func (s *nearbySearch) next(ctx context.Context) error {
	folder := s.folders[0]
	s.folders = s.folders[1:]
	names, meta, err := s.client.API().KV().Keys(folder, "/", s.client.Read(ctx))
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
		case name != folder && LiteralPrefix(name) == name:
			s.queue(name)
		}
	}
	s.sort(s.folders)
	return s.read(ctx, keys)
}

func (s *nearbySearch) queue(folder string) {
	// The folders above the patterns are in the queue from the start.
	if slices.ContainsFunc(s.patterns, func(p election.Pattern) bool { return strings.HasPrefix(p.Prefix(), folder) }) {
		return
	}
	if len(s.folders) == maxQueue {
		s.found.Complete = false
		return
	}
	s.folders = append(s.folders, folder)
}

// read searches the keys of a folder for locks.
func (s *nearbySearch) read(ctx context.Context, keys []string) error {
	s.sort(keys)
	if len(keys) > maxReads {
		keys, s.found.Complete = keys[:maxReads], false
	}
	for some := range slices.Chunk(keys, TxnReads) {
		pairs, _, err := s.client.ReadExisting(some, s.client.Read(ctx))
		if err != nil {
			return err
		}
		for _, p := range pairs {
			key := lockKey(p)
			_, left := s.watched.Match(key)
			left = left || s.skip != nil && s.skip(key)
			if p.Held() && !left && !slices.Contains(s.found.Locked, key) {
				s.found.Locked = append(s.found.Locked, key)
			}
		}
	}
	return nil
}

// lockKey returns the key that represents a lock. Each holder of a semaphore has its own key; the .lock key
// represents all of them.
func lockKey(p election.Pair) string {
	if folder, ok := strings.CutSuffix(p.Key, "/"+p.Session); ok && p.Flags == election.SemaphoreFlag {
		return folder + "/.lock"
	}
	return p.Key
}

// sort orders names by similarity to a pattern: first by an equal last segment, then by the length of the common
// prefix.
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
