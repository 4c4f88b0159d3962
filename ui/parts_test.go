package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/sanitize"
	"electop/ui/internal/scene"
	"electop/ui/internal/term"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {0, "0s"}, {999 * time.Millisecond, "0s"}, {59 * time.Second, "59s"}, {192 * time.Second, "3m12s"},
		{time.Hour, "1h00m"}, {52*time.Hour + 59*time.Minute, "2d04h"}, {99*24*time.Hour + 23*time.Hour, "99d23h"},
		{123 * 24 * time.Hour, "123d"},
	} {
		if got := term.Duration(c.d); got != c.want {
			t.Errorf("duration(%s) = %s, want %s", c.d, got, c.want)
		}
	}
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{0, "<1ms"}, {1400 * time.Microsecond, "1ms"}, {340 * time.Millisecond, "340ms"}, {1204 * time.Millisecond, "1.2s"}, {15 * time.Second, "15s"}} {
		if got := term.Precise(c.d); got != c.want {
			t.Errorf("precise(%s) = %s, want %s", c.d, got, c.want)
		}
	}
}

// laneText draws a lane in Unicode.
func laneText(e *election.Election, width int) string {
	cells := make([]laneCell, width)
	lane(cells, e, testNow(), 15*time.Minute)
	l := term.NewLine(&term.Painter{Styles: &term.Styles{}, Sym: term.Unicode()}, width)
	writeLane(l, cells)
	return l.Done()
}

func TestLane(t *testing.T) {
	end := testNow().Truncate(time.Minute).Add(time.Minute) // where the last cell ends
	at := func(minutes float64) time.Time { return end.Add(-time.Duration(minutes * float64(time.Minute))) }
	never := time.Time{}
	term := func(start, end time.Time, known bool) election.Term {
		return election.Term{Start: start, StartKnown: known, End: end}
	}
	for _, c := range []struct {
		what  string
		terms []election.Term
		want  string
	}{
		{"led all the time", []election.Term{term(at(60), never, false)}, "━━━━━━━━━━━━━━━"},
		{"lost for good", []election.Term{term(at(60), at(4.5), true)}, "━━━━━━━━━━╾────"},
		{"vacancy between", []election.Term{term(at(60), at(8.5), true), term(at(4.5), never, true)}, "━━━━━━╾───╼━━━━"},
		{"changed at once", []election.Term{term(at(60), at(8.5), true), term(at(8.49), never, true)}, "━━━━━━┿━━━━━━━━"},
		{"short term", []election.Term{term(at(60), at(12.5), true), term(at(8.5), at(8.4), true)}, "━━╾───┿────────"},
		{"seen since", []election.Term{term(at(5.5), never, false)}, "·········━━━━━━"},
		{"elected just now", []election.Term{term(at(0.9), never, true)}, "··············╼"},
		{"never led", nil, "··············─"},
		{"long ago", []election.Term{term(at(90), at(60), true)}, "───────────────"},
	} {
		e := &election.Election{Terms: c.terms, VacantSince: at(0.5)}
		if got := laneText(e, 15); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A lane must not depend on where the second hand stands within one cell.
func TestLaneMovesInWholeCells(t *testing.T) {
	e := mixedSnapshot().Find("service/billing/leader")
	cells, later := make([]laneCell, 15), make([]laneCell, 15)
	base := testNow().Truncate(time.Minute)
	lane(cells, e, base, 15*time.Minute)
	lane(later, e, base.Add(59*time.Second), 15*time.Minute)
	if !slices.Equal(cells, later) {
		t.Error("the lane moved within a cell")
	}
}

func TestColumnsByWidth(t *testing.T) {
	x := extent{name: 10, leader: 12, address: 14, node: 6, term: 3, window: 15 * time.Minute}
	for w := minWidth; w <= 240; w++ {
		columns := fitColumns(w, x, false)
		total := term.LeadIn - term.ColumnGap
		for _, c := range columns {
			total += c.width + term.ColumnGap
		}
		if total > w {
			t.Errorf("width %d: the columns take %d", w, total)
		}
	}
	has := func(w int) string {
		var titles []string
		for _, c := range fitColumns(w, x, false) {
			titles = append(titles, c.title)
		}
		return strings.Join(titles, " ")
	}
	for _, c := range []struct {
		w    int
		want string
	}{
		{40, "ELECTION LEADER FOR"},
		{80, "ELECTION LEADER NODE FOR CHECKS LAST 15 MIN CHG/h"},
		{120, "ELECTION LEADER NODE FOR TERM SESSION CHECKS LAST 15 MIN CHANGES/h"},
	} {
		if got := has(c.w); got != c.want {
			t.Errorf("at %d: %s, want %s", c.w, got, c.want)
		}
	}
}

func TestLayoutCoversTheWindow(t *testing.T) {
	for w := minWidth; w <= 240; w += 5 {
		for h := minHeight; h <= 80; h++ {
			for _, n := range []need{{}, {rows: 500}, {rows: 8, banners: 3}, {zoom: true}, {full: true}, {rows: 30, wide: true}} {
				n.w, n.h = w, h
				s := arrange(n)
				parts := []term.Rect{s.header, s.banners, s.footer}
				switch {
				case n.full:
					parts = append(parts, s.body)
				case s.side:
					parts = append(parts, s.table, s.events, s.pane, term.Rect{s.pane.X - 1, s.pane.Y, 1, s.pane.H})
				default:
					parts = append(parts, s.table, s.events, s.pane)
				}
				area := 0
				for _, p := range parts {
					if p.W < 0 || p.H < 0 || p.X < 0 || p.Y < 0 || p.X+p.W > w || p.Y+p.H > h {
						t.Fatalf("%+v: part %+v is outside", n, p)
					}
					area += p.W * p.H
				}
				if area != w*h {
					t.Fatalf("%+v: %d of %d cells are covered: %+v", n, area, w*h, s)
				}
			}
		}
	}
}

func TestSortIsStableAndTotal(t *testing.T) {
	snap := crowd(200)
	for k := range sortKeyCount {
		for _, reverse := range []bool{false, true} {
			s := sorting{key: k, reverse: reverse}
			want := slices.Clone(snap.Elections)
			sortElections(want, s, snap, testNow())
			for range 3 {
				got := slices.Clone(snap.Elections)
				rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
				sortElections(got, s, snap, testNow())
				if !slices.Equal(got, want) {
					t.Errorf("%s: the order depends on the order before", k.word())
				}
			}
		}
	}
	worst := slices.Clone(snap.Elections)
	sortElections(worst, sorting{key: byState}, snap, testNow())
	if worst[0].Pair.Held() {
		t.Error("sorted by state, the vacant ones are not first")
	}
}

func TestInput(t *testing.T) {
	var in term.Input
	for _, c := range []struct{ keys, want string }{
		{"h a l l o", "hallo"}, {"left left backspace", "halo"}, {"home x", "xhalo"}, {"ctrl+e y", "xhaloy"},
		{"ctrl+w", ""}, {"a space b space c ctrl+w", "a b "}, {"ctrl+a ctrl+k", ""}, {"a b left ctrl+u", "b"},
	} {
		for _, k := range strings.Fields(c.keys) {
			in.Press(press(k))
		}
		if in.String() != c.want {
			t.Errorf("%s gives %q, want %q", c.keys, in.String(), c.want)
		}
	}
	in.Insert("x\ny\x1b[31m\r\n")
	if in.String() != "x y[31mb" {
		t.Errorf("pasted %q", in.String())
	}
	in.Insert(strings.Repeat("z", 2000))
	if len(in.Text) != term.InputLimit {
		t.Errorf("%d runes", len(in.Text))
	}
	in.Press(tea.KeyPressMsg{Code: tea.KeyF1})
}

func TestJSONFields(t *testing.T) {
	lines, ok := jsonFields([]byte(`{"b":1,"a":{"x":null,"y":[1,2],"z":[{"q":true}],"e":{}},"s":"two\nlines"}`))
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%d%s=%s", l.depth, l.name, l.value))
	}
	want := "0b=1 0a= 1x=null 1y=1, 2 1z= 2-= 3q=true 1e={} 0s=two lines"
	if strings.Join(got, " ") != want || !ok {
		t.Errorf("got %s", strings.Join(got, " "))
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	if lines, ok := jsonFields([]byte(deep)); !ok || len(lines) > maxJSONDepth+2 {
		t.Errorf("%d lines of a deep value", len(lines))
	}
	for _, v := range []string{"", "x", `"x"`, "{", "[]", `{"a":1} x`} {
		if lines, ok := jsonFields([]byte(v)); ok {
			t.Errorf("%q gives %v", v, lines)
		}
	}
}

func TestRawBinary(t *testing.T) {
	s := mixedSnapshot()
	e := s.Find("service/billing/leader")
	e.Pair.Value, e.Pair.Flags = []byte("\x00\x01\xfe\xffABCDEFGHIJKLMNOPQ"), election.LockFlag
	d := drive(t, s, 120, 36)
	d.keys("k", "[")
	d.wants("00000000  00 01 fe ff 41 42", "|....ABCDEFGHIJKL|", "00000010", "the mark of api.Lock", "21 bytes  binary")
}

func TestFlow(t *testing.T) {
	lines := term.Flow([]term.Span{{term.Text, "one two"}, {term.Quiet, " three fourfivesixseven"}}, 9)
	var got []string
	for _, l := range lines {
		text := ""
		for _, s := range l {
			text += s.Text
		}
		got = append(got, text)
	}
	if want := "one two|three|fourfives|ixseven"; strings.Join(got, "|") != want {
		t.Errorf("got %s", strings.Join(got, "|"))
	}
}

func TestCausesHaveWords(t *testing.T) {
	for _, c := range []election.Cause{
		election.Released, election.CheckCritical, election.CheckGone, election.NodeGone, election.SessionDestroyed,
		election.SessionExpiredOrDestroyed, election.KeyDeleted, election.OperatorRelease, election.OperatorDestroy,
	} {
		if scene.CauseWords(c) == scene.CauseWords(election.Unknown) || scene.CauseLabel(c) == scene.CauseLabel(election.Unknown) {
			t.Errorf("%s has no words", c)
		}
	}
}

func FuzzOneLineIsLine(f *testing.F) {
	f.Add("plain", 3)
	f.Add(" a\x1b\n", 10)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit &= 0x3ff
		if got, want := scene.OneLine(s, limit), sanitize.Line(s, limit); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// In the first minutes the lanes show less time, never less than was seen.
func TestLaneWindowGrows(t *testing.T) {
	snap := mixedSnapshot()
	e := ledElection(1, "young", 1, 20*time.Second)
	snap.Elections = []*election.Election{e}
	d := drive(t, snap, 120, 36)
	d.wants("LAST 1 MIN")
	d.now = d.now.Add(time.Minute)
	d.send(tickMsg(d.now))
	d.wants("LAST 5 MIN")
	d.now = d.now.Add(5 * time.Minute)
	d.send(tickMsg(d.now))
	d.wants("LAST 15 MIN")
}
