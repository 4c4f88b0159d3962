package consulx

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/internal/consultest"
)

// soakTime is how long the real Consul is written to: a few seconds, or as long
// as the environment says.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	if text := os.Getenv("ELECTOP_SOAK"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return 12 * time.Second
}

// TestShardsFollowARealConsul lets keys come and go while shards split and merge:
// in the end the board shows what Consul holds, and no term was passed over.
func TestShardsFollowARealConsul(t *testing.T) {
	limit := soakTime(t)
	agent := consultest.Dev(t)
	b := newBackend(t, Config{Address: agent.Addr()})
	sessions := make([]string, 8)
	for i := range sessions {
		sessions[i] = b.session(t, &api.SessionEntry{Name: fmt.Sprint("s", i), LockDelay: time.Nanosecond})
	}
	rng := rand.New(rand.NewPCG(3, 3))
	board := observe(t, b.client, "service/*/leader")
	board.loaded()
	end := time.Now().Add(limit)
	for wave := 0; time.Now().Before(end); wave++ {
		prefix := fmt.Sprintf("service/%c", 'a'+rng.IntN(4))
		var ops api.TxnOps
		for i := range 60 {
			key := fmt.Sprintf("%s%02d%d/leader", prefix, rng.IntN(100), i)
			ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: key, Value: []byte("v")}})
			if rng.IntN(2) == 0 {
				ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVLock, Key: key, Session: sessions[rng.IntN(8)], Value: []byte("w")}})
			}
		}
		if ok, answer, _, err := b.api.Txn().Txn(ops, nil); err != nil || !ok && !strings.Contains(txnText(answer.Errors), "lock") {
			t.Fatal(ok, answer, err)
		}
		if wave%9 == 8 {
			if _, err := b.api.KV().DeleteTree([]string{"service/a", "service/b", "service/c", "service/", prefix}[rng.IntN(5)], nil); err != nil {
				t.Fatal(err)
			}
		}
		pause := time.After(time.Duration(rng.IntN(60)) * time.Millisecond)
		<-pause
	}
	board.until("the board that Consul holds", func() bool {
		held, _, err := b.api.KV().List("service/", nil)
		return err == nil && sameBoard(board, held)
	})
}

// sameBoard reports that the newest snapshot shows exactly these keys.
func sameBoard(b *board, held api.KVPairs) bool {
	exists := 0
	for _, e := range b.last.Elections {
		if e.Exists {
			exists++
		}
	}
	for _, p := range held {
		e := b.last.Find(p.Key)
		if e == nil || !e.Exists || e.Pair.ModifyIndex != p.ModifyIndex || e.Pair.Session != p.Session {
			return false
		}
	}
	return exists == len(held)
}

// Many keys are divided on a real Consul, within the limit, and a change of any
// is told at once.
func TestManyElectionsAreSharded(t *testing.T) {
	agent := consultest.Dev(t)
	b := newBackend(t, Config{Address: agent.Addr()})
	for from := 0; from < 3000; from += 60 {
		var ops api.TxnOps
		for i := range 60 {
			ops = append(ops, &api.TxnOp{KV: &api.KVTxnOp{Verb: api.KVSet, Key: fmt.Sprintf("service/svc-%04d/leader", from+i), Value: []byte("v")}})
		}
		if ok, _, _, err := b.api.Txn().Txn(ops, nil); err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	board := observe(t, b.client, "service/*/leader")
	board.loaded()
	board.until("shards", func() bool {
		board.o.sessions.mu.Lock()
		defer board.o.sessions.mu.Unlock()
		n := len(board.o.sessions.held)
		return n > 10 && n <= maxWatches
	})
	s := b.session(t, &api.SessionEntry{Name: "s"})
	n := 0
	for _, i := range []int{0, 999, 1500, 2999} {
		key := fmt.Sprintf("service/svc-%04d/leader", i)
		b.acquire(t, api.KVPair{Key: key, Session: s})
		_, n = board.event(n, "elected", key)
	}
	b.acquire(t, api.KVPair{Key: "service/a-new-one/leader", Session: s})
	_, _ = board.event(n, "elected", "service/a-new-one/leader")
}
