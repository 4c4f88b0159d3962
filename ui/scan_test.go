package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"electop/election"
	"electop/ui/internal/scene"
)

// scanned makes an option: the sessions with these names hold the keys.
func scanned(keys map[string][]string, complete bool) func(*Options) {
	return func(o *Options) {
		searches(o)
		o.Holdings = func(_ context.Context, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
			progress(9800, 9800)
			var found []election.Pair
			for _, id := range sessions {
				for _, key := range keys[id] {
					found = append(found, election.Pair{Key: key, Session: id})
				}
			}
			return found, complete, nil
		}
	}
}

// someKeys are what a scan of [studiedSnapshot] finds: a leader with keys outside
// the patterns, an idle session with many.
func someKeys() map[string][]string {
	many := make([]string, 0, 252)
	for i := range 252 {
		many = append(many, fmt.Sprintf("locks/%03d", i))
	}
	return map[string][]string{
		sessionID(0): {"service/auth/leader", "locks/nightly"}, sessionID(200): many, sessionID(320): {"locks/report"},
	}
}

func rowOf(d *driver, text string) string {
	for line := range strings.Lines(d.text()) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func TestNothingIsClaimedBeforeAScan(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.wants("nothing watched", "f scan all keys")
	d.lacks("holds nothing", "no key")
	d.keys("/", "'"+sessionID(200), "enter", "enter")
	d.wants("Nothing watched. It may hold keys outside the patterns (f scans the whole store).", "does not record waiters.")
	d.keys("esc", "x")
	d.wants("nothing watched", "f scans the whole store for keys outside the patterns")
	d.lacks("holds nothing")
}

func TestAScanFillsHolds(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	d.wants("HOLDS has all keys as of 12:01:09, 0s ago, of 9,800 scanned")
	for id, want := range map[string]string{
		sessionID(0): "2 keys: auth, 1 unwatched", sessionID(200): "252 keys, none watched", sessionID(201): " no key ",
	} {
		if got := rowOf(d, election.ShortID(id)); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	d.lacks("nothing watched")
	d.now = d.now.Add(35 * time.Second)
	d.send(tickMsg(d.now))
	d.wants("as of 12:01:09, 35s ago")

	// A session that holds a key outside the patterns is no orphan.
	if got := rowOf(d, election.ShortID(sessionID(320))); strings.Contains(got, "orphan") {
		t.Error(got)
	}
	d.keys("s", "s", "s") // by what they hold
	if r := d.m.sessions.order[0]; r.ses.ID != sessionID(200) {
		t.Errorf("%s holds the most", r.ses.Name)
	}
	d.keys("/", "'key:locks/nightly", "enter", "enter")
	d.wants("Not watched, as of 12:01:09, 35s ago", "locks/nightly", "service/auth/leader")
}

func TestNewerSessionsAreNotCovered(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	s := studiedSnapshot("")
	s.SessionList.Sessions = append(slices.Clone(s.SessionList.Sessions), testSession(700, "newcomer", "node-1"))
	d.send(snapshotMsg{s})
	if got := rowOf(d, "newcomer"); !strings.Contains(got, "nothing watched") {
		t.Errorf("of a newer session: %q", got)
	}
	d.keys("/", "'newcomer", "enter", "enter")
	d.wants("The session is newer than the latest scan: it may hold keys", "(f scans again)")
}

func TestAScanShowsProgressAndStops(t *testing.T) {
	started, end := make(chan struct{}), make(chan struct{})
	d := drive(t, studiedSnapshot(""), 120, 36, searches, func(o *Options) {
		o.Holdings = func(ctx context.Context, sessions []string, progress func(int, int)) ([]election.Pair, bool, error) {
			progress(1200, 9800)
			close(started)
			<-ctx.Done()
			<-end
			return []election.Pair{{Key: "locks/x", Session: sessions[0]}}, true, ctx.Err()
		}
	})
	d.keys("3")
	cmds := sequence(t, d.keys("f")())
	ended := make(chan scene.Searched, 1)
	go func() { ended <- cmds[0]().(scene.Searched) }()
	<-started
	d.wants("Scanning: 1,200 of 9,800 keys   f stops")
	d.keys("enter")
	d.wants("Scanning: 1,200 of 9,800 keys   f stops", "esc all sessions")
	d.keys("esc") // stops the scan, not the view
	d.wants("Stopping: 1,200 of 9,800 keys", "esc all sessions")
	close(end)
	d.send(<-ended)
	d.keys("esc")
	d.wants("The scan was stopped after 1,200 of 9,800 keys.", "nothing watched")
	d.lacks("locks/x", "HOLDS has all keys")
}

func TestAFailedScanKeepsTheResult(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), false))
	d.keys("3")
	d.performSearch()
	d.wants("this token may not read all keys", "no readable key")
	d.keys("f")
	d.send(scene.Searched{Of: d.m.sessions.scan.run, Err: errors.New("no \x1b[2J answer")})
	d.wants("The scan failed after 0 of 0 keys: no ␛[2J answer", "HOLDS has all keys as of 12:01:09", "252 keys, none watched")
	d.send(snapshotMsg{func() *election.Snapshot {
		s := studiedSnapshot("")
		s.Connection = lostSnapshot().Connection
		return s
	}()})
	if cmd := d.keys("f"); cmd != nil {
		t.Error("a scan without a connection")
	}
	d.wants("Unavailable while Consul is unreachable")
}

// The dialog lists what the scan found, and says how old that is.
func TestTheDialogUsesTheScan(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	d.now = d.now.Add(time.Minute)
	d.send(tickMsg(d.now))
	d.keys("/", "'"+sessionID(200), "enter", "x")
	d.wants("locks/000 is released, not watched", "and 242 more keys", "Scanned all 9,800 keys: 252 keys in all, as of 12:01:09, 1m ago.", "f scans")
	d.performSearch()
	d.wants("252 keys in all, as of 12:02:09.")
}

// A session without a key has no holder that loses anything and no lock-delay.
func TestASessionWithoutKeysHasNoLockDelay(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3", "/", "'"+sessionID(322), "enter", "x")
	d.wants("Lock-delay 15s", "nothing watched", "may hold more keys than are")
	d.performSearch()
	d.wants("Scanned all 9,800 keys: no key, as of 12:01:09.")
	d.wants("The session is destroyed; it holds no key.", "No lock-delay follows")
	d.lacks("must notice", "may hold more keys")
}

func TestClicksHitTheRowUnderTheNews(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	lines := strings.Split(d.text(), "\n")
	for y, line := range lines {
		if strings.Contains(line, election.ShortID(sessionID(204))) {
			d.send(clickAt(10, y))
		}
	}
	if d.m.sessions.cursor != sessionID(204) {
		t.Errorf("clicked another session than pg-pg2")
	}
}

// A scan from before the dialog says nothing about what was acquired since.
func TestAnOldScanIsNotComplete(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	d.now = d.now.Add(26 * time.Hour)
	d.send(tickMsg(d.now))
	d.keys("/", "'"+sessionID(322), "enter", "x")
	d.wants("no key, as of 12:01:09, 1d02h ago.", "may hold more keys than")
	d.lacks("it holds no key", "No lock-delay follows")
	d.performSearch()
	d.wants("it holds no key", "No lock-delay follows")
}

// A watched key that moved after the scan is not affected any more.
func TestWatchedKeysThatMovedAreNotAffected(t *testing.T) {
	d := drive(t, studiedSnapshot(""), 120, 36, scanned(someKeys(), true))
	d.keys("3")
	d.performSearch()
	d.send(snapshotMsg{takenOver(studiedSnapshot(""), keyOf("auth"))})
	d.keys("/", "'"+sessionID(0), "enter", "x")
	d.wants("locks/nightly is released, not watched", "1 key in all")
	d.lacks("service/auth/leader")
}
