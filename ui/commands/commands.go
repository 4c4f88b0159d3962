// Package commands is the menu of the user's commands. They are scripts from the config file, which receive the fields of
// an election or a session as environment variables.
package commands

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Template is a command from the config file. Its strings are sanitized.
type Template struct {
	Name, About string
	// Key selects the command in the menu. It is empty if the command has no key.
	Key string
	// Confirm is set if the user must confirm the command.
	Confirm bool
	Command shell.Template
}

// Ended is the message about the end of a command. Err is nil if the exit code was 0.
type Ended struct {
	Name string
	Err  error
}

// Tools are the functions and values that the program provides to the menu.
type Tools struct {
	Templates []Template
	// Command returns the process of a command. It is nil if this system cannot run commands.
	Command func(shell.Command) *exec.Cmd
	// File is the path of the config file.
	File string
}

// Open opens the menu for Session or, if Session is nil, for Election.
type Open struct {
	Election *election.Election
	Session  *election.Session
}

// Model is the menu.
type Model struct {
	keys  keys.Map
	tools Tools
	// about identifies the election or session of the menu: its title, and the IDs to look it up in a later snapshot.
	about struct {
		title, session string
		election       election.ID
	}
	// values are the fields that the menu shows. A command runs only if its fields still have these values.
	values     map[string]string
	at         scene.Cursor
	confirming bool
	layout     layout
}

// New returns a closed menu.
func New(tools Tools, k keys.Map) Model { return Model{keys: k, tools: tools} }

// Keys returns the key bindings for the footer.
func (m Model) Keys(k keys.Map) []key.Binding {
	switch {
	case m.confirming:
		return k.RunConfirmation()
	case len(m.tools.Templates) == 0:
		return k.ResultList(false)
	}
	return k.RunMenu()
}

// Update handles a message and returns an action for the program.
func (m Model) Update(msg tea.Msg, s *scene.Scene) (Model, scene.Action) {
	action := m.update(msg, s)
	return m, action
}

func (m *Model) update(msg tea.Msg, s *scene.Scene) scene.Action {
	switch msg := msg.(type) {
	case Open:
		return m.open(msg, s)
	case Ended:
		return msg.note()
	case scene.Resized:
		m.fit(s, msg.W, msg.H)
	case scene.Clicked:
		m.moveTo(msg.Index)
	case scene.Wheeled:
		m.move(msg.Step)
	case tea.KeyPressMsg:
		return m.pressed(msg, s)
	}
	return nil
}

func (m *Model) open(o Open, s *scene.Scene) scene.Action {
	if text := m.refusal(o, s); text != "" {
		return scene.Say{Role: kit.Delay, Text: text}
	}
	m.at, m.confirming, m.layout = scene.Cursor{}, false, layout{}
	m.about.election, m.about.session = "", ""
	if ses := o.Session; ses != nil {
		m.about.session, m.about.title = ses.ID, "session "+election.ShortID(ses.ID)
	} else {
		m.about.election, m.about.title = o.Election.ID(), scene.OneLine(o.Election.Name, 40)
	}
	m.values = m.present(s)
	if s.Several() {
		m.about.title += " in " + scene.OneLine(m.values["ELECTOP_DATACENTER"], 40)
	}
	return scene.ShowCommands{}
}

// refusal explains why no command can run. It returns an empty text if a command can run.
func (m *Model) refusal(o Open, s *scene.Scene) string {
	switch {
	case s.Past != nil:
		return "This is the past: commands are disabled. Press esc to return to now."
	case m.tools.Command == nil:
		return "Unavailable: commands need a POSIX shell and a terminal with job control."
	case o.Session != nil:
		return ""
	case o.Election == nil:
		return "Select an election or a session before you run a command."
	case o.Election.Recorded():
		return "Unavailable until " + scene.OneLine(o.Election.Name, 60) + " is read: this data is from the history."
	}
	return ""
}

// present returns the current fields of the election or session, even while the board is paused. It returns nil if
// the election or session no longer exists.
func (m *Model) present(s *scene.Scene) map[string]string {
	if m.about.session != "" {
		live := *s
		live.Shown = s.Live
		for _, ses := range live.Sessions() {
			if ses.ID == m.about.session {
				return map[string]string{"ELECTOP_SESSION": ses.ID, "ELECTOP_NODE": ses.Node, "ELECTOP_DATACENTER": s.Live.In(ses.Datacenter).Datacenter}
			}
		}
		return nil
	}
	e := s.Live.Find(m.about.election)
	if e == nil {
		return nil
	}
	return map[string]string{
		"ELECTOP_ELECTION": e.Name, "ELECTOP_KEY": e.Key(), "ELECTOP_LEADER": e.Leader, "ELECTOP_SESSION": e.Pair.Session, "ELECTOP_NODE": e.Node(),
		"ELECTOP_DATACENTER": e.Datacenter, "ELECTOP_VALUE": string(e.Pair.Value),
	}
}

func (m *Model) moveTo(i int) {
	m.at.MoveTo(i, len(m.tools.Templates))
	m.confirming = false
}

func (m *Model) move(step int) {
	m.layout.howTo.Scroll(step)
	m.moveTo(m.at.Index + step)
}

func (m *Model) pressed(msg tea.KeyPressMsg, s *scene.Scene) scene.Action {
	all, name := m.tools.Templates, msg.String()
	if m.confirming {
		m.confirming = false
		if name == "y" {
			return m.start(s)
		}
		return nil
	}
	step, moves := m.keys.Step(msg, max(1, m.layout.rows, m.layout.howTo.Rows), max(len(all), len(m.layout.howTo.Lines)))
	switch own := slices.IndexFunc(all, func(t Template) bool { return t.Key == name }); {
	case own >= 0:
		m.moveTo(own)
	case moves:
		m.move(step)
	case name == "enter" && len(all) > 0:
		return m.choose(s)
	case name == "esc", name == "enter", name == "q", name == "ctrl+c":
		return scene.Close{}
	}
	return nil
}

// choose runs the selected command, or asks the user to confirm it.
func (m *Model) choose(s *scene.Scene) scene.Action {
	t := m.tools.Templates[m.at.Index]
	_, err := t.Command.Expand(m.values)
	switch {
	case err != nil:
		return scene.Say{Role: kit.Delay, Text: "The command was not run: " + err.Error() + "."}
	case t.Confirm:
		m.confirming = true
		return nil
	}
	return m.start(s)
}

// start runs the displayed command, unless its fields have changed since they were displayed.
func (m *Model) start(s *scene.Scene) scene.Action {
	t, now := m.tools.Templates[m.at.Index], m.present(s)
	visible, err := t.Command.Expand(m.values)
	if err != nil {
		return nil // [Model.choose] has shown the error
	}
	c, err := t.Command.Expand(now)
	if err != nil || !slices.Equal(c.Env, visible.Env) {
		m.values = now
		return scene.Say{Role: kit.Delay, Text: "The command was not run: the fields changed or no longer exist. Check the command, then run it again."}
	}
	return scene.All{scene.Close{}, scene.Run{Cmd: tea.ExecProcess(m.tools.Command(c), func(err error) tea.Msg { return Ended{t.Name, err} })}}
}

// note says how the command ended.
func (e Ended) note() scene.Say {
	var exit *exec.ExitError
	text, role := "ended with exit code 0.", kit.Bad
	switch {
	case e.Err == nil:
		role = kit.Led
	case !errors.As(e.Err, &exit):
		text = "could not be started: " + scene.OneLine(e.Err.Error(), 100)
	case exit.ExitCode() < 0:
		text = "was terminated by a " + exit.Error() + "." // "signal: killed"
	default:
		text = "ended with exit code " + strconv.Itoa(exit.ExitCode()) + "."
	}
	return scene.Say{Role: role, Text: "The command " + e.Name + " " + text}
}
