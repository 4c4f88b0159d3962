package observe

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func TestObserverContinuesAHistory(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix()
		lead := b.Session(api.SessionEntry{Name: "web-1"})
		b.Acquire(api.KVPair{Key: p + "web/leader", Value: []byte("web-1"), Session: lead})
		pair, _, err := b.API.KV().Get(p+"web/leader", nil)
		must(t, err)
		until := time.Now().Add(-time.Minute)
		recorded := func(name, session string, create uint64) *election.Election {
			e := &election.Election{
				Name: name, Datacenter: "dc1", Exists: true, Leader: name + "-1", Term: 1, Since: until.Add(-time.Hour), SinceKnown: true, RecordedUntil: until,
				Pair:    election.Pair{Key: p + name + "/leader", Session: session, LockIndex: 1, CreateIndex: create},
				Session: &election.Session{ID: session, Node: name},
			}
			e.Terms = []election.Term{{Number: 1, CreateIndex: create, Session: session, Leader: e.Leader, Start: e.Since, StartKnown: true}}
			return e
		}
		arrived := make(chan struct{})
		board := observeWith(t, b.Client, Options{
			Patterns: patterns(t, p+"*/leader"), RecallPatience: time.Hour, Recall: func(context.Context) election.HistoryRead {
				<-arrived
				return election.HistoryRead{Elections: []*election.Election{
					recorded("gone", "11111111-6350-7587-addf-a18084928f3c", 1), recorded("web", lead, pair.CreateIndex),
				}}
			},
		})
		board.until("the first board", func() bool { return board.last.Loaded })
		if web := board.last.Find(election.KeyID(p + "web/leader")); web == nil || web.SinceKnown || len(board.events) > 0 {
			t.Errorf("before the history: %+v, events %+v", web, board.events)
		}
		close(arrived)
		e, _ := board.event(0, election.Elected, p+"web/leader")
		if !e.Initial {
			t.Errorf("%+v", e)
		}
		if e, _ = board.event(0, election.Vacated, p+"gone/leader"); !e.Gap || !e.SeenUntil.Equal(until.Round(0)) {
			t.Errorf("%+v", e)
		}
		if e, _ = board.event(0, election.Explained, p+"gone/leader"); e.Cause != election.NodeGone {
			t.Errorf("%+v", e)
		}
		board.until("the boards", func() bool {
			s := board.last
			if s == nil || !s.Loaded {
				return false
			}
			web := s.Find(election.KeyID(p + "web/leader"))
			return web != nil && web.SinceKnown && web.Since.Equal(until.Add(-time.Hour).Round(0)) && web.Session != nil && !s.Find(election.KeyID(p+"gone/leader")).Exists
		})
	})
}
