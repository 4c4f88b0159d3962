package prompt

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"electop/election/query"
)

// Argument is the kind of argument of a command.
type Argument uint8

// The kinds of arguments. Nothing is for a command without an argument.
const (
	Nothing Argument = iota
	AnOrder
	AFilter
	AnElection
	ANode
	ATime
	APeriod
	AWatched
	APattern
	ATheme
	AContext
)

// Usage describes a command. Completion, error messages and help pages use it.
type Usage struct {
	Name, Argument string
	Takes          Argument
	About          string
}

func (c Usage) String() string { return strings.TrimSpace(":" + c.Name + " " + c.Argument) }

// Commands lists all commands.
func Commands() []Usage {
	return []Usage{
		{Name: "q", About: "quit"},
		{Name: "1", About: "show the elections"},
		{Name: "2", About: "show the events"},
		{Name: "3", About: "show the sessions"},
		{"sort", "KEY [reverse]", AnOrder, "sort the list"},
		{"filter", "TEXT", AFilter, "filter the list, like /"},
		{"go", "NAME", AnElection, "select an election by name or key"},
		{"at", "TIME", ATime, "show the board at a past time, or now"},
		{"since", "24h", APeriod, "show the events of this period"},
		{"report", "[SINCE]", APeriod, "write an incident report about the election or the listed events"},
		{Name: "history", About: "show the history of the election"},
		{Name: "pause", About: "pause or resume the board"},
		{"release", "[FILTER]", AFilter, "release the selected, marked or matching elections"},
		{"destroy", "[FILTER]", AFilter, "like :release, but destroy the sessions"},
		{"drain", "[NODE]", ANode, "move every leader off a node"},
		{Name: "fix", About: "show why the election has no leader, and the fix"},
		{Name: "discover", About: "find all locks in the store"},
		{"watch", "PATTERN", APattern, "also watch the keys that match this pattern"},
		{"unwatch", "PATTERN", AWatched, "remove a watched pattern"},
		{Name: "doctor", About: "show what this address and token can read and do"},
		{"theme", "NAME", ATheme, "change the colours"},
		{"ctx", "NAME", AContext, "connect to another configured cluster"},
		{Name: "help", About: "show the keys, symbols and commands"},
	}
}

// CommandUsages lists all commands with their arguments.
func CommandUsages() []string {
	var texts []string
	for _, c := range Commands() {
		texts = append(texts, c.String())
	}
	return texts
}

// usages returns the usage of the typed command, or of all commands if the line is empty.
func usages(text string) []string {
	if text == "" {
		return CommandUsages()
	}
	name, _, _ := strings.Cut(text, " ")
	for _, c := range Commands() {
		if c.Name == name {
			return []string{c.String()}
		}
	}
	return nil
}

// Names contains the values with which a command can be completed.
type Names struct {
	// Lists contains the possible values of the arguments whose values do not depend on the elections.
	Lists map[Argument][]string
	// Of returns the values of a field, sorted.
	Of func(field string) []string
	// Filter completes a filter of the current view. ElectionFilter completes a filter of elections.
	Filter, ElectionFilter Completer
}

// CompleteCommand returns a Completer for commands. It completes the first word with commands, elections and nodes,
// and the rest with the values of the argument.
func CompleteCommand(n Names) Completer {
	return func(text string) (start int, options []string) {
		name, argument, found := strings.Cut(text, " ")
		if !found {
			return 0, n.first(text)
		}
		for _, c := range Commands() {
			if c.Name == name {
				start, options = n.argument(c, argument)
				return len(name) + 1 + start, options
			}
		}
		return 0, nil
	}
}

func (n Names) argument(c Usage, text string) (start int, options []string) {
	switch c.Takes {
	case AFilter:
		if c.Name == "release" {
			return n.ElectionFilter(text)
		}
		return n.Filter(text)
	case AnElection:
		return 0, find(text, n.Of("election"))
	case ANode:
		return 0, find(text, n.Of("node"))
	case ATime:
		return 0, find(text, []string{"-10m", "-1h", "-24h", "now"})
	case APeriod:
		return 0, find(text, []string{"15m", "1h", "24h", "7d"})
	case AnOrder:
		if key, rest, found := strings.Cut(text, " "); found && slices.Contains(n.Lists[AnOrder], key) {
			return len(key) + 1, find(rest, []string{"reverse"})
		}
		return 0, find(text, n.Lists[AnOrder])
	default:
		return 0, find(text, n.Lists[c.Takes])
	}
}

// first completes the first word. It adds a space after a command that takes an argument.
func (n Names) first(text string) []string {
	var elections, nodes []string
	if text != "" {
		elections, nodes = n.Of("election"), n.Of("node")
	}
	size := len(Commands()) + len(elections) + len(nodes)
	labels, lines := make([]string, 0, size), make([]string, 0, size)
	add := func(label, line string) { labels, lines = append(labels, label), append(lines, line) }
	for _, c := range Commands() {
		line := c.Name
		if c.Takes != Nothing {
			line += " "
		}
		add(c.Name, line)
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

// find returns the values that match a text, best match first. If the text is empty, all values match.
func find(text string, values []string) []string {
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
