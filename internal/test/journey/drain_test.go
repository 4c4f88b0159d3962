package journey

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"
)

// node registers a node that exists only in the catalog, and returns the node's name.
func (s *stage) node(name string) string {
	s.T.Helper()
	name = s.prefix + "-" + name
	_, err := s.API.Catalog().Register(&api.CatalogRegistration{Node: name, Address: "10.0.0.1"}, nil)
	must(s.T, err)
	s.T.Cleanup(func() { _, _ = s.API.Catalog().Deregister(&api.CatalogDeregistration{Node: name}, nil) })
	return name
}

func (s *stage) sessionOn(node, name string) string {
	s.T.Helper()
	return s.Session(api.SessionEntry{Name: name, Node: node, LockDelay: time.Second, TTL: "3600s"})
}

// contend acquires the lock of an election whenever it is free, until the test ends.
func (s *stage) contend(election, session, value string) {
	ctx, kv := s.T.Context(), s.API.KV()
	var running sync.WaitGroup
	running.Go(func() {
		var index uint64
		for ctx.Err() == nil {
			pair, meta, err := kv.Get(s.key(election), (&api.QueryOptions{WaitIndex: index}).WithContext(ctx))
			if err != nil {
				return
			}
			if index = meta.LastIndex; pair == nil || pair.Session == "" {
				_, _, _ = kv.Acquire(&api.KVPair{Key: s.key(election), Value: []byte(value), Session: session}, nil)
			}
		}
	})
	s.T.Cleanup(running.Wait)
}

// read scrolls an overlay until the text is visible.
func (term *terminal) read(text string) {
	term.t.Helper()
	for range 200 {
		if strings.Contains(term.screen(), text) {
			break
		}
		term.keys("j")
	}
	term.await(text)
}

func TestANodeIsDrained(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	old, next := s.node("old"), s.node("new")
	here, there := s.sessionOn(old, "here"), s.sessionOn(next, "there")
	for _, name := range []string{"auth", "mail"} {
		s.acquire(name, here, name+"-1")
		s.contend(name, there, name+"-2")
	}
	term := s.open(80, 24)
	term.await("3 led", "auth-1", "mail-1")
	term.keys("g", "D")
	term.await("2 elections to move", "auth-1; next:", "mail-1; next:")
	term.read("y drain")
	term.keys("Escape")
	term.await("Cancelled: nothing was changed.")
	s.held("auth", here)
	term.keys("D")
	term.read("y drain")
	term.keys("y")
	term.await("2 moving", "[ Hide ]")
	term.await("2 of 2", "2 moved")
	s.held("auth", there)
	s.held("mail", there)
	s.held("web", s.a)
	term.keys("Enter", "2")
	term.await("operator", "2 moved")
	term.keys("q")
	term.await("left with 0")
}
