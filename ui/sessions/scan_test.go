package sessions_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
	"electop/ui/scene"
)

func TestNothingIsClaimedBeforeAScan(t *testing.T) {
	d := drive(t, uitest.Studied(""), found(someKeys(), true))
	d.wants("no watched key")
	d.lacks("holds nothing", "no key")
	d.filter(uitest.SessionID(200))
	d.keys("enter")
	d.wants("No watched keys. The session may hold keys outside the patterns (f scans the whole store).", "does not record waiters.")
}

func TestAScanFillsHolds(t *testing.T) {
	d := drive(t, uitest.Studied(""), found(someKeys(), true))
	d.scan()
	d.wants("HOLDS shows all keys as of 12:01:09, 0s ago; 9,800 keys scanned")
	for id, want := range map[string]string{
		uitest.SessionID(0): "2 keys: auth, 1 unwatched", uitest.SessionID(200): "252 keys, none watched", uitest.SessionID(201): " no keys ",
	} {
		if got := d.row(election.ShortID(id)); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	d.lacks("no watched key")
	d.wait(35 * time.Second)
	d.wants("as of 12:01:09, 35s ago")

	if got := d.row(election.ShortID(uitest.SessionID(320))); strings.Contains(got, "orphan") {
		t.Error(got)
	}
	d.send(scene.SortBy{Text: "holds"})
	d.keys("g")
	if got := d.m.Selected(); got.ID != uitest.SessionID(200) {
		t.Errorf("%s is listed first, want the session with the most keys", got.Name)
	}
	d.filter("key:locks/nightly")
	d.keys("enter")
	d.wants("Unwatched keys, as of 12:01:09, 35s ago", "locks/nightly", "service/auth/leader")
}

func TestNewerSessionsAreNotCovered(t *testing.T) {
	d := drive(t, uitest.Studied(""), found(someKeys(), true))
	d.scan()
	s := uitest.Studied("")
	s.SessionList.Sessions = append(slices.Clone(s.SessionList.Sessions), uitest.Session(700, "newcomer", "node-1"))
	d.show(s)
	if got := d.row("newcomer"); !strings.Contains(got, "no watched key") {
		t.Errorf("the scan covers a newer session: %q", got)
	}
	d.filter("newcomer")
	d.keys("enter")
	d.wants("The session is newer than the latest scan: it may hold keys", "(f scans again)")
}

func TestAScanShowsProgressAndStops(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	d := drive(t, uitest.Studied(""), func(ctx context.Context, _ string, ids []string, progress func(int, int)) ([]election.Pair, bool, error) {
		progress(1200, 9800)
		close(started)
		<-ctx.Done()
		<-end
		return []election.Pair{{Key: "locks/x", Session: ids[0]}}, true, ctx.Err()
	})
	action := d.keys("f")
	wait := action.(scene.Run).Cmd().(kit.TaskMsg).Apply() // the scan is slow
	<-started
	d.wants("Scanning: 1,200 of 9,800 keys   f stops")
	d.keys("enter")
	d.wants("Scanning: 1,200 of 9,800 keys   f stops", "esc all sessions")
	d.send(scene.Back{}) // stops the scan; the session stays open
	d.wants("Stopping: 1,200 of 9,800 keys", "esc all sessions")
	close(end)
	d.finish(wait)
	d.send(scene.Back{})
	d.wants("The scan was stopped after 1,200 of 9,800 keys.", "no watched key")
	d.lacks("locks/x", "HOLDS shows all keys")
}

func TestAFailedScanKeepsTheResult(t *testing.T) {
	fails := false
	d := drive(t, uitest.Studied(""), func(ctx context.Context, _ string, ids []string, progress func(int, int)) ([]election.Pair, bool, error) {
		if fails {
			return nil, false, errors.New("no \x1b[2J answer")
		}
		return found(someKeys(), false)(ctx, "", ids, progress)
	})
	d.scan()
	d.wants("this token cannot read all keys", "no readable key")
	fails = true
	d.scan()
	d.wants("The scan failed after 0 of 0 keys: no ␛[2J answer", "HOLDS shows all keys as of 12:01:09", "252 keys, none watched")
	lost := uitest.Studied("")
	lost.Connection.State = election.Lost
	d.show(lost)
	if got := said(d.keys("f")); !strings.Contains(got, "Unavailable while Consul is unreachable") {
		t.Errorf("without a connection: %q", got)
	}
}

func TestClicksHitTheRowUnderTheNews(t *testing.T) {
	d := drive(t, uitest.Studied(""), found(someKeys(), true))
	d.scan()
	p := uitest.Painter()
	p.Areas = true
	for _, line := range d.m.View(d.s, p) {
		if strings.Contains(ansi.Strip(line), election.ShortID(uitest.SessionID(204))) {
			d.send(scene.Clicked{Area: kit.AreaAt(line, 10)})
		}
	}
	if got := d.m.Selected(); got.ID != uitest.SessionID(204) {
		t.Errorf("clicked %s instead of pg-pg2", got.Name)
	}
}
