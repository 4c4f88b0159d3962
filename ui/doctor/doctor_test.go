package doctor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"electop/ui/doctor"
	"electop/ui/internal/uitest"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
)

// page returns the page of a check at a size.
func page(t *testing.T, w, h int, rows []doctor.Row, failure error) string {
	t.Helper()
	s := uitest.Scene(uitest.Mixed(), uitest.Now())
	m := doctor.New(t.Context(), func(context.Context) ([]doctor.Row, error) { return rows, failure }, keys.Default(false))
	m, action := m.Update(doctor.Open{}, s)
	m, _ = m.Update(action.(scene.All)[1].(scene.Run).Cmd(), s)
	m, _ = m.Update(scene.Resized{Rect: kit.Rect{W: w, H: h}}, s)
	lines := slices.Repeat([]string{strings.Repeat(" ", w)}, h)
	m.View(uitest.Painter(), lines, w)
	for _, line := range lines {
		if kit.Width(line) != w {
			t.Errorf("%d cells, want %d: %q", kit.Width(line), w, line)
		}
	}
	return ansi.Strip(strings.Join(lines, "\n"))
}

func TestLayoutByWidth(t *testing.T) {
	short := []doctor.Row{{Subject: "agent", Status: "ok", Detail: "Consul 1.22"}}
	long := append(slices.Clone(short), doctor.Row{Subject: "keys", Status: "denied", Detail: strings.Repeat("word ", 20), Rule: `key "a" { policy = "read" }`})
	for _, c := range []struct {
		rows  []doctor.Row
		width int
		table bool
	}{{short, 60, true}, {long, 60, false}, {long, 80, false}, {long, 120, true}} {
		text := page(t, c.width, 30, c.rows, nil)
		if got := strings.Contains(text, "ok       Consul 1.22"); got != c.table {
			t.Errorf("%d columns, table %v:\n%s", c.width, got, text)
		}
		if strings.Contains(text, "…") || len(c.rows) > 1 && !strings.Contains(text, `missing rule: key "a" { policy = "read" }`) {
			t.Errorf("%d columns:\n%s", c.width, text)
		}
	}
}

func TestErrorsAndHostileTexts(t *testing.T) {
	text := page(t, 60, 16, []doctor.Row{{Subject: "a\x1b[2Jb", Status: "ok", Detail: "c\nd\u202e"}}, errors.New("no\x07 answer"))
	if strings.ContainsAny(text, "\x1b\x07\u202e") || !strings.Contains(text, "The check failed: no") || !strings.Contains(text, "c d") {
		t.Errorf("%q", text)
	}
}
