package events

import (
	"time"

	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// Strip draws the latest events under a rule, newest first. It omits the initial state of
// elections.
func Strip(s *scene.Scene, p *kit.Painter, r kit.Rect) []string {
	if r.H <= 0 {
		return nil
	}
	lines := []string{p.Rule(r.W, kit.Head.Spans("Latest events"))}
	watched := s.Watched()
	news := scene.FoldEvents(s.Shown.Events, nil, func(l scene.EventLine) bool { return !l.Ev.Initial && watched.ShowsEvent(l.Ev) }, r.H-1)
	l := kit.NewLine(p, r.W)
	dated := len(news) > 0 && !kit.IsToday(news[len(news)-1].Ev.Time, s.Now)
	for _, el := range news {
		l.Reset(p.Tone)
		drawEvent(l, s, el, s.NameWidth+datacenterWidth(s), dated)
		lines = append(lines, l.Done())
	}
	if len(news) == 0 && r.H > 1 {
		text := " No changes since electop started."
		if s.Past != nil {
			text = " No recorded changes before this moment."
		}
		lines = append(lines, p.Draw(r.W, kit.Quiet.Span(text)))
	}
	return p.Pad(lines, r.W, r.H)
}

// wideWidth is the minimum width of a list that shows times with both date and seconds, the numbers of terms, and the
// evidence.
const wideWidth = 100

// wordWidth is the width of the event type column, in cells.
const wordWidth = 13

// datacenterWidth returns the width of a datacenter before a name. It is 0 if there is only one datacenter.
func datacenterWidth(s *scene.Scene) (width int) {
	for _, name := range s.Datacenters {
		width = max(width, kit.Width(scene.Clean(name))+1)
	}
	return width
}

// drawEvent draws one line: time, election, type and description. names is the width of names. dated is set if times
// have a date.
func drawEvent(l *kit.Line, s *scene.Scene, el scene.EventLine, names int, dated bool) {
	l.To(kit.LeadIn)
	format, wide := time.TimeOnly, l.Width >= wideWidth
	text := kit.Dated(el.Ev.Time, s.Now, wide)
	switch {
	case dated && wide:
		if format = "Jan 02 15:04:05"; kit.IsToday(el.Ev.Time, s.Now) {
			text = el.Ev.Time.In(s.Now.Location()).Format(format) // an empty column of dates would look like indentation
		}
	case dated:
		format = "Jan 02 15:04"
	}
	l.Right(kit.Quiet, text, len(format))
	l.Gap(kit.ColumnGap)
	where := datacenterWidth(s)
	room := max(where+6, min(names, l.Width*3/10))
	if where > 0 {
		l.Cell(kit.Quiet, scene.Clean(el.Ev.Datacenter), where-1)
		l.Gap(1)
	}
	l.Cell(kit.Strong, sanitize.Text(el.Ev.Election), room-where)
	l.Gap(kit.ColumnGap)
	l.Cell(el.Role(), scene.EventWord(el.Ev), min(wordWidth, max(12, l.Width/6)))
	if room = l.Room(); wide {
		room = 0
	}
	l.Texts(scene.EventSpans(l.Sym, el, room, s.Now)...)
}
