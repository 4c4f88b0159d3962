package events

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

// drawEvent writes one line of events: time, election, type, what happened.
func drawEvent(l *term.Line, s *scene.Scene, el scene.EventLine, nameWidth int) {
	l.Cell(term.Quiet, term.Clock(el.Ev.Time, s.Now), 8)
	l.Gap(term.ColumnGap)
	l.Cell(term.Strong, sanitize.Text(el.Ev.Election), nameWidth)
	l.Gap(term.ColumnGap)
	l.Cell(scene.EventRole(el.Ev), scene.EventWord(el.Ev), min(scene.EventWordWidth, max(10, l.Width/6)))
	l.Texts(scene.EventSpans(l.Sym, el.Ev)...)
	if el.Why != nil {
		l.Texts(scene.WhySpans(l.Sym, el.Why)...)
	}
}

// DrawStrip draws the latest events under a rule, newest first. How elections
// were found at the start is no news.
func DrawStrip(p *term.Painter, s *scene.Scene, width, height, name int) []string {
	if height <= 0 {
		return nil
	}
	lines := append(make([]string, 0, height), p.Rule(width, []term.Span{{term.Head, "Latest events"}}, nil))
	news := scene.FoldEvents(s.Shown.Events, func(ev *election.Event) bool { return !ev.Initial }, height-1)
	l := term.NewLine(p, width)
	for _, el := range news {
		l.Reset(p.Tone)
		l.Gap(1)
		drawEvent(l, s, el, name)
		lines = append(lines, l.Done())
	}
	if len(news) == 0 && height > 1 {
		lines = append(lines, p.Draw(width, term.Span{term.Quiet, " No changes since electop started."}))
	}
	return p.Pad(lines, width, height)
}

// Model is the second view: all events that are kept, newest first.
type Model struct {
	Lines  []scene.EventLine
	Filter scene.Filter
	Index  int
	Offset int
	// Follow keeps the cursor on the newest event.
	Follow bool
}

// Refresh makes the lines anew, with the operator's actions among the events. Unless
// it follows the newest, the cursor stays on its event and that on its row.
func (v *Model) Refresh(snap *election.Snapshot, actions []scene.EventLine) {
	at, before := v.Selected(), v.Index
	v.Lines = InsertActions(scene.FoldEvents(snap.Events, v.Filter.MatchEvent, -1), actions, v.Filter.MatchEvent)
	if v.Follow || at == nil {
		v.MoveTo(0)
		return
	}
	for i := range v.Lines {
		if scene.SameEvent(at, v.Lines[i].Ev) {
			v.Index = i
			break
		}
	}
	v.Index = max(0, min(v.Index, len(v.Lines)-1))
	v.Offset += v.Index - before
}

// InsertActions puts each action that the filter keeps before the first event that
// is not later.
func InsertActions(lines, actions []scene.EventLine, keep func(*election.Event) bool) []scene.EventLine {
	at := 0
	for _, a := range slices.Backward(actions) {
		if !keep(a.Ev) {
			continue
		}
		for at < len(lines) && lines[at].Ev.Time.After(a.Ev.Time) {
			at++
		}
		lines = slices.Insert(lines, at, a)
		at++
	}
	return lines
}

// MoveTo puts the cursor on a line. On the first one it follows the newest.
func (v *Model) MoveTo(i int) {
	v.Index = max(0, min(i, len(v.Lines)-1))
	v.Follow = v.Index == 0
}

// Selected is the event under the cursor, nil when there is none.
func (v *Model) Selected() *election.Event {
	if v.Index >= len(v.Lines) {
		return nil
	}
	return v.Lines[v.Index].Ev
}

func (v *Model) scroll(rows int) {
	v.Offset = min(v.Offset, v.Index)
	v.Offset = max(v.Offset, v.Index-rows+1)
	v.Offset = max(0, min(v.Offset, len(v.Lines)-rows))
}

// Draw draws the events view, the names of elections name cells wide.
func (v *Model) Draw(p *term.Painter, s *scene.Scene, width, height, name int) []string {
	v.scroll(height - 1)
	title := []term.Span{{term.Strong, "Events"}, {term.Quiet, "  " + term.Plural(len(v.Lines), "line") + ", newest first"}}
	state := []term.Span{{term.Quiet, "follows the newest"}}
	if !v.Follow {
		state = []term.Span{{term.Accent, "g follows the newest"}}
	}
	lines := append(make([]string, 0, height), p.Rule(width, title, state))
	l := term.NewLine(p, width)
	for i := v.Offset; i < min(len(v.Lines), v.Offset+height-1); i++ {
		l.Reset(p.Tone)
		if i == v.Index {
			l.Reset(p.Tone.Selected())
			l.Text(term.Accent, p.Sym.Cursor)
		}
		l.To(term.LeadIn)
		drawEvent(l, s, v.Lines[i], name)
		lines = append(lines, l.Done())
	}
	if len(v.Lines) == 0 && height > 2 {
		lines = append(lines, p.Draw(width), p.Draw(width, term.Span{term.Quiet, " " + v.noEvents()}))
	}
	return p.Pad(lines, width, height)
}

func (v *Model) noEvents() string {
	if text := strings.TrimSpace(v.Filter.Text); text != "" {
		return "No event matches " + scene.OneLine(text, 60) + ". Esc clears the filter."
	}
	return "No event so far."
}
