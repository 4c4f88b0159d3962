package ui

import "electop/election/insight"

// adviceDetail tells what is risky about an election: a line why, a line what to
// do about it.
func adviceDetail(d *doc, all []insight.Advice) {
	if len(all) == 0 {
		return
	}
	d.head("Advice")
	d.mark = len(d.lines)
	for _, a := range all {
		sign, why := span{roleQuiet, d.sym.idle + " "}, roleText
		if a.Urgent {
			sign, why = span{roleDelay, d.sym.urgent + " "}, roleDelay
		}
		d.beside([]span{sign}, 2, span{why, clean(a.Why)})
		d.beside(nil, 2, span{roleQuiet, d.sym.arrow + " " + clean(a.Do)})
	}
}
