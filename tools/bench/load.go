package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/consul/api"
	"golang.org/x/sync/errgroup"
)

const (
	keyPrefix = "service/"
	// maxSessions is the maximum number of sessions; more elections share them.
	maxSessions   = 10_000
	txnOps        = 64
	parallelLoads = 32
	loadLimit     = 10 * time.Minute
)

func keyName(i int) string { return fmt.Sprintf("%ssvc-%06d/leader", keyPrefix, i) }

// valueOfLeader returns a realistic value of a key.
func valueOfLeader(name string) []byte {
	return fmt.Appendf(nil, `{"name":%q,"address":"10.0.0.9:9000","version":"1.14.2"}`, name)
}

// load creates n elections and returns the sessions: election i is led by session
// i modulo their number.
func load(ctx context.Context, client *api.Client, n int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	sessions, err := makeSessions(ctx, client, max(2, min(n, maxSessions)))
	if err != nil {
		return nil, fmt.Errorf("create sessions: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelLoads)
	for from := 0; from < n; from += txnOps {
		g.Go(func() error { return lockKeys(ctx, client, sessions, from, min(from+txnOps, n)) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("create elections: %w", err)
	}
	return sessions, nil
}

func makeSessions(ctx context.Context, client *api.Client, n int) ([]string, error) {
	sessions := make([]string, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelLoads)
	for i := range sessions {
		g.Go(func() (err error) {
			w := (&api.WriteOptions{}).WithContext(ctx)
			sessions[i], _, err = client.Session().Create(&api.SessionEntry{Name: fmt.Sprintf("candidate-%05d", i)}, w)
			return err
		})
	}
	return sessions, g.Wait()
}

func lockKeys(ctx context.Context, client *api.Client, sessions []string, from, to int) error {
	ops := make(api.TxnOps, 0, to-from)
	for i := from; i < to; i++ {
		ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{
			Verb: api.KVLock, Key: keyName(i), Session: sessions[i%len(sessions)],
			Value: valueOfLeader(fmt.Sprintf("candidate-%05d", i)),
		}})
	}
	return commit(ctx, client, ops)
}

// commit runs a transaction that must succeed.
func commit(ctx context.Context, client *api.Client, ops api.TxnOps) error {
	ok, answer, _, err := client.Txn().Txn(ops, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("rejected: %s", answer.Errors[0].What)
	}
	return nil
}
