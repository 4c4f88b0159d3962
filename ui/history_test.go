package ui

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"electop/ui/internal/uitest"
)

// remembers returns an option: the dashboard has a history.
func remembers(p *uitest.Past) func(*Options) {
	return func(o *Options) { o.History = p }
}

// stored returns a scene with a history. It presses keys and completes the reads after each.
func stored(p func() *uitest.Past, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := drive(t, mixedSnapshot(), w, h, remembers(p()))
		for _, name := range keys {
			d.run(d.keys(name))
		}
		return d
	}
}

func brokenHistory() *uitest.Past {
	return &uitest.Past{Err: errors.New(`history "/home/ana/.local/state/electop/127.0.0.1_8500.db": the file is not a database`)}
}

func TestSinceCommand(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36, remembers(uitest.Yesterday()))
	d.run(d.keys(":", "'since 2d", "enter"))
	d.wants("since Nov 18 12:01:09, newest first", "Nov 19 16:01:07")
	d.lacks("Nov 17")
	d.run(d.keys(":", "'since all", "enter"))
	d.wants("Nov 17")
	d.lacks("lines since")
	d.run(d.keys(":", "'since soon", "enter"))
	d.wants(":since: must be a duration before now (24h, 7d) or a time (2026-11-20T03:12).")
}

func TestReportKey(t *testing.T) {
	var keys []Subject
	var since time.Time
	var err error
	report := func(o *Options) {
		fake(o).onReport = func(_ context.Context, k []Subject, s time.Time) (string, error) {
			keys, since = k, s
			return "electop-report-billing-20261120-1201.md", err
		}
	}
	d := drive(t, mixedSnapshot(), 120, 36, remembers(uitest.Yesterday()), report)
	d.open("service/billing/leader")
	cmd := d.keys("E")
	d.wants("Writing a report about 1 election since Nov 19 12:01.")
	d.keys("E")
	d.wants("No report: another report is still in progress.")
	d.run(cmd)
	d.wants("Wrote electop-report-billing-20261120-1201.md")
	if !slices.Equal(keys, []Subject{{Datacenter: "dc1", Key: "service/billing/leader"}}) || !since.Equal(ago(24*time.Hour)) {
		t.Errorf("%v since %s", keys, since)
	}
	err = errors.New("permission\x1b denied")
	d.run(d.keys(":", "'report 2h", "enter"))
	d.wants("The report was not written: permission", "denied")
	d.keys("esc")
	d.open("service/auth/leader") // view 2 covers this row: a report must not be about it
	d.keys("esc")
	d.travels("2", "/", "'election:billing", "enter")
	err = nil
	d.run(d.keys(":", "'report 3h", "enter"))
	if len(keys) != 1 || keys[0].Key != "service/billing/leader" || !since.Equal(ago(3*time.Hour)) {
		t.Errorf("%v since %s", keys, since)
	}
}

func TestReportWithoutAHistory(t *testing.T) {
	d := drive(t, mixedSnapshot(), 120, 36)
	d.keys("E")
	d.wants("Writing a report requires a history (--history).")
	d.keys("2", "E")
	d.wants("Writing a report requires a history")
	empty := drive(t, emptySnapshot(false), 120, 36)
	empty.keys("E")
	empty.wants("No report: no election is selected.")
}
