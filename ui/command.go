package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/past"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// commandNames lists the commands for the error message of an unknown one.
const commandNames = ":q  :1  :2  :3  :sort KEY [reverse]  :filter TEXT  :go NAME  :at TIME  :since 24h  :report [SINCE]  :pause  :wide  :release [FILTER]  :destroy [FILTER]  :drain [NODE]  :help"

// command runs a line typed after ":".
func (m *Model) command(text string) tea.Cmd {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "q", "quit":
		return m.quit()
	case "1", "elections":
		return m.show(viewElections)
	case "2", "events":
		return m.show(viewEvents)
	case "3", "sessions":
		return m.show(viewSessions)
	case "sort":
		return m.toTable(sortBy(rest))
	case "filter", "f":
		return m.toView(scene.Filtered{Text: rest})
	case "go":
		return m.goTo(rest)
	case "since":
		return m.do(past.ShowSince(rest, m.scene.Now))
	case "report":
		if m.focus.view == viewEvents && rest == "" {
			return send(m, &m.events, scene.Report{})
		}
		return m.do(past.ReportOn(m.scene.Selected, rest, m.scene.Now))
	case "at":
		return m.do(m.out.travel.Jump(rest, m.scene, m.board.Window()))
	case "pause":
		return m.pause(!m.feed.paused)
	case "wide":
		return m.toTable(scene.Widen{})
	case "release":
		return send(m, &m.board, scene.Choose{Kind: election.ActionRelease, Filter: rest})
	case "destroy":
		return m.toTable(scene.Choose{Kind: election.ActionDestroy, Filter: rest})
	case "drain":
		if rest == "" {
			rest = selectedNode(m)
		}
		return openDrain(m, rest)
	case "help":
		m.focus.mode, m.focus.help = modeHelp, 0
	default:
		m.say(term.Delay, "Unknown command :"+scene.OneLine(word, 30)+". Commands: "+commandNames)
	}
	return nil
}

// toTable sends a message to the table of the view. The Events view has no table, so the
// elections' table receives it.
func (m *Model) toTable(msg tea.Msg) tea.Cmd {
	if m.focus.view == viewSessions {
		return send(m, &m.sessions, msg)
	}
	return send(m, &m.board, msg)
}

// sortBy parses the arguments of :sort. Without a word the table lists the valid ones.
func sortBy(rest string) scene.SortBy {
	word, direction, _ := strings.Cut(rest, " ")
	direction = strings.TrimSpace(direction)
	if reverse := "reverse"; !strings.HasPrefix(reverse, direction) {
		word = ""
	}
	return scene.SortBy{Word: strings.ToLower(word), Reverse: direction != ""}
}

// goTo selects an election by name or key.
func (m *Model) goTo(name string) tea.Cmd {
	found := m.scene.Shown.Named(name)
	switch len(found) {
	case 0:
		m.say(term.Delay, "No election is named "+scene.OneLine(name, 60)+".")
	case 1:
		return m.showElection(found[0].ID())
	default:
		m.say(term.Delay, scene.OneLine(name, 60)+" is ambiguous ("+term.Plural(len(found), "election")+"): use the full key.")
	}
	return nil
}
