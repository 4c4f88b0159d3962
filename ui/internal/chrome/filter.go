package chrome

import (
	"strings"

	"electop/election/query"
	"electop/ui/internal/term"
)

// filterLines explains the words of a filter.
func filterLines(width int) [][]term.Span {
	var lines [][]term.Span
	add := func(what, text string) {
		label := ""
		if len(lines) == 0 {
			label = "Filter"
		}
		for _, part := range term.Wrap(text, max(20, width-labelWidth-filterWidth)) {
			lines = append(lines, []term.Span{{term.Head, term.PadTo(label, labelWidth)}, {term.Key, term.PadTo(what, filterWidth)}, {term.Text, part}})
			label, what = "", ""
		}
	}
	add("text", "in names, keys, leaders and nodes; all words must match; quotes make any text plain")
	add("!text", "the inverse of any word")
	add("/regex/", "ignores case unless it has upper case")
	for _, f := range query.Fields() {
		add(f.Example, f.Means+inViews(f))
	}
	return lines
}

// filterWidth is the width of the examples, in cells.
const filterWidth = 22

// inViews names the views of a field that not all views have.
func inViews(f query.Field) string {
	if len(f.Scopes) == 3 {
		return ""
	}
	var names []string
	for _, s := range f.Scopes {
		names = append(names, s.String())
	}
	return " (" + strings.Join(names, ", ") + ")"
}
