package observe

import "testing"

func TestPhase(t *testing.T) {
	for _, c := range []struct {
		from                                          phase
		responded, failed, differed, agreed, replaced phase
	}{
		{opening, live, failing, opening, opening, closed},
		{live, live, failing, mismatched, live, closed},
		{mismatched, live, failing, mismatched, live, closed},
		{failing, live, failing, failing, failing, closed},
		{closed, closed, closed, closed, closed, closed},
	} {
		for o, want := range map[occurrence]phase{
			responded: c.responded, failed: c.failed, differed: c.differed, agreed: c.agreed, replaced: c.replaced,
		} {
			if got := c.from.after(o); got != want {
				t.Errorf("from phase %d, occurrence %d led to phase %d, want %d", c.from, o, got, want)
			}
		}
	}
}

func TestInheritedPhase(t *testing.T) {
	for from, want := range map[phase]phase{opening: opening, live: live, mismatched: live, failing: opening} {
		if got := from.inherited(); got != want {
			t.Errorf("a shard that replaces one in phase %d begins in phase %d, want %d", from, got, want)
		}
	}
}
