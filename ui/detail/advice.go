package detail

import (
	"slices"

	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

// adviceDetail writes the risks of an election, each with its remedy. It omits the failure of a leader if the text
// above contains this failure and the fix.
func adviceDetail(d *kit.Page, in *scene.Assessment) {
	all := in.Advice
	if in.Fix != nil {
		all = slices.DeleteFunc(slices.Clone(all), func(a insight.Advice) bool { return a.Code == insight.LeaderFailed })
	}
	if len(all) == 0 {
		return
	}
	d.Head("Advice")
	d.Mark = len(d.Lines)
	for _, a := range all {
		sign, why := kit.Span{kit.Quiet, d.Sym.Idle + " "}, kit.Text
		if a.Urgent {
			sign, why = kit.Span{kit.Delay, d.Sym.Urgent + " "}, kit.Delay
		}
		d.Beside([]kit.Span{sign}, 2, kit.Span{why, scene.Clean(a.Why)})
		d.Beside(nil, 2, kit.Span{kit.Quiet, d.Sym.Arrow + " " + scene.Clean(a.Do)})
	}
}
