package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// commandNames is what the command line knows, for the message about what it
// does not.
const commandNames = ":q  :1  :2  :3  :sort KEY [reverse]  :filter TEXT  :go NAME  :pause  :wide  :release  :destroy  :help"

// command runs a line that was typed after ":".
func (m *Model) command(text string) tea.Cmd {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "q", "quit":
		return m.quit()
	case "1", "elections":
		m.show(viewElections)
	case "2", "events":
		m.show(viewEvents)
	case "3", "sessions":
		m.show(viewSessions)
	case "sort":
		m.sortCommand(rest)
	case "filter", "f":
		m.setFilter(rest)
	case "go":
		m.goCommand(rest)
	case "pause":
		m.setPaused(!m.paused)
	case "wide":
		m.toggleWide()
	case "release":
		m.openDialog(election.ActionRelease)
	case "destroy":
		m.askDestroy()
	case "help":
		m.mode, m.help = modeHelp, &helpPage{}
	default:
		m.say(term.Delay, "No command :"+scene.OneLine(word, 30)+". There are "+commandNames)
	}
	return nil
}

func (m *Model) toggleWide() {
	if m.view == viewSessions {
		m.toSessions(scene.Widen{})
		return
	}
	m.table.wide = !m.table.wide
}

// askDestroy opens the dialog that destroys what is chosen in the view.
func (m *Model) askDestroy() {
	if m.view == viewSessions {
		m.toSessions(scene.Choose{Kind: election.ActionDestroy})
		return
	}
	m.openDialog(election.ActionDestroy)
}

func (m *Model) sortCommand(rest string) {
	word, direction, _ := strings.Cut(rest, " ")
	word = strings.ToLower(word)
	if m.view == viewSessions {
		if !isReverse(strings.TrimSpace(direction)) {
			word = ""
		}
		m.toSessions(scene.SortBy{Word: word, Reverse: direction != ""})
		return
	}
	k, ok := sortKeyNamed(word)
	if !ok || direction != "" && !isReverse(strings.TrimSpace(direction)) {
		m.say(term.Delay, ":sort takes election, state, leader, node, for, term, checks or changes, and reverse after it.")
		return
	}
	m.setSort(sorting{key: k, reverse: direction != ""})
}

// isReverse reports a beginning of the word reverse.
func isReverse(word string) bool {
	const whole = "reverse"
	return len(word) <= len(whole) && whole[:len(word)] == word
}

// goCommand puts the cursor on an election by its name or key.
func (m *Model) goCommand(name string) {
	found := m.shown.Named(name)
	switch len(found) {
	case 0:
		m.say(term.Delay, "No election is named "+scene.OneLine(name, 60)+".")
	case 1:
		m.openElection(found[0].ID())
	default:
		m.say(term.Delay, scene.OneLine(name, 60)+" names "+term.Plural(len(found), "election")+": give the full key.")
	}
}
