package doctor

import (
	"slices"

	"electop/ui/kit"
	"electop/ui/scene"
)

const (
	// frame is the number of lines around the page: the first and last line of the window, and the title.
	frame = 3
	// tableWidth is the minimum width of a table with wrapped cells. A narrower page shows each row as a paragraph if
	// any cell would wrap.
	tableWidth = 90
	// subjectWidth is the maximum width of the first column. statusWidth is the width of the second column.
	subjectWidth, statusWidth = 34, 9
	// textLength is the maximum length of a text, in runes.
	textLength = 300
)

// fit computes the layout of the page for a window.
func (m *Model) fit(sym *kit.Symbols, width, height int) {
	if m.run == nil {
		return
	}
	page, rows := &kit.Page{Width: width - 2, Sym: sym}, height-frame
	m.write(page)
	if len(page.Lines) > rows {
		rows-- // for the scroll position
	}
	m.text.Show(page.Lines, width, max(0, rows))
}

func (m *Model) write(page *kit.Page) {
	if !m.run.over {
		page.Para(kit.Accent, "Checking what this address and token can read and do.")
		return
	}
	if m.run.err != nil {
		page.Para(kit.Bad, "The check failed: "+scene.OneLine(m.run.err.Error(), textLength))
		page.Blank()
	}
	Write(page, m.run.rows)
}

// Write writes a report as a table, or as paragraphs if the page is too narrow.
func Write(page *kit.Page, rows []Row) {
	subject := 0
	for _, r := range rows {
		subject = max(subject, min(subjectWidth, kit.Width(scene.OneLine(r.Subject, textLength))))
	}
	table := page.Width >= tableWidth || fitOn(rows, page.Width-subject-2-statusWidth)
	for i, r := range rows {
		if table {
			writeRow(page, r, subject)
			continue
		}
		if i > 0 {
			page.Blank()
		}
		writeParagraph(page, r)
	}
}

// fitOn reports whether every detail and rule fits on one line of this width, and every subject fits in its column.
func fitOn(rows []Row, width int) bool {
	return !slices.ContainsFunc(rows, func(r Row) bool {
		return kit.Width(r.Detail) > width || r.Rule != "" && kit.SpansWidth(rule(r)) > width || kit.Width(r.Subject) > subjectWidth
	})
}

// role returns the colour of a status.
func (s Status) role() kit.Role {
	switch s {
	case "ok":
		return kit.Led
	case "limited":
		return kit.Delay
	case "denied":
		return kit.Bad
	}
	return kit.Quiet
}

// writeRow writes a row of the table. A missing rule is below the detail.
func writeRow(page *kit.Page, r Row, subject int) {
	name := scene.OneLine(r.Subject, textLength)
	first := []kit.Span{{kit.Strong, kit.PadTo(name, subject+2)}}
	if kit.Width(name) > subject {
		page.Indented(0, kit.Span{kit.Strong, name})
		first = []kit.Span{{kit.Text, kit.PadTo("", subject+2)}}
	}
	first = append(first, kit.Span{r.Status.role(), kit.PadTo(string(r.Status), statusWidth)})
	column := subject + 2 + statusWidth
	page.Beside(first, column, kit.Span{kit.Text, scene.OneLine(r.Detail, textLength)})
	if r.Rule != "" {
		page.Indented(column, rule(r)...)
	}
}

func writeParagraph(page *kit.Page, r Row) {
	page.Indented(0, kit.Span{kit.Strong, scene.OneLine(r.Subject, textLength) + "  "}, kit.Span{r.Status.role(), string(r.Status)})
	page.Indented(2, kit.Span{kit.Text, scene.OneLine(r.Detail, textLength)})
	if r.Rule != "" {
		page.Indented(2, rule(r)...)
	}
}

func rule(r Row) []kit.Span {
	return []kit.Span{{kit.Quiet, "missing rule: "}, {kit.Accent, scene.OneLine(r.Rule, textLength)}}
}

// View draws the page over all lines except the first and last.
func (m Model) View(p *kit.Painter, lines []string, width int) {
	if m.run == nil {
		return
	}
	about := "checking"
	if m.run.over {
		about = "as of " + kit.ClockTime(m.run.at)
	}
	title := []kit.Span{{kit.Strong, "Doctor"}}
	lines[1] = p.RuleWith(width, title, []kit.Control{kit.Label(kit.Span{kit.Quiet, about})})
	var page []string
	for _, spans := range m.text.Window() {
		page = append(page, p.Draw(width, append([]kit.Span{{kit.Text, " "}}, spans...)...))
	}
	if text := m.text.Position(); text != "" {
		page = append(page, p.Draw(width, kit.Span{kit.Key, " " + p.Sym.KeyMove}, kit.Span{kit.Quiet, " " + text}))
	}
	copy(lines[2:], p.Pad(page, width, len(lines)-frame))
}
