package detail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui"
	"electop/ui/detail"
	"electop/ui/internal/uitest"
	"electop/ui/past"
	"electop/ui/scene"
)

// driver sends messages to the pages as the program does.
func look(snap *election.Snapshot, key string) *scene.Scene {
	s := uitest.Scene(snap, uitest.Now())
	s.Selected = snap.Find(election.KeyID(key))
	s.Look(&scene.InsightCache{})
	return s
}

// drive drives the pages of an election. Its History page may have a history.
func drive(t testing.TB, snap *election.Snapshot, key string, source ...history.Source) *driver {
	t.Helper()
	source = append(source, nil)
	m := detail.New(ui.NewKeys(false, nil), past.Reader{Ctx: t.Context(), Source: source[0]})
	d := &driver{uitest.View{T: t, M: m, S: look(snap, key)}}
	d.Resize(100, 30)
	return d
}

// driver sends messages to the pages as the program does.
type driver struct{ uitest.View }

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
	d.Keys("tab", "tab", "G")
	last := d.Lines()
	if strings.TrimSpace(last[len(last)-1]) == "" {
		t.Error("G scrolls beyond the end")
	}
	d.Keys("j", "J", "pgdown")
	d.Send(scene.Wheeled{Step: 3})
	if d.Text() != strings.Join(last, "\n") {
		t.Error("the page scrolls beyond the end")
	}
	if d.Keys("k"); d.Text() == strings.Join(last, "\n") {
		t.Error("the page does not scroll back immediately")
	}
}

func TestRawBinary(t *testing.T) {
	s := uitest.Mixed()
	e := s.Find(billing)
	e.Pair.Value, e.Pair.Flags = []byte("\x00\x01\xfe\xffABCDEFGHIJKLMNOPQ"), election.LockFlag
	d := drive(t, s, billing)
	d.Keys("shift+tab")
	d.Wants("00000000  00 01 fe ff 41 42", "|....ABCDEFGHIJKL|", "00000010", "flag value of api.Lock", "21 bytes  binary")
}

func TestValues(t *testing.T) {
	shown := func(value string) string {
		s := uitest.Mixed()
		s.Find(billing).Pair.Value = []byte(value)
		d := drive(t, s, billing)
		d.Resize(100, 60)
		_, after, _ := strings.Cut(d.Text(), " Value ")
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
