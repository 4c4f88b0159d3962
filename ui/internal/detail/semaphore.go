package detail

import (
	"strconv"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// semaphoreDetail writes the state of a semaphore, which is a key with several holders by design.
func semaphoreDetail(d *term.Page, s *scene.Scene, e *election.Election) {
	sem := s.Insight(e).Semaphore
	if sem == nil {
		d.Para(term.Delay, "The key belongs to a semaphore, which has holders and no leader. The holders are unknown, because the value of the key is unavailable or invalid.")
		valueDetail(d, s, e)
		return
	}
	spans := []term.Span{{term.Strong, strconv.Itoa(len(sem.Holders)) + " of " + term.Plural(sem.Limit, "slot") + " taken"}}
	if gone := len(sem.Holders) - sem.Live(); gone > 0 {
		who := " by a holder whose session ended"
		if gone > 1 {
			who = " by holders whose sessions ended"
		}
		spans = append(spans, term.Span{term.Delay, "  " + strconv.Itoa(gone) + who})
	}
	if sem.ContendersKnown {
		spans = append(spans, term.Span{term.Quiet, "  " + strconv.Itoa(len(sem.Waiters)) + " waiting"})
	}
	d.Field("Semaphore", spans...)
	d.Field("", term.Span{term.Quiet, "up to " + term.Plural(sem.Limit, "holder") + ", no single leader"})
	semaphoreLists(d, sem)
}

// semaphoreLists writes holders and waiters.
func semaphoreLists(d *term.Page, sem *election.Semaphore) {
	if sem == nil {
		return
	}
	contenders(d, "Holders", term.Span{term.Led, d.Sym.Led + " "}, sem.Holders, "no slot is taken")
	if !sem.ContendersKnown {
		d.Field("Waiters", term.Span{term.Quiet, "unknown, because the contenders' keys were not read; the sessions of some holders may have ended"})
		return
	}
	contenders(d, "Waiters", term.Span{term.Quiet, d.Sym.Idle + " "}, sem.Waiters, "none")
}

func contenders(d *term.Page, label string, sign term.Span, all []election.SemaphoreHolder, none string) {
	if len(all) == 0 {
		d.Field(label, term.Span{term.Quiet, none})
	}
	for _, h := range all {
		spans := []term.Span{sign}
		if h.Gone {
			spans[0] = term.Span{term.Bad, d.Sym.Critical + " "}
		}
		if h.Name != "" {
			spans = append(spans, term.Span{term.Strong, h.Name + " "})
		}
		if h.Node != "" {
			spans = append(spans, term.Span{term.Text, "on " + h.Node + " "})
		}
		spans = append(spans, term.Span{term.Quiet, h.Session})
		if h.Gone {
			spans = append(spans, term.Span{term.Bad, "  session ended"}, term.Span{term.Quiet, ": a contender can take the slot"})
		}
		d.Field(label, spans...)
		label = ""
	}
}
