package prompt

import (
	"strings"

	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/kit"
)

// Beside contains the information that the line shows next to the typed text.
type Beside struct {
	// Result describes how many rows match the filter: "3 of 9 sessions".
	Result string
	// Scope is the kind of rows to which the filter applies.
	Scope query.Scope
	// Commands are the commands with their arguments.
	Commands []keys.Row
}

// maxShown is the maximum number of options on the screen.
const maxShown = 8

// Draw draws the line, with the completions and the result at its right end.
func (m Model) Draw(p *kit.Painter, width int, complete Completer, b Beside) string {
	l := kit.NewLine(p, width)
	before, after := m.visible(width)
	l.Texts(kit.Span{kit.Accent, m.lead()}, kit.Span{kit.Strong, before + after})
	result := []kit.Span{{kit.Quiet, b.Result}}
	room := l.Room() - kit.SpansWidth(result) - 6
	right := m.hint(room, complete, b)
	if len(right) > 0 && b.Result != "" {
		right = append(right, kit.Blank(3))
	}
	if b.Result != "" {
		right = append(right, kit.Label(result...))
	}
	if n := kit.ControlsWidth(right); n > 0 && l.Room() >= n+2 {
		l.To(width - n - 1)
		l.Controls(right...)
	}
	return l.Done()
}

// hint returns the completions. A click on a completion inserts it. If there are no completions, hint returns the
// usage of commands or examples of filter words.
func (m Model) hint(room int, complete Completer, b Beside) []kit.Control {
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
		return fitting(b.usages(m.Text()), room)
	case m.Kind == Filter:
		return fitting(examples(b.Scope), room)
	}
	return nil
}

// usages returns the usage of the typed command, or of all commands if the line is empty.
func (b Beside) usages(text string) (texts []string) {
	name, _, _ := strings.Cut(text, " ")
	for _, c := range b.Commands {
		if text == "" || c.Word() == name {
			texts = append(texts, ":"+c.Command)
		}
	}
	return texts
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
func fitting(texts []string, room int) []kit.Control {
	var spans []kit.Span
	for _, text := range texts {
		if room -= kit.Width(text) + 2; room < -2 || len(spans) == maxShown {
			break
		}
		if len(spans) > 0 {
			text = "  " + text
		}
		spans = append(spans, kit.Span{kit.Quiet, text})
	}
	if len(spans) == 0 {
		return nil
	}
	return []kit.Control{kit.Label(spans...)}
}

// optionControls returns as many options as fit into room cells. The inserted option has another colour.
func optionControls(options []string, inserted, room int) []kit.Control {
	controls := []kit.Control{kit.Label(kit.Span{kit.Key, "tab"})}
	room -= 3
	from := max(0, min(inserted, len(options)-1)-1)
	for i := from; i < len(options) && len(controls) <= maxShown; i++ {
		text := "  " + sanitize.Text(shortened(options[i]))
		if room -= kit.Width(text); room < 0 {
			break
		}
		r := kit.Quiet
		if i == inserted {
			r = kit.Accent
		}
		controls = append(controls, kit.Control{Area: kit.Area{Item: kit.Row, Index: i}, Spans: []kit.Span{{r, text}}})
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
