package prompt

import (
	"strings"

	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/internal/term"
)

// Beside contains the information that the line shows next to the typed text.
type Beside struct {
	// Result describes how many rows match the filter: "3 of 9 sessions".
	Result string
	// Scope is the kind of rows to which the filter applies.
	Scope query.Scope
}

// maxShown is the maximum number of options on the screen.
const maxShown = 8

// Draw draws the line, with the completions and the result at its right end.
func (m Model) Draw(p *term.Painter, width int, complete Completer, b Beside) string {
	l := term.NewLine(p, width)
	before, after := m.visible(width)
	l.Texts(term.Span{term.Accent, m.lead()}, term.Span{term.Strong, before + after})
	result := []term.Span{{term.Quiet, b.Result}}
	room := l.Room() - term.SpansWidth(result) - 6
	right := m.hint(room, complete, b)
	if len(right) > 0 && b.Result != "" {
		right = append(right, term.Blank(3))
	}
	if b.Result != "" {
		right = append(right, term.Label(result...))
	}
	if n := term.ControlsWidth(right); n > 0 && l.Room() >= n+2 {
		l.To(width - n - 1)
		l.Controls(right...)
	}
	return l.Done()
}

// hint returns the completions. A click on a completion inserts it. If there are no completions, hint returns the
// usage of commands or examples of filter words.
func (m Model) hint(room int, complete Completer, b Beside) []term.Control {
	if room < 8 {
		return nil
	}
	start, options := 0, m.cycle.options
	if len(options) < 2 {
		start, options = complete(m.before())
	}
	switch typed := strings.TrimSpace(m.before()[min(start, len(m.before())):]); {
	case len(m.cycle.options) > 1:
		return optionControls(options, m.cycle.at, room)
	case len(options) > 0 && (typed != "" || m.Kind == Command && start > 0):
		return optionControls(options, -1, room)
	case m.Kind == Command:
		return fitting(usages(m.Text()), room)
	case m.Kind == Filter:
		return fitting(examples(b.Scope), room)
	}
	return nil
}

// examples returns one example for each form of a filter word.
func examples(s query.Scope) []string {
	all := []string{"text", "!text", "/regex/"}
	for _, f := range query.FieldsOf(s) {
		all = append(all, f.ExampleIn(s))
	}
	return all
}

// fitting returns as many of the first texts as fit into room cells, at most maxShown.
func fitting(texts []string, room int) []term.Control {
	var spans []term.Span
	for _, text := range texts {
		if room -= term.Width(text) + 2; room < -2 || len(spans) == maxShown {
			break
		}
		if len(spans) > 0 {
			text = "  " + text
		}
		spans = append(spans, term.Span{term.Quiet, text})
	}
	if len(spans) == 0 {
		return nil
	}
	return []term.Control{term.Label(spans...)}
}

// optionControls returns as many options as fit into room cells. The inserted option has another colour.
func optionControls(options []string, inserted, room int) []term.Control {
	controls := []term.Control{term.Label(term.Span{term.Key, "tab"})}
	room -= 3
	from := max(0, min(inserted, len(options)-1)-1)
	for i := from; i < len(options) && len(controls) <= maxShown; i++ {
		text := "  " + sanitize.Text(shortened(options[i]))
		if room -= term.Width(text); room < 0 {
			break
		}
		r := term.Quiet
		if i == inserted {
			r = term.Accent
		}
		controls = append(controls, term.Control{Area: term.Area{Item: term.Row, Index: i}, Spans: []term.Span{{r, text}}})
	}
	if len(controls) == 1 {
		return nil
	}
	return controls
}

// shortened returns an option without the field name, because the user has already typed this name.
func shortened(option string) string {
	field, value, found := strings.Cut(option, ":")
	if !found || value == "" || strings.Contains(field, " ") {
		return option
	}
	return value
}
