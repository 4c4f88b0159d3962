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
func First(commands []keys.Row, s *scene.Scene, text string) []string {
	var elections, nodes []string
	if text != "" {
		elections, nodes = Values(s, "election"), Values(s, "node")
	}
	size := len(commands) + len(elections) + len(nodes)
	labels, lines := make([]string, 0, size), make([]string, 0, size)
	add := func(label, line string) { labels, lines = append(labels, label), append(lines, line) }
	for _, c := range commands {
		word, argument, _ := strings.Cut(c.Command, " ")
		line := word
		if argument != "" {
			line += " "
		}
		add(word, line)
	}
	for _, name := range elections {
		add(name, "go "+name)
	}
	for _, node := range nodes {
		add(node, "filter node:"+query.Quote(node))
	}
	if text == "" {
		return lines
	}
	var options []string
	for _, i := range ranking(text, labels) {
		if lines[i] != text {
			options = append(options, lines[i])
		}
	}
	return options
}

// maxOptions is the maximum number of completions.
const maxOptions = 100

// Find returns the values that match a text, best match first. If the text is empty, all values match.
func Find(text string, values []string) []string {
	if text = strings.TrimSpace(text); text == "" {
		return values[:min(len(values), maxOptions)]
	}
	var found []string
	for _, i := range ranking(text, values) {
		if values[i] != text {
			found = append(found, values[i])
		}
	}
	return found
}

// ranking returns the indexes of the values that contain the characters of text in the order of text, best match first.
func ranking(text string, values []string) []int {
	matches := fuzzy.Find(text, values)
	indexes := make([]int, 0, min(len(matches), maxOptions))
	for _, m := range matches[:min(len(matches), maxOptions)] {
		indexes = append(indexes, m.Index)
	}
	return indexes
}
