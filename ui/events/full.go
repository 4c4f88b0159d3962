package events

import (
	"strconv"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// evidenceLimit is the maximum length of the evidence, in runes.
const evidenceLimit = 4000

// open opens the box that shows the selected event in full. The cursor stays on the event while newer events arrive. A
// change to the list does not change the event, but adds its explanation.
func (m *Model) open(s *scene.Scene) scene.Action {
	line := m.Selected()
	m.at = line.Ev
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Event", Keys: m.Keys, Width: 100, Closed: m.moved}}
	o.Buttons = []kit.Button{{Key: "esc", Label: "Close"}, {Key: m.Keys.Report.Keys()[0], Hint: "report", Do: func() any { return m.report("", s) }}}
	if line.Ev.Key != "" {
		o.Buttons = append(o.Buttons, kit.Button{Key: m.Keys.Open.Keys()[0], Hint: "its election", Do: func() any {
			return scene.All{scene.Close{}, scene.ShowElection{ID: string(line.Ev.ElectionID())}}
		}})
	}
	o.Update = func(now *scene.Scene) scene.Action {
		s = now
		for i := range m.Rows {
			if line.Why == nil && scene.SameEvent(m.Rows[i].Ev, line.Ev) {
				line = m.Rows[i]
			}
		}
		return nil
	}
	o.Write = func(page *kit.Page) { writeEvent(page, s, &line) }
	return scene.Open{Overlay: o}
}

// writeEvent writes every known fact of an event.
func writeEvent(page *kit.Page, s *scene.Scene, line *scene.EventLine) {
	ev := line.Ev
	text := func(label, text string) {
		if text != "" {
			page.Field(label, kit.Span{kit.Text, text})
		}
	}
	text("Time", ev.Time.In(s.Now.Location()).Format("2006-01-02 15:04:05.000 MST"))
	page.Field("Event", append([]kit.Span{{scene.EventRole(ev), scene.EventWord(ev) + "  "}}, scene.EventSpans(page.Sym, scene.EventLine{Ev: ev}, false, s.Now)...)...)
	if ev.Election != "" {
		page.Field("Election", kit.Span{kit.Strong, sanitize.Text(ev.Election)})
	}
	if s.Several() {
		text("Datacenter", scene.Clean(ev.Datacenter))
	}
	text("Key", sanitize.Text(ev.Key))
	text("Session", scene.Clean(ev.Session))
	text("Node", scene.Clean(ev.Node))
	if ev.Limit > 0 {
		text("Holders", strconv.Itoa(ev.Holders)+" of "+strconv.Itoa(ev.Limit))
	}
	if between := ev.Between(s.Now); between != "" {
		text("Happened", between+", during a gap in observation")
	} else if ev.Gap {
		text("Observed", "late; the change happened at an unknown earlier time")
	}
	if ev.Restored {
		text("Restored", "Consul lost data or restored a snapshot; no write caused this state")
	}
	if line.Why != nil {
		writeWhy(page, s, line.Why)
	}
}

// writeWhy writes the cause of the end of a term, and its evidence, which the list shortens.
func writeWhy(page *kit.Page, s *scene.Scene, why *election.Event) {
	page.Field("Lost because", kit.Span{kit.Text, scene.CauseWords(why.Cause)}, kit.Span{kit.Quiet, "  " + string(why.Cause)})
	if why.Evidence != "" {
		label := "Evidence"
		if why.Guess {
			label = "Guess from"
		}
		page.Field(label, kit.Span{kit.Text, scene.OneLine(why.Evidence, evidenceLimit)})
	}
	if !why.LockDelayUntil.IsZero() {
		page.Field("Lock-delay", kit.Span{kit.Text, "until " + page.Sym.Tilde + kit.Dated(why.LockDelayUntil.Round(time.Second), s.Now, true)})
	}
}
