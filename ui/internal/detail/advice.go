package detail

import (
	"slices"

	"electop/election/insight"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// adviceDetail writes the risks of an election, each with its remedy. It omits the failure of a leader if the text
// above contains this failure and the fix.
func adviceDetail(d *term.Page, in *scene.Assessment) {
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
		sign, why := term.Span{term.Quiet, d.Sym.Idle + " "}, term.Text
		if a.Urgent {
			sign, why = term.Span{term.Delay, d.Sym.Urgent + " "}, term.Delay
		}
		d.Beside([]term.Span{sign}, 2, term.Span{why, scene.Clean(a.Why)})
		d.Beside(nil, 2, term.Span{term.Quiet, d.Sym.Arrow + " " + scene.Clean(a.Do)})
	}
}
