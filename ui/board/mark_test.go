package board_test

import (
	"testing"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/scene"
)

func TestManyRowsAreMarkedAtOnce(t *testing.T) {
	for _, c := range []struct {
		what            string
		keys            []string
		filter          string
		visible, hidden int
	}{
		{"all", []string{"a"}, "", 8, 0},
		{"all that the filter shows", []string{"a"}, "state:led", 5, 0},
		{"a marked row again", []string{"a", "g", "space"}, "", 7, 0},
		{"none", []string{"a", "A"}, "", 0, 0},
	} {
		d := drive(t, uitest.Mixed(), 120, 30)
		total := len(d.s.Shown.Elections)
		if total != 8 {
			t.Fatalf("the fixture has %d elections, want 8", total)
		}
		d.send(scene.Filtered{Text: c.filter})
		for _, name := range c.keys {
			if name == "esc" {
				d.send(scene.Back{})
				continue
			}
			d.keys(name)
		}
		if visible, hidden := d.m.Marks(); visible != c.visible || hidden != c.hidden {
			t.Errorf("%s: %d marks and %d hidden, want %d and %d", c.what, visible, hidden, c.visible, c.hidden)
		}
	}
}

func TestAFilterChoosesTheTargets(t *testing.T) {
	d := drive(t, uitest.Mixed(), 120, 30)
	d.keys("space") // :release with a filter ignores marks
	ask, ok := d.send(scene.Choose{Kind: election.ActionRelease, Filter: "node:node-2"}).(scene.Ask)
	if !ok || len(ask.Targets) == 0 || len(ask.Hidden)+len(ask.Leaderless) != 0 {
		t.Fatalf("%+v", ask)
	}
	for _, target := range ask.Targets {
		if target.Node != "node-2" {
			t.Errorf("%s is led on %s, want node-2", target.Election, target.Node)
		}
	}
	say, ok := d.send(scene.Choose{Kind: election.ActionRelease, Filter: "state:vacant"}).(scene.Say)
	if !ok || say.Text != "No election with a leader matches state:vacant." {
		t.Errorf("%+v", say)
	}
}
