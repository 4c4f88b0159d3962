package consulx

import "testing"

func TestChecksGetTheConnectionsThatKeysLeave(t *testing.T) {
	b := newBudget(0)
	var allowed int
	b.OnChange(func(n int) { allowed = n })
	if allowed != maxChecks {
		t.Errorf("without keys %d nodes' checks are watched, want %d", allowed, maxChecks)
	}
	b.Use(b.ForKeys(0))
	if allowed != leastChecks {
		t.Errorf("beside as many keys as can be, %d nodes' checks are watched, want %d", allowed, leastChecks)
	}
	b.Use(-b.ForKeys(0))
	if allowed != maxChecks {
		t.Errorf("when the keys are gone, %d nodes' checks are watched, want %d", allowed, maxChecks)
	}
}
