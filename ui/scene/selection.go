package scene

import (
	"maps"
	"slices"

	"electop/election/query"
	"electop/ui/kit"
)

// Choose requests an action on rows: those that match the filter of the command, regardless of marks and of the filter
// of the list, or else the marked rows or, without marks, the selected row. bind returns the target of a row, or why the
// row cannot be a target. noun describes possible targets.
func (l *List[T]) Choose(c Choose, noun string, s *Scene, bind func(T) (t Target, refusal string)) Action {
	if reason := s.Refusal(c.Kind); reason != "" {
		return Refuse(reason)
	}
	ask, reason := Ask{Kind: c.Kind}, ""
	rows, hidden := l.Marked()
	if c.Filter != "" {
		f := query.Parse(c.Filter, l.Scope)
		if err := f.Check(); err != nil {
			return Refuse(kit.Capital(err.Error()) + ".")
		}
		rows, hidden = l.Select(f, s), nil
	} else if len(rows)+len(hidden) == 0 {
		rows = l.Rows[l.Index:min(l.Index+1, len(l.Rows))]
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
		return Refuse("No " + noun + " matches " + Short(c.Filter) + ".")
	case len(hidden) > 0:
		return Refuse(allHidden)
	case len(rows) == 1:
		return Refuse(reason)
	}
	return Refuse("There is nothing to " + string(c.Kind) + ".")
}

func (l *List[T]) mark(rows []T, on bool) {
	if l.marks == nil {
		l.marks = map[string]bool{}
	}
	for _, row := range rows {
		if id := l.ID(row); on {
			l.marks[id] = true
		} else {
			delete(l.marks, id)
		}
	}
	l.count()
}

// Unmark removes marks.
func (l *List[T]) Unmark(gone func(id string) bool) {
	maps.DeleteFunc(l.marks, func(id string, _ bool) bool { return gone(id) })
	l.count()
}

func (l *List[T]) count() {
	l.shown = 0
	for i := 0; i < len(l.Rows) && len(l.marks) > 0; i++ {
		if l.marks[l.ID(l.Rows[i])] {
			l.shown++
		}
	}
}

// Marks counts the marked rows, and the marks of rows that are not listed.
func (l *ListState) Marks() (visible, hidden int) { return l.shown, len(l.marks) - l.shown }

// Marked returns the marked rows, and the sorted IDs of marks whose rows are not listed.
func (l *List[T]) Marked() (visible []T, hidden []string) {
	if len(l.marks) == 0 {
		return nil, nil
	}
	out := maps.Clone(l.marks)
	for _, row := range l.Rows {
		if id := l.ID(row); out[id] {
			visible = append(visible, row)
			delete(out, id)
		}
	}
	return visible, slices.Sorted(maps.Keys(out))
}
