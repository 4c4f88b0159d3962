package scene_test

import (
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// An assessment takes 20 ms with 10,000 elections. Changes of other elections do not repeat it at once.
func TestAssessmentsAreComputedAtAMeasuredPace(t *testing.T) {
	base := uitest.Studied("service/mail/leader")
	changed := *base
	changed.Elections = slices.Clone(base.Elections)
	selected := base.Find("service/mail/leader")
	for _, c := range []struct {
		snap *election.Snapshot
		age  time.Duration
		of   string
		want bool
	}{
		{base, time.Second, "", false}, {base, scene.AdviceAge - 1, "", false}, {base, scene.AdviceAge, "", true}, {base, -time.Second, "", true},
		{&changed, scene.InsightAge - 1, "", false}, {&changed, scene.InsightAge, "", true}, {base, 0, "service/auth/leader", true},
	} {
		var cache scene.InsightCache
		s := uitest.Scene(base, uitest.Now())
		s.Selected = selected
		s.Look(&cache)
		first := cache.In
		s = uitest.Scene(c.snap, uitest.Now().Add(c.age))
		if s.Selected = selected; c.of != "" {
			s.Selected = base.Find(election.ID(c.of))
		}
		if s.Look(&cache); (cache.In != first) != c.want {
			t.Errorf("after %s, other elections changed %v, %q: computed again %v, want %v", c.age, c.snap != base, c.of, !c.want, c.want)
		}
	}
}

func TestAWaitThatHasEndedIsAssessedAgain(t *testing.T) {
	base := uitest.Studied("service/mail/leader")
	mail := base.Find("service/mail/leader")
	mail.VacantSince = uitest.Now().Add(-24 * time.Second)
	var cache scene.InsightCache
	for after, want := range []string{insight.AwaitingCandidates, insight.NoCandidates} {
		s := uitest.Scene(base, uitest.Now().Add(time.Duration(after)*time.Second))
		s.Selected = mail
		if s.Look(&cache); cache.In.Fix == nil || cache.In.Fix.Code != want {
			t.Errorf("after %d s: %+v, want %s", after, cache.In.Fix, want)
		}
	}
}

// A user copies a command with the address of the cluster; the command line prints it so.
func TestACommandIsCopied(t *testing.T) {
	f := &insight.Finding{Fix: "Correct the flags: consul kv put x.", Command: "consul kv put x"}
	for unbroken, want := range map[string]string{"": "Correct the flags (copy the command).", "consul": f.Fix} {
		if got := scene.Shown(&kit.Page{Unbroken: unbroken}, f, f.Fix); got != want {
			t.Errorf("%q: %s, want %s", unbroken, got, want)
		}
	}
}
