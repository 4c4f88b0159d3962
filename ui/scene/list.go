package scene

import (
	"slices"

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
	// Select returns the rows that match a filter.
	Select func(f query.Filter, s *Scene) []T
	filter query.Filter
}

// Filter returns the current filter.
func (l *List[T]) Filter() query.Filter { return l.filter }

// Cursor returns the ID of the row under the cursor, or "" if there are no rows.
func (l *List[T]) Cursor() string { return l.List.Cursor }

// Orders lists the sort keys.
func (l *List[T]) Orders() []string { return l.Sorts }

// Fields returns the scope of the filter.
func (l *List[T]) Fields() query.Scope { return l.Scope }

// Marks counts the marked rows that the filter shows, and those that it hides.
func (l *List[T]) Marks(*Scene) (visible, hidden int) { return l.List.Marks() }

// SetFilter shows only the rows that match a filter.
func (l *List[T]) SetFilter(text string, s *Scene) {
	l.filter = query.Parse(text, l.Scope)
	l.Refresh(s)
}

// Choose requests an action on rows: those that match the filter of the command, regardless of marks and of the filter
// of the list, or else the marked rows or, without marks, the selected row. bind returns the target of a row, or why the
// row cannot be a target. noun describes possible targets.
func (l *List[T]) Choose(c Choose, noun string, s *Scene, bind func(T) (t Target, refusal string)) Action {
	refuse := func(reason string) Action { return Say{Role: kit.Delay, Text: reason} }
	if reason := s.Refusal(c.Kind); reason != "" {
		return refuse(reason)
	}
	ask, reason := Ask{Kind: c.Kind}, ""
	rows, hidden := l.Marked()
	if c.Filter != "" {
		f := query.Parse(c.Filter, l.Scope)
		if err := f.Check(); err != nil {
			return Unknown(err)
		}
		rows, hidden = l.Select(f, s), nil
	} else if len(rows)+len(hidden) == 0 {
		rows = l.Rows[min(l.Index, len(l.Rows)):min(l.Index+1, len(l.Rows))]
	}
	for _, r := range rows {
		t, why := bind(r)
		switch {
		case why == "":
			ask.Targets = append(ask.Targets, t)
		case c.Filter == "":
			ask.Leaderless = append(ask.Leaderless, t.Label())
		}
		reason = why
	}
	if len(hidden) > 0 {
		for _, r := range l.Select(query.Filter{}, s) {
			if _, out := slices.BinarySearch(hidden, l.ID(r)); out {
				t, _ := bind(r)
				ask.Hidden = append(ask.Hidden, t.Title())
			}
		}
	}
	switch {
	case len(ask.Targets) > 0:
		return ask
	case c.Filter != "":
		return refuse("No " + noun + " matches " + OneLine(c.Filter, 60) + ".")
	case len(hidden) > 0:
		return refuse(AllHidden)
	case len(rows) == 1:
		return refuse(reason)
	}
	return refuse("There is nothing to " + string(c.Kind) + ".")
}

// Handle handles a message that concerns only the list.
func (l *List[T]) Handle(msg tea.Msg, s *Scene) Action {
	sorts, note := false, ""
	switch msg := msg.(type) {
	case Resized:
		l.Rect = msg.Rect
	case Filtered:
		l.SetFilter(msg.Text, s)
	case Unmark:
		done := map[string]bool{}
		for _, t := range msg.Targets {
			done[t.Row()] = true
		}
		l.Unmark(func(id string) bool { return done[id] })
	case Wheeled:
		l.MoveTo(l.Index + msg.Step)
	case Clicked:
		sorts, note = l.Click(msg.Area)
	case SortBy:
		sorts, note = l.SortByText(msg.Text)
	case tea.KeyPressMsg:
		sorts, note = l.Key(msg, listKeys(l.Keys, s))
	case Back:
		switch {
		case !l.filter.Empty():
			l.SetFilter("", s)
		case !l.HasMarks():
			return Pass{}
		default:
			l.Unmark(func(string) bool { return true })
		}
	}
	if sorts {
		l.Refresh(s)
	}
	if note != "" {
		return Say{Role: kit.Quiet, Text: note}
	}
	return nil
}

func listKeys(k keys.Map, s *Scene) kit.ListKeys {
	list := kit.ListKeys{
		Step: k.Step, Mark: k.Mark, MarkAll: k.MarkAll, Invert: k.Invert, Unmark: k.Unmark, Sort: k.Sort, Sorted: k.Reverse,
	}
	if s.Past != nil {
		list.NoMarks = "This is the past: marks are disabled. Press esc to return to now."
	}
	return list
}

// Unknown returns the action that shows an error about a text that the user typed.
func Unknown(err error) Action { return Say{Role: kit.Delay, Text: kit.Capital(err.Error()) + "."} }
