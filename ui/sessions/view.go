package sessions

import (
	"strconv"
	"strings"

	"electop/election/sanitize"
	"electop/ui/kit"
	"electop/ui/scene"
)

// column identifies a column of the sessions view.
type column uint8

const (
	colName column = iota
	colDatacenter
	colNode
	colHolds
	colAge
	colTTL
	colBehavior
	colDelay
	colID
	columns
)

func (c column) title() string {
	return [...]string{"SESSION", "DC", "NODE", "HOLDS", "AGE", "TTL", "BEHAVIOR", "LOCK-DELAY", "ID"}[c]
}

// sortWord returns the column's sort key, or "" if there is none.
func (c column) sortWord() string {
	return [...]string{"name", "", "node", "holds", "age", "ttl", "", "", ""}[c]
}

// leastHolds is the minimum width of the HOLDS column, in cells. Above mostHolds, the column uses only cells that the
// other columns leave free.
const (
	leastHolds = 16
	mostHolds  = 25
)

// fullID is the width of a session ID, in cells.
const fullID = 36

// widths returns the column widths. The width of a hidden column is 0.
func (v *Model) widths(width int) [columns]int {
	w := [columns]int{colName: 11, colDatacenter: v.datacenter, colNode: 6, colHolds: leastHolds, colAge: 8, colTTL: 6, colBehavior: 8, colDelay: 10, colID: 8}
	w[colHolds] = max(leastHolds, min(mostHolds, v.hold))
	w[colName] = max(w[colName], min(28, 2+v.name))
	w[colNode] = max(w[colNode], min(24, v.node))
	room := width - kit.LeadIn - kit.LeadOut + kit.ColumnGap
	for _, n := range w {
		if n > 0 {
			room -= n + kit.ColumnGap
		}
	}
	for _, c := range []column{colDelay, colBehavior, colID, colTTL, colAge, colNode} {
		if room >= 0 {
			break
		}
		room += w[c] + kit.ColumnGap
		w[c] = 0
	}
	if w[colID] > 0 && room >= fullID-w[colID] {
		room -= fullID - w[colID]
		w[colID] = fullID
	}
	if room < 0 {
		w[colName] = max(6, w[colName]+room)
	}
	w[colHolds] += max(0, min(room, v.hold-w[colHolds]))
	return w
}

// View draws the list or the open session in the area set by [scene.Resized].
func (v Model) View(s *scene.Scene, p *kit.Painter) []string {
	if s.Past != nil {
		title := p.Rule(v.rect.W, []kit.Span{{kit.Strong, "Sessions"}}, nil)
		text := kit.Span{kit.Quiet, " Sessions are " + scene.NotStored + " in the history."}
		return p.Pad([]string{title, p.Draw(v.rect.W), p.Draw(v.rect.W, text)}, v.rect.W, v.rect.H)
	}
	if r := v.selected(); v.open && r != nil {
		return v.drawOpen(p, s, r, v.rect.W, v.rect.H)
	}
	return v.drawList(p, s, v.rect.W, v.rect.H)
}

func (v *Model) drawList(p *kit.Painter, s *scene.Scene, width, height int) []string {
	news := v.news(s, width)
	rows := rowsIn(height, len(news))
	lines := append(make([]string, 0, height), p.Rule(width, v.title(), v.position(p.Sym, rows)))
	for _, spans := range news {
		lines = append(lines, p.Draw(width, append([]kit.Span{{kit.Text, " "}}, spans...)...))
	}
	if len(v.order) == 0 {
		return p.Pad(lines, width, height)
	}
	widths := v.widths(width)
	lines = append(lines, v.head(p, widths, width))
	l := kit.NewLine(p, width)
	for i := v.at.Offset; i < min(len(v.order), v.at.Offset+rows); i++ {
		ground, part := p.Tone, s.In(v.order[i].datacenter)
		if part.Stale {
			ground = kit.Stale
		}
		if i == v.at.Index {
			ground = ground.Selected()
		}
		l.Reset(ground)
		l.Area(kit.Area{Item: kit.Row, Index: i})
		v.drawRow(l, part, v.order[i], widths, i == v.at.Index)
		lines = append(lines, l.Done())
	}
	return p.Pad(lines, width, height)
}

// rowsIn returns the number of rows that fit below the title, the news and the column heads.
func rowsIn(height, news int) int { return max(0, height-2-news) }

func (v *Model) title() []kit.Span {
	spans := []kit.Span{{kit.Strong, "Sessions"}}
	if v.list == nil || len(v.rows) == 0 {
		return spans
	}
	spans = append(spans, kit.Span{kit.Quiet, "  " + strconv.Itoa(v.tally.all) + ", " + strconv.Itoa(v.tally.holding) + v.holding()})
	if v.tally.orphans > 0 {
		spans = append(spans, kit.Span{kit.Delay, "  " + kit.Plural(v.tally.orphans, "orphan") + "?"})
	}
	return spans
}

func (v *Model) holding() string {
	if v.scan.result.at.IsZero() {
		return " hold a watched key"
	}
	return " hold a key"
}

// position returns the numbers of hidden rows above and below the visible rows.
func (v *Model) position(sym *kit.Symbols, rows int) []kit.Span {
	if len(v.order) <= rows {
		return nil
	}
	below := max(0, len(v.order)-v.at.Offset-rows)
	return []kit.Span{{kit.Quiet, sym.Up + " " + strconv.Itoa(v.at.Offset) + "  " + sym.Down + " " + strconv.Itoa(below)}}
}

func (v *Model) head(p *kit.Painter, widths [columns]int, width int) string {
	l := kit.NewLine(p, width)
	x := kit.LeadIn
	for c, w := range widths {
		id := column(c)
		if w == 0 {
			continue
		}
		l.To(x)
		l.Area(kit.Area{Item: kit.Heading, Index: c})
		if id == colName {
			l.Gap(2)
		}
		l.Cell(kit.Head, id.title(), min(w, len(id.title())))
		if v.sort.word() == id.sortWord() {
			marker := p.Sym.Up
			if v.sort.reverse {
				marker = p.Sym.Down
			}
			l.Gap(1)
			l.Text(kit.Accent, marker)
		}
		l.To(x + w)
		l.Area(kit.Area{})
		x += w + kit.ColumnGap
	}
	return l.Done()
}

func (v *Model) drawRow(l *kit.Line, s *scene.Scene, r *row, widths [columns]int, selected bool) {
	mark := v.marks[r.ses.ID]
	switch {
	case mark && selected:
		l.Fill(kit.Accent, l.Sym.MarkedCursor, 1)
	case mark:
		l.Fill(kit.Accent, l.Sym.Mark, 1)
	case selected:
		l.Fill(kit.Accent, l.Sym.Cursor, 1)
	}
	x := kit.LeadIn
	for c, w := range widths {
		if w == 0 {
			continue
		}
		l.To(x)
		drawCell(l, s, r, column(c), w, mark)
		x += w + kit.ColumnGap
	}
}

func drawCell(l *kit.Line, s *scene.Scene, r *row, c column, w int, mark bool) {
	switch c {
	case colName:
		sign, name := r.sign(l.Sym), kit.Span{kit.Text, scene.Clean(r.ses.Name)}
		if name.Text == "" {
			name = kit.Span{kit.Faint, "no name"}
		}
		if mark {
			name.Role = kit.Accent
		}
		l.Text(sign.Role, sign.Text)
		l.Gap(1)
		l.Cell(name.Role, name.Text, w-2)
	case colDatacenter:
		l.Cell(kit.Text, scene.Clean(r.datacenter), w)
	case colNode:
		l.Cell(kit.Text, scene.Clean(r.ses.Node), w)
	case colHolds:
		text := r.holdsText()
		l.Cell(text.Role, text.Text, w)
	case colAge:
		l.Cell(kit.Text, r.age(l.Sym, s), w)
	case colTTL:
		if r.ses.TTL == 0 {
			l.Cell(kit.Quiet, "none", w)
			return
		}
		l.Cell(kit.Text, kit.Short(r.ses.TTL), w)
	case colBehavior:
		l.Cell(kit.Quiet, scene.Clean(r.ses.Behavior), w)
	case colDelay:
		l.Cell(kit.Quiet, kit.Short(r.ses.LockDelay), w)
	default:
		l.Cell(kit.Quiet, scene.SessionText(r.ses.ID, w > 8), w)
	}
}

func (r *row) sign(sym *kit.Symbols) kit.Span {
	switch {
	case r.failure != nil:
		return kit.Span{kit.Bad, sym.Critical}
	case r.state == holding:
		return kit.Span{kit.Led, sym.Led}
	case r.state == orphan:
		return kit.Span{kit.Delay, sym.Warning}
	default:
		return kit.Span{kit.Quiet, sym.Idle}
	}
}

func (r *row) nothing() string {
	switch {
	case !r.scanned:
		return "no watched keys"
	case r.partly:
		return "no readable keys"
	}
	return "no keys"
}

// holdsText names the watched elections of a session and counts all keys that a scan found.
func (r *row) holdsText() kit.Span {
	switch r.state {
	case orphan:
		return kit.Span{kit.Delay, "orphan? " + strconv.Itoa(r.alike) + " alike"}
	case idle:
		return kit.Span{kit.Quiet, r.nothing()}
	default:
	}
	names := make([]string, 0, 4)
	for _, e := range r.holds[:min(len(r.holds), 3)] {
		names = append(names, sanitize.Text(e.Name))
	}
	for _, e := range r.slots[:min(len(r.slots), 3)] {
		names = append(names, "a slot of "+sanitize.Text(e.Name))
	}
	text := strings.Join(names, ", ")
	if more := len(r.holds) + len(r.slots) - len(names); more > 0 {
		text += " and " + strconv.Itoa(more) + " more"
	}
	if !r.scanned {
		return kit.Span{kit.Text, text}
	}
	count := kit.Plural(len(r.holds)+len(r.others), "key")
	switch {
	case len(r.others) == 0 && len(r.holds) == 0:
		return kit.Span{kit.Text, text}
	case text == "":
		return kit.Span{kit.Text, count + ", none watched"}
	case len(r.others) > 0:
		text += ", " + strconv.Itoa(len(r.others)) + " unwatched"
	}
	return kit.Span{kit.Text, count + ": " + text}
}

// age returns the age of the session. It is a lower bound unless electop observed the creation.
func (r *row) age(sym *kit.Symbols, s *scene.Scene) string {
	return kit.AtLeast(sym, kit.Duration(s.AsOf.Sub(r.seen)), r.created)
}
