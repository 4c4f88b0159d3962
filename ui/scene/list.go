package scene

import (
	"electop/ui/keys"
	"electop/ui/kit"
)

// ListKeys returns the keys of a list with marks.
func ListKeys(k keys.Map, s *Scene) kit.ListKeys {
	list := kit.ListKeys{
		Step: k.Step, Mark: k.Mark, MarkRange: k.MarkRange, MarkAll: k.MarkAll, Invert: k.Invert, Unmark: k.Unmark, Sort: k.Sort, Sorted: k.Reverse,
	}
	if s.Past != nil {
		list.NoMarks = "This is the past: marks are disabled. Press esc to return to now."
	}
	return list
}

// Listed returns the action that shows the note about the effect of an input on a list.
func Listed(effect kit.Effect, note string) Action {
	if effect >= kit.Noted {
		return Say{Role: kit.Quiet, Text: note}
	}
	return nil
}

// Unknown returns the action that shows an error about a text that the user typed.
func Unknown(err error) Action { return Say{Role: kit.Delay, Text: kit.Capital(err.Error()) + "."} }
