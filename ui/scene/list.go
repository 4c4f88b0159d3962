package scene

import (
	tea "charm.land/bubbletea/v2"

	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/kit"
)

// List is a list of rows with a filter, which handles the messages of the program. The board and the Sessions view
// consist of a List, their columns and their own keys.
type List[T any] struct {
	kit.List[T]
	Keys keys.Map
	Rect kit.Rect
	// Scope selects the fields of the filter.
	Scope query.Scope
	// Refresh selects the rows that match the filter, sorts them and sets them.
	Refresh func(s *Scene)
	filter  query.Filter
}

// Filter returns the current filter.
func (l *List[T]) Filter() query.Filter { return l.filter }

// Cursor returns the ID of the row under the cursor, or "" if there are no rows.
func (l *List[T]) Cursor() string { return l.List.Cursor }

// Marks counts the marked rows that the filter shows, and those that it hides.
func (l *List[T]) Marks(*Scene) (visible, hidden int) { return l.List.Marks() }

// SetFilter shows only the rows that match a filter.
func (l *List[T]) SetFilter(text string, s *Scene) {
	l.EndRange()
	l.filter = query.Parse(text, l.Scope)
	l.Refresh(s)
}

// Handle handles a message that concerns only the list.
func (l *List[T]) Handle(msg tea.Msg, s *Scene) Action {
	effect, note := kit.Ignored, ""
	switch msg := msg.(type) {
	case Resized:
		l.Rect = msg.Rect
	case Filtered:
		l.SetFilter(msg.Text, s)
	case Unmark:
		l.EndRange()
		done := map[string]bool{}
		for _, t := range msg.Targets {
			done[t.Row()] = true
		}
		l.Unmark(func(id string) bool { return done[id] })
	case Moved:
		l.MoveTo(l.Index + msg.Step)
	case Wheeled:
		l.MoveTo(l.Index + msg.Step)
	case Clicked:
		effect, note = l.Click(msg.Area)
	case SortBy:
		effect, note = l.SortByText(msg.Text)
	case tea.KeyPressMsg:
		effect, note = l.Key(msg, listKeys(l.Keys, s))
	case Back:
		switch {
		case l.Back(false):
			return Say{} // removes the note about the range
		case !l.filter.Empty():
			l.SetFilter("", s)
		case !l.Back(true):
			return Pass{}
		}
	}
	if effect == kit.Sorted {
		l.Refresh(s)
	}
	if effect >= kit.Noted {
		return Say{Role: kit.Quiet, Text: note}
	}
	return nil
}

func listKeys(k keys.Map, s *Scene) kit.ListKeys {
	list := kit.ListKeys{
		Step: k.Step, Mark: k.Mark, MarkRange: k.MarkRange, MarkAll: k.MarkAll, Invert: k.Invert, Unmark: k.Unmark, Sort: k.Sort, Sorted: k.Reverse,
	}
	if s.Past != nil {
		list.NoMarks = "This is the past: marks are disabled. Press esc to return to now."
	}
	return list
}

// Unknown returns the action that shows an error about a text that the user typed.
func Unknown(err error) Action { return Say{Role: kit.Delay, Text: kit.Capital(err.Error()) + "."} }
