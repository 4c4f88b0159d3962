package results_test

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui"
	"electop/ui/internal/uitest"
	"electop/ui/results"
	"electop/ui/scene"
)

// failing is an operator whose actions fail.
type failing struct{}

func (failing) Release(context.Context, election.Target) insight.Outcome {
	return insight.Outcome{Kind: insight.OutcomeFailed}
}

func (f failing) DestroySession(ctx context.Context, d election.Destroy) insight.Outcome {
	return f.Release(ctx, d.Target)
}

// The log drops the oldest actions, but not unfinished ones.
func TestTheLogIsBounded(t *testing.T) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	l := results.New(t.Context(), failing{}, ui.NewKeys(false, ui.Keys{}))
	start := func(key string) tea.Cmd {
		var action scene.Action
		l, action = l.Start(scene.Confirm{Kind: election.ActionRelease, Targets: []scene.Target{{Target: election.Target{Key: key, Election: "e"}}}}, s)
		return action.(scene.Run).Cmd
	}
	kept := func() (n int, first string) {
		all := l.Events(s)
		return len(all), all[0].Ev.Key
	}
	const limit = 2000
	first := start("first")
	for range limit + 10 {
		l, _ = l.Update(start("k")(), s)
	}
	if n, key := kept(); n != limit+11 || key != "first" {
		t.Errorf("%d actions with %s first, want %d with first", n, key, limit+11)
	}
	l, _ = l.Update(first(), s)
	start("k")
	if n, key := kept(); n != limit || key != "k" {
		t.Errorf("%d actions with %s first, want %d with k", n, key, limit)
	}
}
