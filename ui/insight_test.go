package ui

import (
	"slices"
	"testing"
	"time"

	"electop/ui/scene"
)

// After a change of another election, an assessment is computed again only after an interval, because it takes 20 ms
// with 10,000 elections.
func TestChangesOfOtherElectionsCountLater(t *testing.T) {
	s := studiedSnapshot("service/mail/leader")
	d := drive(t, s, 120, 36, studies)
	d.text()
	first := d.m.out.insights.In
	other := *s
	other.Elections = slices.Clone(s.Elections)
	changed := *s.Elections[0]
	changed.Term++
	other.Elections[0] = &changed
	d.now = d.now.Add(scene.InsightAge / 2)
	d.send(snapshotMsg{&other})
	if d.text(); d.m.out.insights.In != first {
		t.Error("the assessment was computed again immediately")
	}
	d.now = d.now.Add(scene.InsightAge)
	d.send(tickMsg(d.now))
	if d.text(); d.m.out.insights.In == first {
		t.Error("the assessment was not computed after a change")
	}
}

func TestAssessmentIsComputedOnce(t *testing.T) {
	d := drive(t, studiedSnapshot("service/mail/leader"), 120, 36, studies)
	d.text()
	first := d.m.out.insights.In
	d.now = d.now.Add(time.Second)
	d.send(tickMsg(d.now))
	if d.text(); d.m.out.insights.In != first {
		t.Error("the assessment was computed again without a change")
	}
	d.now = d.now.Add(scene.AdviceAge)
	d.send(tickMsg(d.now))
	if d.text(); d.m.out.insights.In == first {
		t.Error("the assessment was not computed again after its lifetime")
	}
}
