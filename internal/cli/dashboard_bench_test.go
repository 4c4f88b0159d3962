package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/internal/history/sqlite"
	"electop/ui"
)

// screen drives the dashboard on a history.
type screen struct {
	b testing.TB
	m tea.Model
}

func openScreen(b testing.TB, source *sqlite.File) *screen {
	s := &screen{b: b, m: ui.New(b.Context(), ui.Options{History: source})}
	s.send(tea.WindowSizeMsg{Width: 200, Height: 50})
	return s
}

// send sends a message, and then the result of each read that the dashboard starts, until it starts no further read.
func (s *screen) send(msg tea.Msg) {
	for msg != nil {
		next, cmd := s.m.Update(msg)
		s.m = next
		msg = firstMsg(cmd)
	}
}

// firstMsg runs the first command of nested lists: the others are ticks.
func firstMsg(cmd tea.Cmd) tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	if all, list := msg.(tea.BatchMsg); list {
		return firstMsg(all[0])
	}
	return msg
}

func (s *screen) press(key string) { s.send(tea.KeyPressMsg{Code: rune(key[0]), Text: key}) }

func (s *screen) mustShow(text string) {
	s.b.Helper()
	if got := s.m.View().Content; !strings.Contains(got, text) {
		s.b.Fatalf("%q is not on the screen:\n%s", text, got)
	}
}

// BenchmarkEventsView measures the Events view over the million events of the file that
// BenchmarkHistory in internal/history/sqlite leaves in ELECTOP_BENCH_HISTORY.
func BenchmarkEventsView(b *testing.B) {
	path := os.Getenv("ELECTOP_BENCH_HISTORY")
	if path == "" {
		b.Skip("ELECTOP_BENCH_HISTORY is not set")
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			source := sqlite.NewFile(path, nil)
			s := openScreen(b, source)
			s.press("2")
			s.mustShow("billing-")
			if err := source.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	source := sqlite.NewFile(path, nil)
	defer source.Close()
	b.Run("page_down", func(b *testing.B) {
		s := openScreen(b, source)
		s.press("2")
		var longest time.Duration
		for b.Loop() {
			began := time.Now()
			s.send(tea.KeyPressMsg{Code: tea.KeyPgDown})
			s.mustShow("billing-")
			longest = max(longest, time.Since(began))
		}
		b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
	})
	b.Run("search_50000_events", func(b *testing.B) {
		for b.Loop() {
			s := openScreen(b, source)
			s.press("2")
			for _, r := range ":filter nosuchthing" {
				s.press(string(r))
			}
			s.send(tea.KeyPressMsg{Code: tea.KeyEnter})
			s.mustShow("G continues")
		}
	})
	b.Run("search_an_election", func(b *testing.B) {
		for b.Loop() {
			s := openScreen(b, source)
			s.press("2")
			for _, r := range ":filter election:billing-0500" {
				s.press(string(r))
			}
			s.send(tea.KeyPressMsg{Code: tea.KeyEnter})
			s.mustShow("billing-0500")
		}
	})
}
