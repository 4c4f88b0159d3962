package observe

import (
	"net/http"
	"testing"
	"time"

	"electop/election"
)

// connectionEvents returns the types of the events about the connection.
func connectionEvents(b *board) (types []election.EventType) {
	for _, e := range b.of("") {
		if e.Type == election.ConnectionLost || e.Type == election.ConnectionRestored {
			types = append(types, e.Type)
		}
	}
	return types
}

// connection checks the state of the connection.
func (b *board) connection(want election.ConnectionState, when string) {
	b.t.Helper()
	if c := b.snapshot().Connection; c.State != want || want == election.Live && len(c.Stale) > 0 {
		b.t.Errorf("%s, the connection is %s: %s, stale %v; want %s", when, c.State, c.Error, c.Stale, want)
	}
}

// rejecting returns a Consul behind a proxy. For 30 s, the proxy ends each blocked query after a given time.
func rejecting(after time.Duration, status int) *fakeConsul {
	f := &fakeConsul{}
	f.keys = func(_ int, asked string, r *http.Request) (int, int, string) {
		switch {
		case asked == "":
		case time.Since(f.start) < 30*time.Second:
			hang(r, after)
			return status, 0, "Gateway Time-out"
		default:
			hang(r, waitOf(r))
		}
		return 200, 7, oneKey
	}
	return f
}

// While connections are reset repeatedly, reads that do not block sometimes succeed, and the probe also succeeds.
func TestBlockedQueriesThatAreResetAreOneLoss(t *testing.T) {
	f := rejecting(0, 0)
	inBubble(t, f, func(b *board) {
		pass(29 * time.Second)
		b.connection(election.Lost, "while blocked queries are reset")
		if asked := len(f.questions()); asked > 60 {
			t.Errorf("all keys were read %d times in 29s, want at most 60", asked)
		}
		pass(3 * time.Second)
		b.connection(election.Live, "2s after the last reset")
		pass(time.Minute)
		if events := connectionEvents(b); len(events) != 2 {
			t.Errorf("got the connection events %v, want 2", events)
		}
	})
}

// If a proxy ends blocked queries only after some time, blocking queries work, so Consul counts as reachable.
func TestBlockedQueriesThatAreCutLateAreNoLoss(t *testing.T) {
	f := rejecting(5*time.Second, http.StatusGatewayTimeout)
	inBubble(t, f, func(b *board) {
		pass(29 * time.Second)
		b.connection(election.Live, "while blocked queries are ended after 5s")
		pass(time.Minute)
		if events := connectionEvents(b); len(events) != 0 {
			t.Errorf("got the connection events %v, want none", events)
		}
	})
}

// While the probe fails as well, the observer must not retry reads of all keys. The reads restart when the probe
// succeeds.
func TestPausesGrowWhileTheProbeFails(t *testing.T) {
	f := &fakeConsul{}
	f.noQuorum.Store(true)
	f.keys = func(int, string, *http.Request) (int, int, string) { return 500, 0, "No cluster leader" }
	inBubble(t, f, func(*board) {
		pass(time.Minute)
		if asked := f.questions(); len(asked) > 12 {
			t.Errorf("%d requests in a minute, want at most 12: %q", len(asked), asked)
		}
		f.noQuorum.Store(false)
		pass(2 * time.Second)
		asked := len(f.questions())
		pass(20 * time.Second)
		if more := len(f.questions()) - asked; more < 8 {
			t.Errorf("only %d requests in 20s while the probe succeeds, want at least 8", more)
		}
	})
}
