package events

import (
	"strconv"
	"time"

	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// evidenceLimit is the maximum length of the evidence, in runes.
const evidenceLimit = 4000

// open opens the box that shows the selected event in full. The cursor stays on the event while newer events arrive. A
// change to the list does not change the event, but adds its explanation.
func (m *Model) open() scene.Action {
	line := m.Selected()
	m.at = line.Ev
	o := &scene.Overlay{Sheet: kit.Sheet{Title: "Event", Width: 100, Closed: m.moved}}
	o.Buttons = []kit.Button{{Key: m.Keys.Report.Keys()[0], Hint: "report on the listed elections", Do: func() any { return m.Report("", o.S) }}}
	if line.Ev.Key != "" {
		o.Buttons = append(o.Buttons, kit.Button{Key: m.Keys.Open.Keys()[0], Sign: m.Keys.Open.Help().Key, Hint: "its election", Do: func() any {
			return scene.All{scene.Close{}, scene.ShowElection{ID: string(line.Ev.ElectionID())}}
		}})
	}
	o.Write = func(page *kit.Page) {
		for i := range m.Rows {
			if line.Why == nil && scene.SameEvent(m.Rows[i].Ev, line.Ev) {
				line = m.Rows[i]
			}
		}
		writeEvent(page, o.S, &line)
	}
	return o
}

// writeEvent writes every known fact of an event.
func writeEvent(page *kit.Page, s *scene.Scene, line *scene.EventLine) {
	ev := line.Ev
	page.Value("Time", ev.Time.In(s.Now.Location()).Format("2006-01-02 15:04:05.000 MST"))
	page.Field("Event", append(scene.EventLine{Ev: ev}.Role().Spans(scene.EventWord(ev)+"  "), scene.EventSpans(page.Sym, scene.EventLine{Ev: ev}, 0, s.Now)...)...)
	if ev.Election != "" {
		page.Field("Election", kit.Strong.Span(sanitize.Text(ev.Election)))
	}
	if s.Several() {
		page.Value("Datacenter", scene.Clean(ev.Datacenter))
	}
	page.Value("Key", sanitize.Text(ev.Key))
	page.Value("Session", scene.Clean(ev.Session))
	page.Value("Node", scene.Clean(ev.Node))
	if ev.Limit > 0 {
		page.Value("Holders", strconv.Itoa(ev.Holders)+" of "+strconv.Itoa(ev.Limit))
	}
	if between := ev.Between(s.Now); between != "" {
		page.Value("Happened", between+", during a gap in observation")
	}
	if ev.Restored {
		page.Value("Restored", "the store lost data or restored a snapshot; no write caused this state")
	}
	why := line.Why
	if why == nil {
		return
	}
	page.Value("Lost because", scene.CauseWords(why.Cause), string(why.Cause))
	label := "Evidence" // which the list shortens
	if why.Guess {
		label = "Guess from"
	}
	page.Value(label, sanitize.Line(why.Evidence, evidenceLimit))
	if !why.LockDelayUntil.IsZero() {
		page.Value("Lock-delay", "until ~"+s.Clock(why.LockDelayUntil.Round(time.Second)))
	}
}
