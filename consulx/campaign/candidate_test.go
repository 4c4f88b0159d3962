package campaign

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

func newCandidate(t *testing.T, b backend, key, value string) *Candidate {
	t.Helper()
	c := New(b.Client, Options{
		Key: key, Value: []byte(value), Flags: 42,
		Session: SessionOptions{Name: value, LockDelay: -1},
	})
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func campaign(t *testing.T, c *Candidate) *Leadership {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := c.Campaign(ctx)
	must(t, err)
	return l
}

func awaitLoss(t *testing.T, l *Leadership) {
	t.Helper()
	select {
	case <-l.Lost():
	case <-time.NewTimer(patience).C:
		t.Fatal("Lost was not closed")
	}
}

func TestCandidatesTakeTurns(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix() + "web/leader"
		one, two := newCandidate(t, b, key, "one"), newCandidate(t, b, key, "two")
		l := campaign(t, one)
		if p := b.Get(key); p.Session != l.Pair.Session || string(p.Value) != "one" || p.Flags != 42 {
			t.Fatalf("the key is %+v, want session %s, value one and flags 42", p, l.Pair.Session)
		}
		if again := campaign(t, one); again != l {
			t.Fatal("Campaign of a leading candidate returned another leadership")
		}
		next := make(chan *Leadership, 1)
		go func() {
			l, _ := two.Campaign(t.Context())
			next <- l
		}()
		must(t, one.Resign(t.Context()))
		awaitLoss(t, l)
		if l.Err() != nil {
			t.Fatalf("after a resignation, Err returned %v, want nil", l.Err())
		}
		l = <-next
		if l == nil || b.Get(key).Session != l.Pair.Session || l.Pair.LockIndex != 2 {
			t.Fatal("the second candidate does not lead")
		}
		must(t, two.Close(t.Context()))
		if p := b.Get(key); p.Session != "" || string(p.Value) != "two" || p.Flags != 42 {
			t.Fatalf("after Close the key is %+v, want value two, flags 42 and no session", p)
		}
		if entry, _, err := b.API.Session().Info(l.Pair.Session, nil); err != nil || entry != nil {
			t.Fatalf("after Close, the read of the session returned %+v, %v; want no session", entry, err)
		}
		if _, err := two.Campaign(t.Context()); !errors.Is(err, ErrClosed) {
			t.Fatalf("Campaign of a closed candidate returned %v, want ErrClosed", err)
		}
	})
}

func TestCandidateDetectsALostTerm(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		for name, end := range map[string]func(key, session string) error{
			"destroyed": func(_, session string) error { _, err := b.API.Session().Destroy(session, nil); return err },
			"deleted":   func(key, _ string) error { _, err := b.API.KV().Delete(key, nil); return err },
			"released": func(key, session string) error {
				_, _, err := b.API.KV().Release(&api.KVPair{Key: key, Session: session}, nil)
				return err
			},
		} {
			c := newCandidate(t, b, p+name, name)
			l := campaign(t, c)
			must(t, end(p+name, l.Pair.Session))
			awaitLoss(t, l)
			if !errors.Is(l.Err(), consulx.ErrMoved) {
				t.Errorf("%s: %v", name, l.Err())
			}
			again := campaign(t, c)
			if held := b.Get(p + name); held.Session != again.Pair.Session {
				t.Errorf("%s: the candidate does not lead again: %+v", name, held)
			}
		}
	})
}

func TestCandidateWaitsForTheLockDelay(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix() + "web/leader"
		s := b.Session(api.SessionEntry{LockDelay: time.Second})
		b.Acquire(api.KVPair{Key: key, Session: s})
		before := time.Now()
		b.Destroy(s)
		// Consul checks the lock-delay before it applies an acquire: only a campaign that starts afterwards must wait.
		campaign(t, newCandidate(t, b, key, "next"))
		if d := time.Since(before); d < time.Second {
			t.Errorf("the candidate leads %s after the start of a lock-delay of 1s", d)
		}
	})
}

func TestBehaviorDeleteDeletesTheCandidatesKeyAndNoOther(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		stand := func(key string) (*Candidate, *Leadership) {
			c := New(b.Client, Options{
				Key: key, Value: []byte("v"),
				Session: SessionOptions{Behavior: election.BehaviorDelete},
			})
			return c, campaign(t, c)
		}
		for name, leave := range map[string]func(*Candidate) error{
			"closed":   func(*Candidate) error { return nil },
			"resigned": func(c *Candidate) error { return c.Resign(t.Context()) },
			"overwritten": func(*Candidate) error {
				b.Put(p+"overwritten", "without the lock")
				return nil
			},
		} {
			c, _ := stand(p + name)
			must(t, errors.Join(leave(c), c.Close(t.Context())))
			if pair := b.Get(p + name); pair != nil {
				t.Errorf("%s: the key is %+v, want it deleted", name, pair)
			}
			next := b.Session()
			if ok, _, err := b.API.KV().Acquire(&api.KVPair{Key: p + name, Session: next}, nil); err != nil || !ok {
				t.Errorf("%s: the key cannot be acquired immediately: %v", name, err)
			}
		}
		c, l := stand(p + "taken")
		b.Release(p+"taken", l.Pair.Session)
		other := b.Session()
		b.Acquire(api.KVPair{Key: p + "taken", Value: []byte("other"), Session: other})
		must(t, c.Close(t.Context()))
		if pair := b.Get(p + "taken"); pair == nil || pair.Session != other || string(pair.Value) != "other" {
			t.Errorf("the key that another session holds changed to %+v", pair)
		}
	})
}

func TestCampaignEndsWithItsContextAndWithClose(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		key := b.Prefix() + "web/leader"
		s := b.Session()
		b.Acquire(api.KVPair{Key: key, Session: s})
		c := newCandidate(t, b, key, "c")
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		run := func() {
			_, err := c.Campaign(ctx)
			failed <- err
		}
		go run()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Fatalf("after cancel, Campaign returned %v, want context.Canceled", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
		go run()
		if err := <-failed; !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("after a timeout, Campaign returned %v, want context.DeadlineExceeded", err)
		}
		cancel()
		ctx = context.WithoutCancel(ctx)
		go run()
		must(t, c.Close(context.Background()))
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Fatalf("after Close, Campaign returned %v, want ErrClosed", err)
		}
	})
}

func TestCampaignFailsIfItCannotSucceed(t *testing.T) {
	c := New(newClient(t, consulx.Config{Address: "127.0.0.1:1"}), Options{Key: "a/b"})
	if _, err := c.Campaign(t.Context()); !errors.Is(err, consulx.ErrUnreachable) {
		t.Errorf("unreachable: %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	// A key that a URL cannot contain, and a stop that takes too long.
	for _, o := range []Options{{Key: "a//b"}, {Key: "k", StopTime: 13 * time.Second}} {
		c := New(newClient(t, consulx.Config{Address: "127.0.0.1:1"}), o)
		if _, err := c.Campaign(t.Context()); err == nil || errors.Is(err, consulx.ErrUnreachable) {
			t.Errorf("%+v: got error %v, want one other than ErrUnreachable", o, err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// In a synctest bubble, the TTL passes without a real delay.
func TestCandidateRenewsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut, _ := fails(t, everything, func(*http.Request) (*http.Response, error) { return nil, errors.New("the network is down") })
		c := candidate(t, cut, Options{Key: "k", Session: SessionOptions{TTL: 10 * time.Second, LockDelay: -1}})
		l := campaign(t, c)
		consulx.Sleep(context.Background(), time.Hour)
		if l.Err() != nil || c.current() != l {
			t.Fatalf("the leadership was lost within an hour: %v", l.Err())
		}
		cut.on.Store(true)
		consulx.Sleep(context.Background(), 14*time.Second)
		if !unread(l) {
			t.Fatalf("after Consul was unreachable for 14 s, Err returned %v", l.Err())
		}
		cut.on.Store(false)
		again := campaign(t, c)
		if again.Pair.Session != l.Pair.Session || again.Pair.LockIndex != l.Pair.LockIndex {
			t.Fatalf("the session still existed, but the term %+v was followed by %+v; want the same term", l.Pair, again.Pair)
		}
		cut.on.Store(true)
		consulx.Sleep(context.Background(), 21*time.Second)
		cut.on.Store(false)
		if third := campaign(t, c); third.Pair.Session == l.Pair.Session {
			t.Fatal("after twice the TTL, the candidate leads with the same session, want a new one")
		}
	})
}
