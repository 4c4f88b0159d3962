package observe

import (
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
)

func TestProbeLockDelay(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		last := uint64(0)
		want := func(key string, want consulx.ProbeResult) {
			t.Helper()
			before, _, err := b.API.KV().List(p, nil)
			must(t, err)
			found, err := consulx.ProbeLockDelay(t.Context(), b.Client, key)
			if err != nil || found != want {
				t.Fatalf("%s: %+v, %v", key, found, err)
			}
			after, meta, err := b.API.KV().List(p, nil)
			if err != nil || !reflect.DeepEqual(before, after) || meta.LastIndex < last {
				t.Fatalf("%s: the probe changed %v to %v, error %v; want no change", key, before, after, err)
			}
			last = meta.LastIndex
		}
		want(p+"missing", consulx.ProbeResult{State: insight.LockFree})
		b.Put(p+"free", "v")
		want(p+"free", consulx.ProbeResult{State: insight.LockFree, Exists: true})
		kept := b.Session(api.SessionEntry{LockDelay: time.Minute})
		b.Acquire(api.KVPair{Key: p + "held", Session: kept})
		want(p+"held", consulx.ProbeResult{State: insight.LockHeld, Exists: true, Session: kept})
		for _, behavior := range []string{api.SessionBehaviorRelease, api.SessionBehaviorDelete} {
			s := b.Session(api.SessionEntry{LockDelay: time.Minute, Behavior: behavior})
			key := p + "delayed by " + behavior
			b.Acquire(api.KVPair{Key: key, Session: s})
			b.Destroy(s)
			want(key, consulx.ProbeResult{State: insight.LockDelayed, Exists: behavior == api.SessionBehaviorRelease})
		}
	})
}

// A recursive delete above a watched prefix does not always end the query for that prefix. The wait of the query
// limits the time until the change is detected.
func TestDeletesAboveAWatchedPrefixAreNoticed(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		key := p + "deep/down/web/leader"
		s := b.Session()
		b.Acquire(api.KVPair{Key: key, Session: s})
		board := observeWith(t, b.Client, Options{Patterns: patterns(t, p+"deep/down/*/leader"), Wait: time.Second})
		board.loaded()
		_, n := board.event(0, election.Elected, key)
		b.DeleteTree(p)
		if e, _ := board.event(n, election.Explained, key); e.Cause != election.KeyDeleted {
			t.Fatalf("%s: %s", e.Cause, e.Evidence)
		}
	})
}
