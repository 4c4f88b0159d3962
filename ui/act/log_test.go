package act_test

import (
	"context"
	"strconv"
	"testing"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/ui"
	"electop/ui/act"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// denied is an operator whose actions are denied.
type denied struct{}

func (denied) Release(context.Context, election.Target) insight.Outcome {
	return insight.Outcome{Kind: insight.OutcomeDenied}
}

func (d denied) DestroySession(ctx context.Context, of election.Destroy) insight.Outcome {
	return d.Release(ctx, of.Target)
}

// Above its limit, the log drops the oldest actions, but not those that are not complete.
func TestTheLogIsBounded(t *testing.T) {
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	l := act.NewLog(t.Context(), denied{}, ui.NewKeys(false, ui.Keys{}), act.Program{
		Scene: func() *scene.Scene { return s }, Do: func(scene.Action) tea.Cmd { return nil }, Changed: func() tea.Cmd { return nil },
	})
	release := func(name string) tea.Cmd {
		return l.Start(scene.Confirm{Kind: election.ActionRelease, Targets: []scene.Target{{Target: election.Target{Key: name, Election: name}}}})
	}
	end := func(cmd tea.Cmd) {
		for cmd != nil {
			cmd = cmd().(kit.TaskMsg).Apply()
		}
	}
	kept := func(want int, first string) {
		t.Helper()
		if all := l.Events(s); len(all) != want || all[0].Ev.Key != first {
			t.Errorf("%d actions, %s first, want %d, %s first", len(all), all[0].Ev.Key, want, first)
		}
	}
	const limit = 2000
	slow := release("slow")
	for i := range limit + 10 {
		end(release(strconv.Itoa(i)))
	}
	kept(limit+11, "slow")
	end(slow)
	end(release("last"))
	kept(limit, "11")
}
