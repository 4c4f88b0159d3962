// Package results tracks the operator's actions in this run and shows their outcomes.
package results

import (
	"context"
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Log holds the operator's actions in this run and the panel that lists them.
type Log struct {
	keys keys.Map
	run  runner
	*record
	open  bool
	panel panel
}

// record is shared by all copies of a log, so that the started actions remain known if a panic discards a copy.
type record struct {
	batches []batch // oldest first
	newest  map[election.ID]*action
}

// New returns an empty log. Cancelling ctx cancels the calls to op.
func New(ctx context.Context, op Operator, k keys.Map) Log {
	return Log{keys: k, run: newRunner(ctx, op), record: &record{newest: map[election.ID]*action{}}}
}

// Keys returns the key bindings for the footer while the panel is shown.
func (l Log) Keys(k keys.Map) []key.Binding { return k.ResultList(l.panel.drain() != nil) }

// Start runs the confirmed actions one after the other and destroys each session once. If there are several actions,
// it opens the panel.
func (l Log) Start(c scene.Confirm, s *scene.Scene) (Log, scene.Action) {
	b := newBatch(c.Kind, withElections(c.Targets, s.Live), s.Now)
	for _, a := range b {
		a.by, a.shown = c.By, c.Shown[a.Target.Session]
	}
	return l.begin(b)
}

func (l Log) begin(b batch) (Log, scene.Action) {
	l.add(b)
	var cmds []tea.Cmd
	for _, group := range b.groups() {
		cmds = append(cmds, l.run(group))
	}
	started := scene.Run{Cmd: tea.Sequence(cmds...)}
	if len(b) == 1 {
		return l, started
	}
	l.openOne(b)
	return l, scene.All{started, scene.ShowResults{}}
}

func (l *Log) add(b batch) {
	l.batches = append(l.batches, b)
	l.index(b)
	for l.count() > actionLimit && len(l.batches) > 1 && l.batches[0].waiting() == 0 {
		l.batches = l.batches[1:]
	}
}

// openOne opens the live table of a batch.
func (l *Log) openOne(b batch) { l.open, l.panel = true, panel{batches: []batch{b}} }

// withElections adds the elections led by the sessions that are to be destroyed, so that their next leaders are
// observed. Each session precedes its elections, so that it is destroyed even if the elections have changed.
func withElections(targets []scene.Target, live *election.Snapshot) []scene.Target {
	led := scene.Led(live.Elections)
	var all []scene.Target
	for _, t := range targets {
		all = append(all, t)
		if t.SessionOnly == nil {
			continue
		}
		for _, e := range led[t.Session] {
			all = append(all, scene.Target{Target: e.Target(), Where: t.Where})
		}
	}
	return all
}

// Update handles a message and returns an action for the program.
func (l Log) Update(msg tea.Msg, s *scene.Scene) (Log, scene.Action) {
	var action scene.Action
	switch msg := msg.(type) {
	case Answered:
		action = l.answered(msg, s)
	case Stepped:
		action = l.stepped(msg, s)
	case scene.Changed:
		action = l.settle(s)
	case scene.ListActions:
		action = l.list()
	case scene.Resized:
		if l.open {
			l.panel.fit(s, msg.W, msg.H)
		}
	case scene.Wheeled:
		l.panel.text.Scroll(msg.Step)
	case tea.KeyPressMsg:
		action = l.pressed(msg)
	}
	return l, action
}

func (l *Log) pressed(msg tea.KeyPressMsg) scene.Action {
	step, moves := l.keys.Step(msg, max(1, l.panel.text.Rows), len(l.panel.text.Lines))
	switch name := msg.String(); {
	case name == "ctrl+c":
		return scene.Quit{}
	case l.panel.drain() != nil && l.pressedStop(name):
	case moves:
		l.panel.text.Scroll(step)
	case key.Matches(msg, l.keys.Results), name == "esc", name == "enter", name == "q":
		text := ""
		if l.panel.drain() != nil {
			text = "The drain continues; " + l.keys.Results.Help().Key + " shows it."
		}
		if l.panel.waiting() == 0 {
			text = "Closed; " + l.hint() + " again."
		}
		l.open, l.panel = false, panel{}
		return scene.Close{Text: text}
	}
	return nil
}

func (l *Log) list() scene.Action {
	if b := l.draining(); b != nil {
		l.openOne(b)
		return scene.ShowResults{}
	}
	if len(l.batches) == 0 {
		return scene.Say{Role: kit.Quiet, Text: "No actions since electop started."}
	}
	newest := slices.Clone(l.batches)
	slices.Reverse(newest)
	l.open, l.panel = true, panel{all: true, batches: newest}
	return scene.ShowResults{}
}

// answered stores outcomes. The board changes only with the next snapshot.
func (l *Log) answered(msg Answered, s *scene.Scene) scene.Action {
	var all scene.All
	for _, x := range msg {
		if x.of.answered(x.outcome, s.Now); x.of.over {
			all = l.notify(all, x.of, s)
		}
	}
	return append(all, l.settle(s)...)
}

// settle looks for the awaited next leaders in the newest snapshot.
func (l *Log) settle(s *scene.Scene) scene.All {
	var all scene.All
	for _, b := range l.batches {
		for _, a := range b {
			if a.follow(s.Live, s.Now) {
				all = l.notify(all, a, s)
			}
		}
	}
	return all
}

// notify shows the outcome of a single action in the footer. For a batch it shows the summary after the last outcome,
// unless the panel is open.
func (l *Log) notify(all scene.All, a *action, s *scene.Scene) scene.All {
	switch b := l.batchOf(a); {
	case len(b) == 1:
		return append(all, scene.Say{Role: a.look(s.Sym).Role, Text: a.name + ": " + a.words(s)})
	case !l.open && b.waiting() == 0:
		return append(all, scene.Say{Role: b.worst().look(s.Sym).Role, Text: b.summary() + "  " + s.Sym.Dot + "  " + l.hint()})
	}
	return all
}

// hint names the key that lists the results.
func (l Log) hint() string { return l.keys.Results.Help().Key + " lists the results" }

// Pending describes the latest unfinished actions. It returns an empty text if there are none, or if the panel is open.
func (l Log) Pending(s *scene.Scene) string {
	if l.open {
		return ""
	}
	text, more := "", 0
	for _, b := range slices.Backward(l.batches) {
		switch n := b.waiting(); {
		case n == 0:
		case text != "":
			more += n
		case len(b) == 1 && b[0].drain == nil:
			text = b[0].name + ": " + b[0].words(s)
		default:
			text = b.summary() + "  " + s.Sym.Dot + "  " + l.hint()
		}
	}
	if more > 0 {
		text = strconv.Itoa(more+1) + " actions waiting  " + s.Sym.Dot + "  " + l.keys.Results.Help().Key + " lists them  " + s.Sym.Dot + "  " + text
	}
	return text
}

// Events returns all actions as lines of the Events view, oldest first.
func (l Log) Events(s *scene.Scene) []scene.EventLine {
	var lines []scene.EventLine
	for _, b := range l.batches {
		for _, ev := range b.events(s) {
			if s.Past == nil || !ev.Time.After(s.Past.At) {
				lines = append(lines, scene.EventLine{Ev: ev})
			}
		}
	}
	return lines
}

func (l *Log) count() int {
	n := 0
	for _, b := range l.batches {
		n += len(b)
	}
	return n
}

func (l *Log) batchOf(a *action) batch {
	i := slices.IndexFunc(l.batches, func(b batch) bool { return slices.Contains(b, a) })
	if i < 0 {
		return nil
	}
	return l.batches[i]
}
