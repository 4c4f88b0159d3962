package detail

import (
	"strconv"

	"electop/election"
	"electop/ui/kit"
)

// writeSemaphore writes the holders and waiters of a semaphore, which is a key with several holders by design.
func (d doc) writeSemaphore() {
	sem := d.Insight().Semaphore
	if sem == nil {
		d.Para(kit.Delay, "The key belongs to a semaphore, which has holders and no leader. The holders are unknown, because the value of the key is unavailable or invalid.")
		return
	}
	spans := kit.Strong.Spans(strconv.Itoa(len(sem.Holders)) + " of " + kit.Plural(sem.Limit, "slot") + " taken")
	if gone := len(sem.Holders) - sem.Live(); gone > 0 {
		spans = append(spans, kit.Delay.Span("  "+strconv.Itoa(gone)+" with an ended session"))
	}
	d.Field("Semaphore", spans...)
	d.contenders("Holders", kit.Led.Span(d.Sym.Led+" "), sem.Holders, "no slot is taken")
	if !sem.ContendersKnown {
		d.Field("Waiters", kit.Quiet.Span("unknown, because the contenders' keys were not read; the sessions of some holders may have ended"))
		return
	}
	d.contenders("Waiters", kit.Quiet.Span(d.Sym.Dot+" "), sem.Waiters, "none")
}

func (d doc) contenders(label string, sign kit.Span, all []election.SemaphoreHolder, none string) {
	if len(all) == 0 {
		d.Field(label, kit.Quiet.Span(none))
	}
	for _, h := range all {
		spans := []kit.Span{sign}
		if h.Name != "" {
			spans = append(spans, kit.Strong.Span(h.Name+" "))
		}
		if h.Node != "" {
			spans = append(spans, kit.Text.Span("on "+h.Node+" "))
		}
		spans = append(spans, kit.Quiet.Span(h.Session))
		if h.Gone {
			spans[0] = kit.Bad.Span(d.Sym.Critical + " ")
			spans = append(spans, kit.Bad.Span("  session ended"), kit.Quiet.Span(": a contender can take the slot"))
		}
		d.Field(label, spans...)
		label = ""
	}
}
