package observe

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func TestObserverReportsTermsInOrder(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		p := b.Prefix(t)
		key := p + "web/leader"
		first := b.Session(t, &api.SessionEntry{Name: "web-1"})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte(`{"Node":"web-1"}`), Session: first})
		board := observePatiently(t, b.client, p+"*/leader")
		e, n := board.event(0, election.Elected, key)
		if !e.Initial || e.Election != "web" || e.Leader != "web-1" || e.Node != b.Node || e.Datacenter != "dc1" {
			t.Fatalf("the first event is %+v, want an initial event with leader web-1 of election web on node %s", e, b.Node)
		}
		b.Release(t, key, first)
		_, n = board.event(n, election.Vacated, key)
		second := b.Session(t, &api.SessionEntry{Name: "web-2"})
		b.Acquire(t, api.KVPair{Key: key, Value: []byte("web-2"), Session: second})
		if e, _ = board.event(n, election.Elected, key); e.Initial || e.Leader != "web-2" || e.Node != b.Node || !e.VacancyKnown || e.Term != 2 {
			t.Fatalf("the event of the second term is %+v, want leader web-2 in term 2 after a known vacancy", e)
		}
	})
}

func TestWatchChecks(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		check := "check-" + strings.ReplaceAll(b.Prefix(t), "/", "-")
		registration := &api.AgentCheckRegistration{
			ID: check, Name: check, AgentServiceCheck: api.AgentServiceCheck{TTL: "1h", Status: api.HealthPassing},
		}
		if err := b.API.Agent().CheckRegister(registration); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.API.Agent().CheckDeregister(check) })
		board := observe(t, b.client, "nothing/here")
		board.o.WatchChecks([]string{b.Node, b.Node, ""})
		status := func(want string) func() bool {
			return func() bool {
				return slices.ContainsFunc(board.last.Checks[b.Node].Checks,
					func(c election.Check) bool { return c.ID == check && c.Status == want })
			}
		}
		board.until("a passing check", status(election.StatusPassing))
		if err := b.API.Agent().UpdateTTL(check, "broken", api.HealthCritical); err != nil {
			t.Fatal(err)
		}
		board.until("a critical check", status(election.StatusCritical))
		for range 3 {
			board.o.WatchChecks(nil)
			board.until("checks that are no longer current", func() bool {
				return !board.last.Checks[b.Node].Until.IsZero() && status(election.StatusCritical)()
			})
			board.o.WatchChecks([]string{b.Node})
			board.until("checks that are current", func() bool {
				return board.last.Checks[b.Node].Current() && status(election.StatusCritical)()
			})
		}
	})
}
