package results

import (
	"sync/atomic"

	"electop/election/insight"
	"electop/ui/kit"
)

// Running describes the writes in progress. It returns "" if there are none.
func (l Log) Running() string {
	n, noun := 0, ""
	for _, b := range l.batches {
		for _, group := range b.groups() { // each group is one write
			a := group[0]
			if !a.done.IsZero() {
				continue
			}
			if n++; noun == "" {
				noun = string(a.Action)
			}
			if noun != string(a.Action) {
				noun = "action"
			}
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + noun + " is still running; press the key again to quit."
	}
	return kit.Plural(n, noun) + " are still running; press the key again to quit."
}

// Unfinished is a confirmed action without a final outcome.
type Unfinished struct {
	// Name is the sanitized name of the election or session.
	Name    string
	Outcome insight.Outcome
}

// Unfinished lists the actions without a final outcome. Call it after the program has ended. After the call, no
// further action starts.
func (l Log) Unfinished() []Unfinished {
	var all []Unfinished
	withdrawn := map[*atomic.Bool]bool{}
	for _, b := range l.batches {
		for _, a := range b {
			if a.over {
				continue
			}
			if a.drain != nil {
				all = append(all, Unfinished{Name: a.name, Outcome: a.unfinished()})
				continue
			}
			if a.done.IsZero() && a.claimed.CompareAndSwap(false, true) {
				withdrawn[a.claimed] = true
			}
			o := a.Outcome
			switch {
			case !a.done.IsZero():
			case withdrawn[a.claimed]:
				o.Kind, o.Reason = insight.OutcomeFailed, "not started, because the dashboard ended"
			default:
				o.Kind, o.Reason = insight.OutcomeUnknown, "the dashboard ended before Consul responded; the action may have been applied"
			}
			all = append(all, Unfinished{Name: a.name, Outcome: o})
		}
	}
	return all
}
