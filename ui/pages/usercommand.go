package pages

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Command is a command from the config file. Its strings are sanitized.
type Command struct {
	Name  string
	About string `yaml:"description"`
	// Key selects the command in the menu. It is empty if the command has no key.
	Key string
	// Confirm is set if the user must confirm the command.
	Confirm bool
	Command shell.Template
}

// Commands are the commands of the config file.
type Commands struct {
	All []Command
	// Run returns the process of a command about a datacenter, which uses the terminal. It is nil if this system cannot run
	// commands.
	Run func(c shell.Command, datacenter string) *exec.Cmd
	// File is the path of the config file, which the menu shows if there are no commands.
	File string
}

// menu is the menu of the commands for an election or a session.
type menu struct {
	scene.Overlay
	Commands
	session  string // the ID of the session. It is empty for an election.
	election election.ID
	// values are the fields that the menu shows. A command runs only if its fields still have these values.
	values map[string]string
}

// Menu opens the menu of the commands for a session or, if session is nil, for an election.
func Menu(all Commands, e *election.Election, session *election.Session, s *scene.Scene) scene.Action {
	switch {
	case s.Past != nil:
		return scene.Refuse("This is the past: commands are disabled. Press esc to return to now.")
	case all.Run == nil:
		return scene.Refuse("Unavailable: commands need a POSIX shell and a terminal with job control.")
	case session != nil:
	case e == nil:
		return scene.Refuse("Select an election or a session before you run a command.")
	case e.Recorded():
		return scene.Refuse("Unavailable until " + scene.Short(e.Name) + " is read: this data is from the history.")
	}
	m := &menu{Commands: all}
	m.Sheet = kit.Sheet{Width: 100, Menu: len(all.All) > 0, Write: m.write}
	m.S = s
	if session != nil {
		m.session, m.Title = session.ID, "session "+election.ShortID(session.ID)
	} else {
		m.election, m.Title = e.ID(), scene.Short(e.Name)
	}
	m.values = m.present()
	m.Title = "Run a command for " + m.Title + s.Where(m.values["ELECTOP_DATACENTER"])
	return &m.Overlay
}

// present returns the current fields of the election or session, even while the board is paused. It returns nil if
// the election or session no longer exists.
func (m *menu) present() map[string]string {
	if m.session != "" {
		for _, ses := range scene.Sessions(m.S.Live) {
			if ses.ID == m.session {
				return map[string]string{"ELECTOP_SESSION": ses.ID, "ELECTOP_NODE": ses.Node, "ELECTOP_DATACENTER": m.S.Live.In(ses.Datacenter).Datacenter}
			}
		}
		return nil
	}
	e := m.S.Live.Find(m.election)
	if e == nil {
		return nil
	}
	return map[string]string{
		"ELECTOP_ELECTION": e.Name, "ELECTOP_KEY": e.Key(), "ELECTOP_LEADER": e.Leader, "ELECTOP_SESSION": e.Pair.Session, "ELECTOP_NODE": e.Node(),
		"ELECTOP_DATACENTER": e.Datacenter, "ELECTOP_VALUE": string(e.Pair.Value),
	}
}

// run runs the displayed command, unless its fields have changed since they were displayed.
func (m *menu) run() any {
	c := m.All[max(0, m.Chosen())]
	visible, err := c.Command.Expand(m.values)
	if err != nil {
		return scene.Refuse("The command was not run: " + err.Error() + ".")
	}
	now := m.present()
	process, err := c.Command.Expand(now)
	if err != nil || !slices.Equal(process.Env, visible.Env) {
		m.values = now
		return scene.Refuse("The command was not run: the fields changed or no longer exist. Check the command, then run it again.")
	}
	return scene.All{scene.Close{}, tea.ExecProcess(m.Run(process, now["ELECTOP_DATACENTER"]), func(err error) tea.Msg { return ended(c.Name, err) })}
}

// ended says how a command ended.
func ended(name string, err error) scene.Say {
	var exit *exec.ExitError
	text, role := "ended with exit code 0.", kit.Bad
	switch {
	case err == nil:
		role = kit.Led
	case !errors.As(err, &exit):
		text = "could not be started: " + sanitize.Line(err.Error(), 100)
	case exit.ExitCode() < 0:
		text = "was terminated by a " + exit.Error() + "." // "signal: killed"
	default:
		text = "ended with exit code " + strconv.Itoa(exit.ExitCode()) + "."
	}
	return scene.Say{Role: role, Text: "The command " + name + " " + text}
}

func (m *menu) write(page *kit.Page) {
	if len(m.All) == 0 {
		page.Para(kit.Text, "No command is configured. Add one to "+scene.Clean(m.File)+":")
		page.Blank()
		for _, line := range []string{"commands:", "  - name: uptime", `    command: ssh -- "$ELECTOP_NODE" uptime`} {
			page.Beside(nil, 2, kit.Accent.Span(line))
		}
		page.Blank()
		page.Para(kit.Quiet, "Variables: "+strings.Join(shell.Fields(), ", ")+". docs/settings.md describes them.")
		return
	}
	chosen := m.All[max(0, m.Chosen())]
	m.Buttons = []kit.Button{{Key: "enter", Label: "Run", Hint: "run the command", Do: m.run}}
	if _, err := chosen.Command.Expand(m.values); chosen.Confirm && err == nil {
		m.Buttons[0].Ask = "Run this command?"
	}
	column := 0
	for _, c := range m.All {
		column = max(column, kit.Width(c.Name))
	}
	column = min(column, page.Width/2)
	for i, c := range m.All {
		page.Add(kit.Key.Span(kit.PadTo(c.Key, 2)), kit.Text.Span(page.Cell(c.Name, column)+"  "), kit.Quiet.Span(page.Cell(c.About, page.Width-column-4)))
		m.Row(page, i)
		if c.Key != "" {
			m.Buttons = append(m.Buttons, kit.Button{Key: c.Key, Do: func() any { m.Select(i); return nil }})
		}
	}
	foot := &kit.Page{Width: page.Width + 2, Sym: page.Sym}
	foot.Blank()
	m.writeCommand(foot, chosen)
	room := max(1, m.Height-min(2, len(m.All))-1)
	if hidden := len(foot.Lines) - room; hidden > 0 {
		foot.Lines = foot.Lines[:room]
		foot.Lines[room-1] = kit.Delay.Spans(kit.Plural(hidden+1, "more line") + " of this command")
	}
	m.Foot = foot.Lines
}

// writeCommand writes a command with its values, or the reason why it cannot run.
func (m *menu) writeCommand(page *kit.Page, c Command) {
	process, err := c.Command.Expand(m.values)
	if err != nil {
		page.Para(kit.Delay, "This command cannot run: "+err.Error()+".")
		return
	}
	part := m.S.Of(m.S.Live.Find(m.election))
	if m.session == "" && (part.Stale || part.PartStale()) || m.session != "" && m.S.In(m.values["ELECTOP_DATACENTER"]).Stale {
		page.Para(kit.Delay, "The store does not respond or rejects the query: these fields may be stale.")
	}
	var lines [][]kit.Span
	for text := range strings.SplitSeq(strings.TrimRight(process.Script, "\n"), "\n") {
		lines = append(lines, kit.Strong.Spans(sanitize.Text(strings.ReplaceAll(text, "\t", "  "))))
	}
	for _, v := range process.Used {
		lines = append(lines, []kit.Span{{kit.Strong, v[0] + "="}, {kit.Accent, scene.Clean(v[1])}})
	}
	sign := "$ "
	for _, line := range lines {
		page.Beside(kit.Key.Spans(sign), len(sign), line...)
		sign = "  "
	}
}
