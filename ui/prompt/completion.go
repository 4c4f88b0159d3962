package prompt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"electop/election"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/ui/keys"
	"electop/ui/scene"
)

// cycle contains the options that tab inserts one after the other. It is empty before the first tab.
type cycle struct {
	options []string
	at      int
	// start and end are the bounds of the replaced part of the line, in runes.
	start, end int
}

// complete inserts the first option. A further call inserts the next option, or the previous option if step is -1. If
// there was only one option, a further call completes the new text.
func (m *Model) complete(step int) {
	if n := len(m.cycle.options); n > 1 {
		m.show((m.cycle.at + step + n) % n)
		return
	}
	m.cycle = cycle{}
	m.Pick(0)
}

// Pick inserts the option that the line shows at this index.
func (m *Model) Pick(option int) {
	if len(m.cycle.options) < 2 {
		start, options := m.Complete(m.before())
		m.cycle = cycle{options: options, start: utf8.RuneCountInString(m.before()[:start]), end: m.At}
	}
	if option < len(m.cycle.options) {
		m.show(option)
	}
}

// show replaces the completed part of the line with an option.
func (m *Model) show(option int) {
	c := &m.cycle
	m.Text = slices.Delete(m.Text, c.start, c.end)
	m.At = c.start
	m.Insert(c.options[option])
	c.at, c.end = option, m.At
}

// Values returns the values of a field on the board, sorted. It omits values that the user cannot type.
func Values(s *scene.Scene, field string) []string {
	all := make([]string, 0, len(s.Shown.Elections))
	session := func(ses *election.Session) string {
		return map[string]string{"node": ses.Node, "session": ses.Name}[field]
	}
	for _, e := range s.Shown.Elections {
		value := ""
		switch field {
		case "election":
			value = e.Name
		case "leader":
			value = e.Leader
		case "key":
			value = e.Key()
		case "dc":
			value = e.Datacenter
		default:
			if e.Session != nil {
				value = session(e.Session)
			}
		}
		all = append(all, value)
	}
	if list := s.Shown.SessionList; list != nil {
		all = append(all, election.Map(list.Sessions, session)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(text string) bool {
		return text == "" || strings.TrimSpace(text) != text || sanitize.Text(text) != text
	})
}

// CompleteFilter completes a filter.
func CompleteFilter(s *scene.Scene, scope query.Scope, text string) (int, []string) {
	return query.Complete(text, scope, func(field string) []string { return Values(s, field) })
}

// First completes the first word of a line with commands, elections and nodes. It adds a space after a command that
// takes an argument.
func First(commands []keys.Command, s *scene.Scene, text string) []string {
	var labels, lines []string
	add := func(label, line string) { labels, lines = append(labels, label), append(lines, line) }
	for _, c := range commands {
		line := c.Word()
		if line != c.Usage {
			line += " "
		}
		add(c.Word(), line)
	}
	if text == "" {
		return lines
	}
	for _, name := range Values(s, "election") {
		add(name, "go "+name)
	}
	for _, node := range Values(s, "node") {
		add(node, "filter node:"+query.Quote(node))
	}
	return find(text, labels, lines)
}

// maxOptions is the maximum number of completions.
const maxOptions = 100

// Find returns the values that match a text, best match first. If the text is empty, all values match.
func Find(text string, values []string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return values[:min(len(values), maxOptions)]
	}
	return find(text, values, values)
}

// find returns the lines whose labels contain the characters of text in the order of text, best match first.
func find(text string, labels, lines []string) (found []string) {
	for _, m := range fuzzy.Find(text, labels) {
		if line := lines[m.Index]; line != text && len(found) < maxOptions {
			found = append(found, line)
		}
	}
	return found
}
