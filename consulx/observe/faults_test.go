package observe

import (
	"fmt"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
)

func TestAnonymousCallerGetsTheMissingPermission(t *testing.T) {
	root := underACLs(t)
	s := root.Session()
	root.Acquire(api.KVPair{Key: "service/a/leader", Session: s})
	anonymous := newClient(t, consulx.Config{Address: root.Addr})
	board := observe(t, anonymous)
	board.until("a filtered response", func() bool { return board.last.Loaded && board.last.Filtered })
	look, err := Once(t.Context(), anonymous, patterns(t), election.HistoryRead{})
	if err != nil || !look.Filtered || len(look.Elections) != 0 {
		t.Fatalf("%+v, %v", look, err)
	}
}

func TestOnce(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		for i := range consulx.ManySessions + 80 {
			s := b.Session(api.SessionEntry{Name: "many"})
			b.Acquire(api.KVPair{Key: fmt.Sprint(p, i, "/leader"), Session: s})
		}
		b.Put(p+"free", "no leader")
		snapshot, err := Once(t.Context(), b.Client, patterns(t, p+"*/leader", p+"free"), election.HistoryRead{})
		must(t, err)
		if !snapshot.Loaded || snapshot.Datacenter != "dc1" || snapshot.Connection.State != election.Live {
			t.Errorf("%+v", snapshot)
		}
		if e := snapshot.Find(election.KeyID(p + "free")); e == nil || e.State(snapshot.At) != election.Idle {
			t.Errorf("a key without a leader and without a candidate is not idle: %+v", e)
		}
		for _, e := range snapshot.Elections {
			if e.Name != p+"free" && (e.State(snapshot.At) != election.Led || e.Session == nil || e.Session.Node != b.Node) {
				t.Errorf("%s: session %+v", e.Key(), e.Session)
			}
		}
		if n := len(snapshot.Elections); n != consulx.ManySessions+81 {
			t.Errorf("%d elections, want %d", n, consulx.ManySessions+81)
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		_, err := Once(t.Context(), newClient(t, consulx.Config{Address: "127.0.0.1:1"}), patterns(t), election.HistoryRead{})
		if consulx.Describe(err) != "cannot reach Consul at 127.0.0.1:1: connection refused" {
			t.Errorf("got %v", err)
		}
	})
}
