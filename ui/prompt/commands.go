package prompt

import (
	"strings"

	"github.com/sahilm/fuzzy"

	"electop/election/query"
	"electop/ui/keys"
	"electop/ui/scene"
)

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
