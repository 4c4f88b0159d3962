package observe

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/consul/api"

	"electop/election"
)

func TestWatchChecks(t *testing.T) {
	onBoth(t, func(b backend) {
		t := b.T
		check := "check-" + strings.ReplaceAll(b.Prefix(), "/", "-")
		registration := &api.AgentCheckRegistration{
			ID: check, Name: check, AgentServiceCheck: api.AgentServiceCheck{TTL: "1h", Status: api.HealthPassing},
		}
		must(t, b.API.Agent().CheckRegister(registration))
		t.Cleanup(func() { _ = b.API.Agent().CheckDeregister(check) })
		board := observe(t, b.Client, "nothing/here")
		board.o.WatchChecks([]string{b.Node, b.Node, ""})
		status := func(want string) func() bool {
			return func() bool {
				return slices.ContainsFunc(board.last.Checks[b.Node].Checks,
					func(c election.Check) bool { return c.ID == check && c.Status == want })
			}
		}
		board.until("a passing check", status(election.StatusPassing))
		must(t, b.API.Agent().UpdateTTL(check, "broken", api.HealthCritical))
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
