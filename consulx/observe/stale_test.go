package observe

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"electop/consulx"
	"electop/election"
)

// With --stale, any server may respond. One that lags behind must not take a
// leader back that another server showed already.
func TestStaleResponsesDoNotGoBack(t *testing.T) {
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	before := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":1,"Session":"s1"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		query := r.URL.Query()
		switch {
		case query.Has("consistent"):
			return 200, 20, led
		case n == 0:
			return 200, 20, led
		case asked == "":
			return 200, 9, before
		}
		hang(r, 5*time.Second) // a server that lags behind responds at once
		return 200, 9, before
	}
	synctest.Test(t, func(t *testing.T) {
		f.start = time.Now()
		client := newClient(t, consulx.Config{Address: "consul.test", Stale: true, Transport: f})
		b := observeWith(t, client, Options{Patterns: patterns(t, "*/leader"), Wait: fakeWait})
		pass(time.Minute)
		for _, e := range b.of("a/leader") {
			if e.Session == "s1" || e.Type == election.Vacated {
				t.Errorf("an older state was reported: %+v", e)
			}
		}
		if asked := f.questions(); len(asked) > 40 {
			t.Errorf("%d questions in a minute", len(asked))
		}
		b.stop()
	})
}

// A consensus leader that was just elected may respond from the state up to which
// it has replayed its log. Only a consistent read waits until that is done.
func TestALeaderThatReplaysItsLogTakesNoLeaderBack(t *testing.T) {
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	before := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":1,"Session":"s1"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case n == 0 || r.URL.Query().Has("consistent"):
			return 200, 20, led
		case asked != "" && n < 4:
			hang(r, 5*time.Second)
			return 500, 0, "No cluster leader"
		case asked == "" && time.Since(f.start) < 20*time.Second:
			return 200, 9, before
		}
		hang(r, waitOf(r))
		return 200, 20, led
	}
	inBubble(t, f, func(b *board) {
		pass(time.Minute)
		for _, e := range b.of("a/leader") {
			if e.Session == "s1" || e.Type == election.Vacated {
				t.Errorf("an older state was reported: %+v", e)
			}
		}
	})
}

// What changed during an outage is known within bounds, also where an outdated
// response was dropped first.
func TestADroppedResponseLeavesTheGap(t *testing.T) {
	vacant := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2`)
	led := strings.ReplaceAll(oneKey, `"LockIndex":1`, `"LockIndex":2,"Session":"s2"`)
	f := &fakeConsul{}
	f.keys = func(n int, asked string, r *http.Request) (int, int, string) {
		switch {
		case n == 0:
			return 200, 20, led
		case r.URL.Query().Has("consistent"):
			return 200, 30, strings.ReplaceAll(vacant, `"ModifyIndex":5`, `"ModifyIndex":30`)
		case asked == "20":
			hang(r, 5*time.Second)
			return 500, 0, "No cluster leader"
		case asked == "":
			return 200, 9, oneKey
		}
		hang(r, waitOf(r))
		return 200, 30, strings.ReplaceAll(vacant, `"ModifyIndex":5`, `"ModifyIndex":30`)
	}
	inBubble(t, f, func(b *board) {
		pass(time.Minute)
		e, _ := b.event(0, election.Vacated, "a/leader")
		if e.HeldKnown {
			t.Errorf("the end of the term is told as observed: %+v", e)
		}
	})
}
