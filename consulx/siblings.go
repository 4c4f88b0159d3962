package consulx

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"electop/election"
	"electop/internal/crash"
)

// Survey reads the surroundings of elections once: all sessions, and for each election at most 64 keys under the same
// parent. If there are more keys, it prefers the keys of likely contenders. The results are in the order of the keys and
// contain the errors of failed reads.
func (c *Client) Survey(ctx context.Context, keys []string) []election.Surroundings {
	all := make([]election.Surroundings, len(keys))
	var sessions []*election.Session
	var sessionsErr error
	var failed []string
	crash.Each(1+len(keys), Parallel, func(i int) {
		if i == 0 {
			sessions, sessionsErr = c.Sessions(ctx)
			failed = c.FailedNodes(ctx)
			return
		}
		s := &all[i-1]
		var err error
		s.Key = keys[i-1]
		s.Siblings, s.SiblingsCut, err = c.Siblings(ctx, s.Key)
		s.SiblingsErr = ReadProblem("sibling keys", err)
	})
	at := time.Now()
	for i := range all {
		all[i].At, all[i].Sessions, all[i].SessionsErr = at, sessions, ReadProblem("sessions", sessionsErr)
		all[i].Failed = failed
	}
	return all
}

// Siblings reads the other keys under the parent of key. If some are not readable, it returns the readable ones and
// ErrIncomplete. cut is set if there are more than TxnReads keys.
func (c *Client) Siblings(ctx context.Context, key string) (pairs []election.Pair, cut bool, err error) {
	parent := election.Parent(key)
	switch {
	case parent == "":
		return nil, false, nil
	case LiteralPrefix(parent) != parent:
		return nil, false, Fail(nil, "Consul normalizes the path %s, so its keys cannot be listed", parent)
	}
	keys, err := c.ListKeys(ctx, parent)
	if err != nil && !errors.Is(err, ErrIncomplete) {
		return nil, false, err
	}
	chosen, cut := chooseSiblings(keys, key, parent)
	pairs, exist, readErr := c.ReadExisting(chosen, c.Read(ctx))
	if len(pairs) < len(exist) {
		err = incomplete("keys")
	}
	return pairs, cut, cmp.Or(readErr, err)
}

// chooseSiblings returns at most TxnReads keys, those of likely contenders first: keys that are named after a session
// (semaphores) or are under members/ (Patroni). cut is set if it omitted keys.
func chooseSiblings(keys []string, key, parent string) (chosen []string, cut bool) {
	var others []string
	for _, k := range keys {
		switch {
		case k == key:
		case strings.HasPrefix(k, parent+"members/"), IsSessionID(k[strings.LastIndexByte(k, '/')+1:]):
			chosen = append(chosen, k)
		default:
			others = append(others, k)
		}
	}
	if chosen = append(chosen, others...); len(chosen) > TxnReads {
		return chosen[:TxnReads], true
	}
	return chosen, false
}
