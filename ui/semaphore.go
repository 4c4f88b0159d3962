package ui

import (
	"strconv"

	"electop/election"
)

// semaphoreDetail tells of a key that has several holders by design.
func semaphoreDetail(d *doc, s *scene, e *election.Election) {
	sem := s.insight(e).semaphore
	if sem == nil {
		d.para(roleDelay, "A semaphore, which has holders and no leader; its value cannot be read.")
		valueDetail(d, e)
		return
	}
	spans := []span{{roleStrong, strconv.Itoa(len(sem.Holders)) + " of " + plural(sem.Limit, "slot") + " taken"}}
	if gone := len(sem.Holders) - sem.Live(); gone > 0 {
		spans = append(spans, span{roleDelay, "  " + strconv.Itoa(gone) + " by a holder that is gone"})
	}
	if sem.ContendersKnown {
		spans = append(spans, span{roleQuiet, "  " + strconv.Itoa(len(sem.Waiters)) + " waiting"})
	}
	d.field("Semaphore", spans...)
	d.field("", span{roleQuiet, "it has up to " + plural(sem.Limit, "holder") + " and no single leader"})
	semaphoreLists(d, sem)
}

// semaphoreLists lists holders and waiters.
func semaphoreLists(d *doc, sem *election.Semaphore) {
	if sem == nil {
		return
	}
	contenders(d, "Holders", span{roleLed, d.sym.led + " "}, sem.Holders, "no slot is taken")
	if !sem.ContendersKnown {
		d.field("Waiters", span{roleQuiet, "not known, nor which holders are gone: the contenders' keys were not read"})
		return
	}
	contenders(d, "Waiters", span{roleQuiet, d.sym.idle + " "}, sem.Waiters, "none")
}

func contenders(d *doc, label string, sign span, all []election.SemaphoreHolder, none string) {
	if len(all) == 0 {
		d.field(label, span{roleQuiet, none})
	}
	for _, h := range all {
		spans := []span{sign}
		if h.Gone {
			spans[0] = span{roleBad, d.sym.critical + " "}
		}
		if h.Name != "" {
			spans = append(spans, span{roleStrong, h.Name + " "})
		}
		if h.Node != "" {
			spans = append(spans, span{roleText, "on " + h.Node + " "})
		}
		spans = append(spans, span{roleQuiet, h.Session})
		if h.Gone {
			spans = append(spans, span{roleBad, "  gone"}, span{roleQuiet, ": its slot is free for the next"})
		}
		d.field(label, spans...)
		label = ""
	}
}
