package scene

import (
	"slices"

	"electop/election"
	"electop/ui/kit"
)

// Refusal returns the reason why an action is not possible, or "" if the action is possible.
func (s *Scene) Refusal(kind election.ActionKind) string {
	word := string(kind)
	switch c := s.Live.Connection; {
	case s.Past != nil:
		return "This is the past: " + word + " is disabled. Press esc to return to now."
	case s.ReadOnly:
		return "Read-only: " + word + " is disabled (--read-only)."
	case c.State == election.Lost:
		return s.StaleText()
	case c.State != election.Live:
		return "Unavailable until electop is connected to " + s.Store() + "."
	case s.Live.Store.Leases && kind == election.ActionDrain:
		return s.Store() + " does not record nodes: there is nothing to drain."
	}
	return ""
}

// AskRefusal is [Scene.Refusal] for the targets of an action, which is possible in only one datacenter at a time.
func (s *Scene) AskRefusal(a Ask) string {
	datacenter := a.Targets[0].Datacenter
	if i := slices.IndexFunc(a.Targets, func(t Target) bool { return t.Datacenter != datacenter }); i >= 0 {
		of := Short(datacenter)
		return "The chosen rows are in " + of + ", " + Short(a.Targets[i].Datacenter) + ". An action is possible in only one datacenter at a time: select rows of one datacenter, for example with the filter dc:" + of + "."
	}
	return s.In(datacenter).Refusal(a.Kind)
}

// Refuse shows why something was not done.
func Refuse(text string) Action { return Say{Role: kit.Delay, Text: text} }

// Covered is the response to a command about a row of the table of elections, if another view covers the table.
const Covered = "Unavailable in this view: select an election in view 1"

// allHidden refuses an action if the filter hides all marked rows.
const allHidden = "The filter hides all marked rows: press esc to clear the filter, and again to remove the marks."
