package detail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui"
	"electop/ui/detail"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/past"
	"electop/ui/scene"
)

// driver sends messages to the pages as the program does.
type driver struct {
	t testing.TB
	m *detail.Model
	s *scene.Scene
}

func look(snap *election.Snapshot, key string) *scene.Scene {
	s := uitest.Scene(snap, uitest.Now())
	s.Selected = snap.Find(election.KeyID(key))
	s.Look(&scene.InsightCache{})
	return s
}

func drive(t testing.TB, snap *election.Snapshot, key string) *driver {
	t.Helper()
	d := &driver{t: t, m: detail.New(ui.NewKeys(false, ui.Keys{}), past.NewReader(t.Context(), nil)), s: look(snap, key)}
	d.send(scene.Resized{Rect: kit.Rect{W: 100, H: 30}})
	return d
}

func (d *driver) show(snap *election.Snapshot, key string) {
	before := d.s
	d.s = look(snap, key)
	d.send(scene.Changed{Before: before})
}

func (d *driver) send(msg tea.Msg) (action scene.Action) {
	action = d.m.Update(msg, d.s)
	return action
}

func (d *driver) keys(names ...string) {
	for _, name := range names {
		d.send(uitest.Press(name))
	}
}

func (d *driver) lines() []string { return d.m.View(d.s, uitest.Painter()) }

func (d *driver) wants(parts ...string) {
	d.t.Helper()
	screen := strings.Join(d.lines(), "\n")
	for _, part := range parts {
		if !strings.Contains(screen, part) {
			d.t.Errorf("%q is not on the screen:\n%s", part, screen)
		}
	}
}

const billing = "service/billing/leader"

// withTerms returns a snapshot in which billing had n terms of a minute each.
func withTerms(n int) *election.Snapshot {
	s := uitest.Mixed()
	e := s.Find(billing)
	e.Terms, e.Events = nil, nil
	for i := range n {
		start := uitest.Now().Add(time.Duration(i-100) * time.Minute)
		e.Terms = append(e.Terms, election.Term{
			Number: uint64(i + 1), CreateIndex: 40, Session: uitest.SessionID(i), Leader: fmt.Sprintf("billing-%d", i%2), Node: "node-1",
			Start: start, StartKnown: true, End: start.Add(time.Minute), Cause: election.Released, Evidence: "the session still exists",
		})
		e.Events = append(e.Events, election.Event{Time: start, Type: election.Elected, Key: e.Key(), Leader: "billing", Term: uint64(i + 1)})
	}
	e.Term = uint64(n)
	e.Terms[n-1].End = time.Time{}
	return s
}

func TestScrollingEndsWithTheText(t *testing.T) {
	d := drive(t, withTerms(40), billing)
	d.keys("tab", "tab", "G")
	last := d.lines()
	if strings.TrimSpace(last[len(last)-1]) == "" {
		t.Error("G scrolls beyond the end")
	}
	d.keys("j", "J", "pgdown")
	d.send(scene.Wheeled{Step: 3})
	if strings.Join(d.lines(), "\n") != strings.Join(last, "\n") {
		t.Error("the page scrolls beyond the end")
	}
	if d.keys("k"); strings.Join(d.lines(), "\n") == strings.Join(last, "\n") {
		t.Error("the page does not scroll back immediately")
	}
}

func TestRawBinary(t *testing.T) {
	s := uitest.Mixed()
	e := s.Find(billing)
	e.Pair.Value, e.Pair.Flags = []byte("\x00\x01\xfe\xffABCDEFGHIJKLMNOPQ"), election.LockFlag
	d := drive(t, s, billing)
	d.keys("shift+tab")
	d.wants("00000000  00 01 fe ff 41 42", "|....ABCDEFGHIJKL|", "00000010", "flag value of api.Lock", "21 bytes  binary")
}

func TestValues(t *testing.T) {
	shown := func(value string) string {
		s := uitest.Mixed()
		s.Find(billing).Pair.Value = []byte(value)
		d := drive(t, s, billing)
		d.send(scene.Resized{Rect: kit.Rect{W: 100, H: 60}})
		_, after, _ := strings.Cut(strings.Join(d.lines(), "\n"), " Value ")
		before, _, _ := strings.Cut(after, "Before")
		return strings.Join(strings.Fields(before), " ")
	}
	for value, want := range map[string]string{
		"{\"b\": 1,\n \"s\": \"two\\nlines\"}": `{"b":1,"s":"two\nlines"}`, "plain": "plain", `{"a":1} x`: `{"a":1} x`, "": "empty",
		strings.Repeat(`{"a":`, 1000): "4.9 KiB, see Raw", "\x00\x01\xfe": "3 bytes of binary data see Raw",
	} {
		if got := shown(value); !strings.HasSuffix(got, want) {
			t.Errorf("%.20q gives %q", value, got)
		}
	}
}

func TestNodeIsNamedOnce(t *testing.T) {
	e := uitest.Vacant(1, "backup", 1, time.Hour, time.Minute, 0, election.Released, "")
	last := &e.Terms[len(e.Terms)-1]
	last.Leader, last.Node = "nightly on node-1", "node-1" // the label of a holder without a value
	s := uitest.Mixed()
	s.Elections = []*election.Election{e}
	d := drive(t, s, e.Key())
	for range 2 {
		d.wants("nightly on node-1")
		if strings.Contains(strings.Join(d.lines(), "\n"), "node-1 on node-1") {
			t.Errorf("%q", d.lines())
		}
		d.keys("tab", "tab")
	}
}

func TestAnotherElectionIsShownFromItsBeginning(t *testing.T) {
	d := drive(t, withTerms(40), billing)
	d.keys("shift+tab", "shift+tab", "G") // History
	top := d.lines()[1]
	d.show(withTerms(40), "service/auth/leader")
	d.show(withTerms(40), billing)
	if d.lines()[1] == top || !strings.Contains(d.lines()[1], "term 40") {
		t.Errorf("the page begins with %q, want term 40", d.lines()[1])
	}
	d.keys("J", "J")
	d.send(scene.Back{})
	d.wants("term 40")
}
