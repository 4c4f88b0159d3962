package detail

import (
	"strconv"

	"electop/election"
	"electop/ui/kit"
	"electop/ui/scene"
)

// writeSemaphore writes the holders and waiters of a semaphore, which is a key with several holders by design.
func writeSemaphore(d *kit.Page, s *scene.Scene, e *election.Election) {
	sem := s.Insight(e).Semaphore
	if sem == nil {
		d.Para(kit.Delay, "The key belongs to a semaphore, which has holders and no leader. The holders are unknown, because the value of the key is unavailable or invalid.")
		return
	}
	spans := []kit.Span{{kit.Strong, strconv.Itoa(len(sem.Holders)) + " of " + kit.Plural(sem.Limit, "slot") + " taken"}}
	if gone := len(sem.Holders) - sem.Live(); gone > 0 {
		spans = append(spans, kit.Span{kit.Delay, "  " + strconv.Itoa(gone) + " with an ended session"})
	}
	d.Field("Semaphore", spans...)
	contenders(d, "Holders", kit.Span{kit.Led, d.Sym.Led + " "}, sem.Holders, "no slot is taken")
	if !sem.ContendersKnown {
		d.Field("Waiters", kit.Span{kit.Quiet, "unknown, because the contenders' keys were not read; the sessions of some holders may have ended"})
		return
	}
	contenders(d, "Waiters", kit.Span{kit.Quiet, d.Sym.Idle + " "}, sem.Waiters, "none")
}

func contenders(d *kit.Page, label string, sign kit.Span, all []election.SemaphoreHolder, none string) {
	if len(all) == 0 {
		d.Field(label, kit.Span{kit.Quiet, none})
	}
	for _, h := range all {
		spans := []kit.Span{sign}
		if h.Name != "" {
			spans = append(spans, kit.Span{kit.Strong, h.Name + " "})
		}
		if h.Node != "" {
			spans = append(spans, kit.Span{kit.Text, "on " + h.Node + " "})
		}
		spans = append(spans, kit.Span{kit.Quiet, h.Session})
		if h.Gone {
			spans[0] = kit.Span{kit.Bad, d.Sym.Critical + " "}
			spans = append(spans, kit.Span{kit.Bad, "  session ended"}, kit.Span{kit.Quiet, ": a contender can take the slot"})
		}
		d.Field(label, spans...)
		label = ""
	}
}
