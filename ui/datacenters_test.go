package ui

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/uitest"
)

func twoDatacenters(o *Options) { o.Datacenters = []string{"dc1", "dc2"} }

// rowWith returns the line of the table with these words.
func (d *driver) rowWith(words ...string) string {
	d.t.Helper()
lines:
	for line := range strings.Lines(d.text()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue lines
			}
		}
		return line
	}
	d.t.Fatalf("no row with %q in\n%s", words, d.text())
	return ""
}

func TestAnActionReachesTheDatacenterOfItsRow(t *testing.T) {
	for _, name := range []string{"dc1", "dc2"} {
		d := drive(t, uitest.Federated(), 120, 36, twoDatacenters)
		d.filter("dc:" + name + " billing")
		d.keys("r")
		d.wants("Release billing in " + name)
		d.perform(d.keys("y"))
		if len(d.op.released) != 1 || d.op.released[0].Datacenter != name || !strings.HasSuffix(d.op.released[0].Key, "billing/leader") {
			t.Errorf("%s: %+v", name, d.op.released)
		}
	}
}

func TestOneDialogActsInOneDatacenter(t *testing.T) {
	d := drive(t, uitest.Federated(), 120, 36, twoDatacenters)
	d.filter("billing")
	d.keys("a", "r")
	if d.m.overlay != nil {
		t.Fatal("a dialog about two datacenters is open")
	}
	d.wants("The chosen rows are in dc1, dc2.")
	d.filter("dc:dc1 billing") // as the message suggests
	d.keys("r")
	d.wants("Release billing in dc1")
	d.lacks("dc2 is")
}

func TestALostDatacenterGreysOutOnlyItsRows(t *testing.T) {
	d := drive(t, uitest.WithoutSecond(), 120, 36, twoDatacenters)
	d.wants("dc2 is unreachable. Its elections are 15s old.", "dc2 lost 14s", "● dc1 3ms")
	for _, e := range d.m.scene.Shown.Elections {
		if stale := d.m.scene.Of(e).PartStale(); stale != (e.Datacenter == "dc2") {
			t.Errorf("%s in %s: stale %v", e.Name, e.Datacenter, stale)
		}
	}
	d.filter("dc:dc2 billing")
	d.keys("r")
	d.wants("Unavailable while Consul is unreachable")
	if d.m.overlay != nil {
		t.Fatal("a dialog about a lost datacenter is open")
	}
	d.filter("dc:dc1 billing")
	d.keys("r")
	if d.m.overlay == nil {
		t.Fatalf("no dialog:\n%s", d.text())
	}
}

func TestADatacenterWithoutAResponseShowsTheAgeOfItsHistory(t *testing.T) {
	snap := uitest.WithoutSecond()
	snap.Parts[1].Connection.LastContact, snap.Parts[1].RecordedUntil = time.Time{}, uitest.Now().Add(-98*time.Second)
	drive(t, snap, 120, 36, twoDatacenters).wants("History until 11:59:31 (1m38s ago). dc2 is unreachable.")
}

func TestAnEmptyBoardWithoutOneDatacenter(t *testing.T) {
	snap := uitest.WithoutSecond()
	snap.Elections, snap.Parts[0].Elections, snap.Parts[1].Elections = nil, nil, nil
	drive(t, snap, 120, 36, twoDatacenters).wants("in the datacenters that respond", "dc2 is unreachable.")
}

func TestTheBannerOfThePastNamesTheDatacenter(t *testing.T) {
	d := recall(t, uitest.Incident(), 120, 36, twoDatacenters)
	d.run(d.send(snapshotMsg{uitest.Federated()}))
	d.at("03:12:06")
	d.travels("[")
	d.wants("  dc1  billing  ")
}

// A dialog that is open when its datacenter is lost no longer acts.
func TestADialogNoticesThatItsDatacenterIsLost(t *testing.T) {
	d := drive(t, uitest.Federated(), 120, 36, twoDatacenters)
	d.filter("dc:dc2 billing")
	d.keys("r")
	d.send(snapshotMsg{uitest.WithoutSecond()})
	d.wants("The connection to Consul is lost: no action is possible")
	d.keys("y")
	if len(d.op.released) != 0 {
		t.Errorf("%+v", d.op.released)
	}
}

// Each datacenter has its own set of watched nodes. Only the selected election is studied.
func TestEachDatacenterIsAskedForItsOwnData(t *testing.T) {
	nodes, studied := map[string][]string{}, ""
	d := drive(t, uitest.Federated(), 120, 36, twoDatacenters, func(o *Options) {
		fake(o).onWatchChecks = func(datacenter string, all []string) { nodes[datacenter] = all }
		fake(o).onStudy = func(datacenter, key string) { studied = datacenter + " " + key }
	})
	d.filter("dc:dc2 cart")
	d.send(tickMsg(d.now))
	if studied != "dc2 service/cart/leader" || len(nodes["dc1"]) != 3 || !slices.Equal(nodes["dc2"], []string{"node-1", "node-2"}) {
		t.Errorf("studied %q, watched nodes %v, want those of all leaders of each datacenter", studied, nodes)
	}
	d.filter("dc:dc1 billing")
	d.send(tickMsg(d.now))
	if studied != "dc1 service/billing/leader" || len(nodes["dc2"]) != 2 || len(nodes["dc1"]) != 3 || nodes["dc1"][0] != "node-3" {
		t.Errorf("studied %q, watched nodes %v, want the node of the selected leader first", studied, nodes)
	}
}

// Nodes of two datacenters may have the same name: their checks differ.
func TestChecksBelongToTheDatacenter(t *testing.T) {
	s := uitest.Federated()
	s.In("dc2").Checks["node-2"] = election.NodeChecks{At: uitest.Now(), Checks: uitest.Passing("node-2", "billing-2", "critical", "down")}
	d := drive(t, s, 160, 36, twoDatacenters)
	if one, two := d.rowWith("auth", "auth-2", "dc1"), d.rowWith("billing", "dc2", "billing-eu-2"); strings.Contains(one, "✗") || !strings.Contains(two, "✗") {
		t.Errorf("%s%s", one, two)
	}
}

func TestGoToANameOfTwoDatacenters(t *testing.T) {
	d := drive(t, uitest.Federated(), 120, 36, twoDatacenters)
	d.keys(":", "'go cart", "enter")
	if e := d.m.scene.Selected; e.Name != "cart" || e.Datacenter != "dc2" {
		t.Errorf("%s in %s", e.Name, e.Datacenter)
	}
	d.keys(":", "'go billing", "enter")
	d.wants("billing exists in several datacenters")
}

// elevenDatacenters returns a board of which most datacenters are lost, with an error that needs several lines.
func elevenDatacenters(t *testing.T, lost, w, h int, change ...func(*Options)) *driver {
	return drive(t, uitest.Eleven(lost), w, h, append(change, func(o *Options) {
		for n := 1; n <= 11; n++ {
			o.Datacenters = append(o.Datacenters, "dc"+strconv.Itoa(n))
		}
	})...)
}

// screen returns the lines that fit the window, as a terminal does, and fails if the frame has more or fewer.
func (d *driver) screen() string {
	d.t.Helper()
	lines, h := strings.Split(d.text(), "\n"), d.m.h
	if len(lines) != h {
		d.t.Errorf("the frame has %d lines, the window %d:\n%s", len(lines), h, d.text())
	}
	return strings.Join(lines[:min(h, len(lines))], "\n")
}

func TestBannersLeaveRoomForTheBoard(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 16}, {80, 19}, {80, 20}, {80, 24}, {120, 36}, {200, 50}} {
		for lost := range 11 {
			d := elevenDatacenters(t, lost, size[0], size[1], func(o *Options) { o.Demo = "This is a demonstration." })
			for _, keys := range [][]string{{}, {"g"}, {"enter"}, {"esc", "2"}, {"3"}, {"1", "p"}, {"/", "'dc:dc1", "enter"}, {"?"}, {"esc", "g", "r"}, {"esc", "x"}} {
				d.keys(keys...)
				d.screen()
			}
			if d.keys("esc"); d.m.screen.table.H < 4 {
				t.Errorf("%v, %d lost: the table has %d lines", size, lost, d.m.screen.table.H)
			}
		}
	}
	d := elevenDatacenters(t, 8, 80, 24)
	d.wants(" dc4 is unreachable.", " 6 more problems  dc6, dc7, dc8, dc9, dc10, dc11", "mail        dc1 ", "✗ 3 of 11 live")
	elevenDatacenters(t, 2, 80, 24).wants(" dc10 is unreachable. Its elections are 15s old.", " dc11 is unreachable.")
}

// The buttons of a dialog are on the screen, however many banners there are.
func TestADialogBelowManyBanners(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 16}} {
		d := elevenDatacenters(t, 8, size[0], size[1])
		d.filter("dc:dc1 state:led")
		d.keys("a", "x")
		if text := d.screen(); !strings.Contains(text, "[ Cancel ]") || !strings.Contains(text, "y destroy") {
			t.Errorf("%v: no buttons on the screen:\n%s", size, text)
		}
		if d.perform(d.keys("y")); len(d.op.destroyed) == 0 {
			t.Errorf("%v: nothing was destroyed", size)
		}
	}
}
