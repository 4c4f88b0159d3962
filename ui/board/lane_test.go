package board_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/internal/history"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

// laneCells are the characters of a lane.
const laneCells = "━╾─╼┿·"

// lanesOf draws a lane of 15 minutes with recorded terms, in Unicode and in ASCII.
func lanesOf(t *testing.T, e *election.Election, lanes *scene.Lanes) (unicode, ascii string) {
	t.Helper()
	e.Name = "lane"
	snap := &election.Snapshot{Loaded: true, Elections: []*election.Election{e, uitest.Led(3, "old", 1, 24*time.Hour)}}
	row := func(d *driver, sym *kit.Symbols) []rune {
		d.S.Lanes = lanes
		for _, line := range d.m.View(d.S, &kit.Painter{Styles: &kit.Styles{}, Sym: sym}) {
			if strings.Contains(line, "lane") {
				return []rune(line)
			}
		}
		return nil
	}
	for w := 60; w < 240; w++ {
		d := drive(t, snap, w, 4)
		line := row(d, kit.Unicode())
		first := slices.IndexFunc(line, func(r rune) bool { return strings.ContainsRune(laneCells, r) })
		n := slices.IndexFunc(line[max(0, first):], func(r rune) bool { return !strings.ContainsRune(laneCells, r) })
		if first >= 0 && n == 15 {
			return string(line[first : first+n]), string(row(d, kit.ASCII())[first : first+n])
		}
	}
	t.Fatal("no table has lanes of 15 cells")
	return "", ""
}

func TestLanesWithHistory(t *testing.T) {
	end := uitest.Now().Truncate(time.Minute).Add(time.Minute)
	at := func(minutes float64) time.Time { return end.Add(-time.Duration(minutes * float64(time.Minute))) }
	never := time.Time{}
	held := func(session string, start, end time.Time, known bool) election.Term {
		return election.Term{Session: session, Start: start, StartKnown: known, End: end}
	}
	observed := func(minutes ...float64) (p history.Periods) {
		for i := 0; i < len(minutes); i += 2 {
			p = append(p, history.Range{Since: at(minutes[i]), Until: at(minutes[i+1])})
		}
		return p
	}
	unobservedEnd := held("a", at(60), at(4.5), true)
	unobservedEnd.SeenUntil = at(10.5)
	for _, c := range []struct {
		what         string
		stored, live []election.Term
		observed     history.Periods
		want, ascii  string
	}{
		{"the history has the beginning", []election.Term{held("a", at(11.5), never, true)}, []election.Term{held("a", at(2), never, false)},
			observed(60, 0), "···╼━━━━━━━━━━━", "...<==========="},
		{"vacant, then unobserved, then vacant", []election.Term{held("a", at(60), at(12.5), true)}, nil,
			observed(60, 9, 4, 0), "━━╾───·····────", "==>---.....----"},
		{"led by one session on both sides of a gap", []election.Term{held("a", at(60), never, true)}, []election.Term{held("a", at(2), never, false)},
			observed(60, 9, 4, 0), "━━━━━━━━━━━━━━━", "==============="},
		{"ended unobserved", []election.Term{unobservedEnd}, nil,
			observed(60, 10.5, 4.5, 0), "━━━━━·····╾────", "=====.....>----"},
		{"another leader since", []election.Term{held("a", at(60), never, true)}, []election.Term{held("b", at(4.5), never, true)},
			observed(60, 0), "━━━━━━━━━━┿━━━━", "==========|===="},
		{"a vacancy between, and a short term", nil, []election.Term{held("a", at(60), at(12.5), true), held("b", at(8.5), at(8.4), true), held("c", at(4.5), never, true)},
			observed(60, 0), "━━╾───┿───╼━━━━", "==>---|---<===="},
		{"never observed", nil, nil, nil, "··············─", "..............-"},
	} {
		e := &election.Election{Terms: c.live, VacantSince: at(0.9)}
		e.Pair.Key = "service/lane/leader"
		var stored []history.Term
		for _, term := range c.stored {
			stored = append(stored, history.Term{Term: term})
		}
		lanes := &scene.Lanes{
			At: at(1), Window: 15 * time.Minute, Terms: map[election.ID][]history.Term{e.ID(): stored}, Observed: map[election.ID]history.Periods{e.ID(): c.observed},
		}
		if got, ascii := lanesOf(t, e, lanes); got != c.want || ascii != c.ascii {
			t.Errorf("%s: %s %s, want %s %s", c.what, got, ascii, c.want, c.ascii)
		}
	}
}
