package prompt

import (
	"slices"
	"strings"

	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/kit"
)

// maxShown is the maximum number of options on the screen.
const maxShown = 8

// Draw draws the line, with the completions and the result at its right end. The result describes how many rows match the
// filter: "3 of 9 sessions".
func (m *Model) Draw(p *kit.Painter, width int, result string) string {
	l := kit.NewLine(p, width)
	before, after := m.visible(width)
	l.Texts(kit.Accent.Span(m.lead()), kit.Strong.Span(before+after))
	right := m.hint(l.Room() - kit.Width(result) - 6)
	if len(right) > 0 && result != "" {
		right = append(right, kit.Blank(3))
	}
	right = append(right, kit.Label(kit.Quiet.Span(result)))
	if n := kit.ControlsWidth(right); n > 0 && l.Room() >= n+2 {
		l.To(width - n - 1)
		l.Controls(right...)
	}
	return l.Done()
}

// hint returns the completions. A click on a completion inserts it. If there are no completions, hint returns the
// usage of commands or examples of filter words.
func (m *Model) hint(room int) []kit.Control {
	if room < 8 {
		return nil
	}
	if len(m.cycle.options) > 1 {
		return optionControls(m.cycle.options, m.cycle.at, room)
	}
	start, options := m.Complete(m.before())
	if typed := strings.TrimSpace(m.before()[start:]); len(options) > 0 && (typed != "" || m.Kind == Command && start > 0) {
		return optionControls(options, -1, room)
	}
	var texts []string
	if m.Kind == Filter {
		texts = []string{"text", "!text", "/regex/"}
		for _, f := range query.FieldsOf(m.Scope) {
			texts = append(texts, f.ExampleIn(m.Scope))
		}
	}
	for _, c := range m.Commands {
		if name, _, _ := strings.Cut(m.String(), " "); m.Kind == Command && (name == "" || c.Word() == name) {
			texts = append(texts, ":"+c.Usage)
		}
	}
	var controls []kit.Control
	for i, text := range texts {
		if i > 0 {
			text = "  " + text
		}
		controls = append(controls, kit.Label(kit.Quiet.Span(text)))
	}
	return fitting(controls, room)
}

// fitting returns as many of the first controls as fit into room cells, at most maxShown.
func fitting(controls []kit.Control, room int) []kit.Control {
	return kit.Fitting(controls[:min(len(controls), maxShown)], room, 0)
}

// optionControls returns as many options as fit into room cells. The inserted option has another colour.
func optionControls(options []string, inserted, room int) []kit.Control {
	var controls []kit.Control
	for i := max(0, inserted-1); i < len(options); i++ {
		r := kit.Quiet
		if i == inserted {
			r = kit.Accent
		}
		text := options[i]
		if field, value, _ := strings.Cut(text, ":"); value != "" && !strings.Contains(field, " ") {
			text = value // the user has already typed the name of the field
		}
		controls = append(controls, kit.Control{Area: kit.Area{Item: kit.Row, Index: i}, Spans: r.Spans("  " + sanitize.Text(text))})
	}
	if controls = fitting(controls, room-3); len(controls) == 0 {
		return nil
	}
	return slices.Insert(controls, 0, kit.Label(kit.Key.Span("tab")))
}
