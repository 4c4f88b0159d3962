package dialog

import (
	"cmp"
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

func (d *Model) effectOn(e *election.Election) insight.Effect {
	in := d.survey.of(e.Key())
	f := insight.EffectOf(d.kind, e, in.Around, in.Likely())
	if unread := in.Around.Unread(); len(unread) > 0 && f.Refusal == "" {
		f.Warnings = append(f.Warnings, "Some data could not be read ("+strings.Join(unread, "; ")+
			"): electop may not recognise candidates or the holder's software.")
	}
	return f
}

// effectOf returns the effect on a target.
func (d *Model) effectOf(t *target, live *election.Snapshot) insight.Effect {
	if d.chosen.SessionOnly {
		return insight.EffectOfSession(t.SessionOnly, d.heldBy(t, live), d.searchedAll())
	}
	return d.effectOn(live.Find(t.ID()))
}

// addEffectsOnSessions adds the effects of a destroy on the other elections that the sessions lead. These include
// skipped targets, because the dialog shows no effects next to a skipped target.
func (d *Model) addEffectsOnSessions(live *election.Snapshot) {
	held, own := scene.Led(live.Elections), map[string]bool{}
	for _, t := range d.actionable() {
		own[t.Key] = true
	}
	for i := range d.targets {
		t := &d.targets[i]
		if t.skipped() != "" {
			continue
		}
		d.addOthers(&t.effect, slices.DeleteFunc(slices.Clone(held[t.Session]), func(e *election.Election) bool { return own[e.Key()] }))
		if !d.chosen.SessionOnly && !d.searchedAll() {
			t.effect.Warnings = append(t.effect.Warnings, insight.MayHoldMore)
		}
	}
}

// addOthers adds the effects of a destroy on the other elections of the session. If one of the keys is a Patroni
// leader key, the holder is Patroni.
func (d *Model) addOthers(f *insight.Effect, others []*election.Election) {
	var warnings []string
	about := map[string][]string{}
	for _, e := range others {
		other := d.effectOn(e)
		if d.chosen.SessionOnly && other.Kind == insight.HolderPatroni {
			f.Kind, f.Software, f.Holder = other.Kind, other.Software, other.Holder
		}
		f.Better = cmp.Or(f.Better, other.Better)
		for _, w := range other.Warnings {
			if d.chosen.SessionOnly && slices.Contains(f.Warnings, w) {
				continue
			}
			if about[w] == nil {
				warnings = append(warnings, w)
			}
			about[w] = append(about[w], scene.OneLine(e.Name, 60))
		}
	}
	for _, w := range warnings {
		names, cut := d.limited(about[w], shownNames)
		d.cutOthers = d.cutOthers || cut
		f.Warnings = append(f.Warnings, names+": "+w)
	}
}

// writeNext shows the likely next leader if the action ends only one term.
func (d *Model) writeNext(page *kit.Page) {
	if len(d.targets) != 1 || len(d.wanted) != 1 {
		return
	}
	in := d.survey.of(d.wanted[0])
	if in.Around != nil && (len(in.Candidates) > 0 || len(in.Around.Unread()) == 0) {
		page.Field("Likely next", scene.NextSpans(&scene.Scene{}, in, election.Connection{})...)
	}
}

// nextOf names the most likely next leader, for the line of a target in a list.
func (d *Model) nextOf(t *target) []kit.Span {
	in := d.survey.of(t.Key)
	if len(in.Candidates) == 0 {
		return nil
	}
	word := ", next likely "
	if in.Candidates[0].Weak {
		word = ", next perhaps "
	}
	return []kit.Span{{kit.Quiet, word + scene.NextNames(in.Candidates)[0]}}
}
