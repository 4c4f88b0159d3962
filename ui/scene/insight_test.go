package scene_test

import (
	"slices"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
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
