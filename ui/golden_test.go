package ui

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/ui/internal/uitest"
	"electop/ui/kit"
)

// commandsOf returns the commands in a tea.Sequence or tea.Batch.
func commandsOf(msg tea.Msg) ([]tea.Cmd, error) {
	v := reflect.ValueOf(msg)
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("%T is not a list of commands", msg)
	}
	var cmds []tea.Cmd
	for i := range v.Len() {
		cmds = append(cmds, v.Index(i).Interface().(tea.Cmd))
	}
	return cmds, nil
}

func lostSnapshot() *election.Snapshot {
	s := mixedSnapshot()
	s.Connection = election.Connection{
		State: election.Lost, Since: ago(3 * time.Second), LastContact: ago(4 * time.Second),
		Error: "dial tcp 127.0.0.1:8500: connect: connection refused", RetryAt: testNow().Add(8 * time.Second),
	}
	return s
}

// idleSnapshot has two finished jobs.
func idleSnapshot() *election.Snapshot {
	s := mixedSnapshot()
	for i, name := range []string{"job-1", "job-2"} {
		job := uitest.Vacant(20+i, name, 1, time.Hour, 10*time.Minute, 0, election.Unknown, "")
		job.Terms, job.Candidateless, job.VacantSinceKnown = nil, true, false
		s.Elections = append(s.Elections, job)
	}
	slices.SortFunc(s.Elections, election.Compare)
	return s
}

func emptySnapshot(filtered bool) *election.Snapshot {
	s := mixedSnapshot()
	s.Elections, s.Events, s.Filtered = nil, nil, filtered
	return s
}

// staleSnapshot has two shards that do not respond.
func staleSnapshot() *election.Snapshot {
	s := crowd(312)
	part := func(prefix string, age, retry time.Duration) election.StalePart {
		return election.StalePart{
			Part:  election.Part{Kind: election.PartKeys, Range: election.PrefixRange(prefix)},
			Since: ago(age), Error: "cannot reach Consul at 127.0.0.1:8500: request timed out", RetryAt: testNow().Add(retry),
		}
	}
	s.Connection.Stale = []election.StalePart{part("service/svc-0000", 14*time.Second, 3*time.Second), part("service/svc-0011", 12*time.Second, 5*time.Second)}
	return s
}

// staleOnly returns a snapshot in which one part is stale. kind must be a kind of part that makes no election stale.
func staleOnly(kind election.PartKind) func() *election.Snapshot {
	return func() *election.Snapshot {
		s := mixedSnapshot()
		s.Connection.Stale = []election.StalePart{{
			Part: election.Part{Kind: kind, Range: election.PrefixRange("service/"), Node: "node-1"}, Since: ago(27 * time.Second), Error: "request timed out",
		}}
		return s
	}
}

// scenes returns the screens in testdata. Each is drawn at every size.
func scenes() map[string]func(t *testing.T, w, h int) *driver {
	board := func(keys ...string) func(*testing.T, int, int) *driver {
		return func(t *testing.T, w, h int) *driver {
			d := drive(t, mixedSnapshot(), w, h)
			d.keys(keys...)
			return d
		}
	}
	snap := func(make func() *election.Snapshot, change ...func(*Options)) func(*testing.T, int, int) *driver {
		return func(t *testing.T, w, h int) *driver { return drive(t, make(), w, h, change...) }
	}
	return map[string]func(t *testing.T, w, h int) *driver{
		"mixed":            board(),
		"led":              board("k"),
		"delay":            board("j", "j"),
		"overwritten":      board("j"),
		"history":          board("k", "tab"),
		"raw":              board("k", "shift+tab"),
		"zoom":             board("k", "enter"),
		"help":             board("?"),
		"filter":           board("/", "'state:v"),
		"filtered":         board("/", "'!node:node-1", "enter"),
		"filter-error":     board("/", "'node:node-2 state:foo"),
		"filter-kept":      board("/", "'web /[a-", "enter"),
		"filter-options":   board("/", "'state:", "tab", "tab"),
		"nomatch":          board("/", "'zebra", "enter"),
		"command":          board(":", "'sort for"),
		"sorted":           board("s"),
		"events":           board("2"),
		"events-stored":    stored(uitest.Yesterday, "2"),
		"events-error":     stored(brokenHistory, "2"),
		"history-stored":   stored(uitest.Yesterday, "k", "tab", "tab"),
		"copy":             board("c"),
		"copy-session":     studied("", "3", "c"),
		"commands":         menuOf(),
		"commands-long":    menuOf("j"),
		"commands-confirm": menuOf("r", "enter"),
		"doctor":           doctorPage(nil),
		"doctor-failed":    doctorPage(errors.New("cannot reach Consul at 127.0.0.1:8500: connection refused")),
		"help-commands":    board("?", "shift+tab"),
		"marked":           board("g", "space", "space"),
		"release":          board("k", "r"),
		"destroy":          board("k", "x", "right"),
		"release-many":     board("g", "space", "space", "r"),
		"release-none":     board("r"),
		"checking": func(t *testing.T, w, h int) *driver {
			d := drive(t, studiedSnapshot(""), w, h, searches)
			d.unanswered = true
			d.mark("auth", "billing")
			d.keys("r")
			return d
		},
		"release-checked": func(t *testing.T, w, h int) *driver {
			d := drive(t, hiddenPatroni(), w, h, searches)
			d.mark("auth", "billing", "pg")
			d.keys("r")
			return d
		},
		"paused": func(t *testing.T, w, h int) *driver {
			d := drive(t, mixedSnapshot(), w, h)
			d.keys("p")
			d.now = d.now.Add(7 * time.Second)
			d.send(tickMsg(d.now))
			return d
		},
		"changed": func(t *testing.T, w, h int) *driver {
			d := drive(t, mixedSnapshot(), w, h)
			d.keys("k", "r")
			d.send(snapshotMsg{takenOver(mixedSnapshot(), "service/billing/leader")})
			return d
		},
		"idle": func(t *testing.T, w, h int) *driver {
			d := drive(t, idleSnapshot(), w, h)
			d.open("service/job-1/leader")
			return d
		},
		"locks": func(t *testing.T, w, h int) *driver {
			d := drive(t, mixedSnapshot(), w, h, discovers)
			d.send(firstOf(t, d.keys(":", "'discover", "enter")))
			return d
		},
		"datacenters":      snap(uitest.Federated, twoDatacenters),
		"datacenters-lost": snap(uitest.WithoutSecond, twoDatacenters),
		"datacenters-events": func(t *testing.T, w, h int) *driver {
			d := drive(t, uitest.WithoutSecond(), w, h, twoDatacenters)
			d.keys("2")
			return d
		},
		"datacenters-release": func(t *testing.T, w, h int) *driver {
			d := drive(t, uitest.Federated(), w, h, twoDatacenters)
			d.filter("dc:dc2 billing")
			d.keys("r")
			return d
		},
		"lost":  snap(lostSnapshot),
		"stale": snap(staleSnapshot),
		"stale-detail": func(t *testing.T, w, h int) *driver {
			d := drive(t, staleSnapshot(), w, h)
			d.open("service/svc-00110/leader")
			return d
		},
		"stale-release": func(t *testing.T, w, h int) *driver {
			d := drive(t, staleSnapshot(), w, h)
			d.open("service/svc-00112/leader")
			d.keys("r")
			return d
		},
		"recorded":         recorded(func(*election.Snapshot) {}),
		"recorded-led":     recorded(func(*election.Snapshot) {}, "g"),
		"recorded-lost":    recorded(func(s *election.Snapshot) { s.Connection = neverConnected() }),
		"recorded-loading": recorded(partlyRead, "g"),
		"empty":            snap(func() *election.Snapshot { return emptySnapshot(false) }),
		"hidden":           snap(func() *election.Snapshot { return emptySnapshot(true) }),
		"connecting":       snap(func() *election.Snapshot { return nil }),
		"unreachable": snap(func() *election.Snapshot {
			return &election.Snapshot{At: testNow(), Connection: lostSnapshot().Connection}
		}),
		"crowd":              snap(func() *election.Snapshot { return crowd(400) }),
		"candidates":         studied("service/search/leader", "tab"),
		"candidates-led":     studied("service/pg/leader", "tab"),
		"candidates-none":    studied("service/mail/leader", "tab"),
		"candidates-hidden":  studied("service/mail/leader", "tab", "blind"),
		"next":               studied("service/search/leader"),
		"semaphore":          studied("service/jobs/leader"),
		"semaphore-release":  studied("service/jobs/leader", "r"),
		"advice":             studied("service/legacy/leader", "enter"),
		"unread":             studied("service/users/leader", "unread"),
		"release-patroni":    studied("service/pg/leader", "r"),
		"destroy-patroni":    studied("service/pg/leader", "x"),
		"denied":             studied("service/billing/leader", "deny", "x"),
		"denied-footer":      studied("service/billing/leader", "deny"),
		"searching":          studied("service/billing/leader", "unanswered", "x"),
		"sessions":           studied("", "3"),
		"sessions-filter":    studied("", "3", "/", "'state:orphan", "enter"),
		"sessions-open":      studied("", "3", "/", "'cron", "enter", "enter"),
		"sessions-destroy":   studied("", "3", "/", "'cron", "enter", "space", "space", "x"),
		"sessions-destroy-1": studied("", "3", "/", "'billing", "enter", "x"),
		"release-warned":     studied("service/auth/leader", "r"),
		"release-refused":    studied("service/pg/leader", "r"),
		"marks-hidden":       board("g", "space", "space", "/", "'billing", "enter"),
		"release-hidden":     board("g", "space", "space", "/", "'billing", "enter", "r"),
		"results":            func(t *testing.T, w, h int) *driver { return batchResults(t, w, h) },
		"results-events":     afterBatch("esc", "2"),
		"results-closed":     afterBatch("esc"),
		"actions":            afterBatch("esc", "u"),
		"fix-delay":          fixed(keyOf("search"), "f"),
		"failed":             failed(),
		"fix-reading":        fixed(keyOf("search"), "reading"),
		"fix-flags":          fixed(keyOf("mail"), "flags", "f"),
		"fix-candidate":      fixed(keyOf("mail"), "none", "f"),
		"fix-node":           fixed(keyOf("ledger"), "f", "ready", "tab"),
		"drain-plan":         planOf,
		"drain-choices": func(t *testing.T, w, h int) *driver {
			d := planOf(t, w, h)
			d.keys("j", "space", "x")
			return d
		},
		"drain-long": func(t *testing.T, w, h int) *driver {
			d, _ := planned(t, &fakeDrain{}, w, h, longPlan)
			return d
		},
		"drain-name": func(t *testing.T, w, h int) *driver {
			d, _ := planned(t, &fakeDrain{}, w, h, longPlan)
			d.confirmDrain()
			d.keys("'10")
			return d
		},
		"drain-live":           drained(2),
		"drain-stop":           drained(2, "x"),
		"drain-done":           drained(3),
		"drain-events":         drained(3, "enter", "2"),
		"release-filter":       board(":", "'release state:led node:node-1", "enter"),
		"sessions-destroy-all": scannedSessions,
		"sessions-hidden": snap(func() *election.Snapshot {
			s := studiedSnapshot("")
			s.SessionList = &election.SessionList{At: testNow(), Err: "sessions: not readable with this token"}
			return s
		}, func(o *Options) { studies(o) }),
		"demo": snap(mixedSnapshot, func(o *Options) {
			o.Demo, o.ReadOnly = "8 services with 3 candidates each; a simulated failure every 15 s", true
		}),
	}
}

// recorded shows a board from a history that ended 18 minutes ago.
func recorded(change func(*election.Snapshot), keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := drive(t, nil, w, h)
		d.now = testNow().Add(18 * time.Minute)
		snap := uitest.Recorded()
		d.send(snapshotMsg{snap})
		change(snap)
		d.send(snapshotMsg{snap})
		d.keys(keys...)
		return d
	}
}

// neverConnected returns a connection that has failed since electop started.
func neverConnected() election.Connection {
	c := lostSnapshot().Connection
	c.Since, c.LastContact = testNow().Add(18*time.Minute-3*time.Second), time.Time{}
	return c
}

// partlyRead changes a snapshot: two elections are from the history, the others were read.
func partlyRead(s *election.Snapshot) {
	live := mixedSnapshot()
	live.Elections = append(slices.Clone(s.Elections[:2]), live.Elections[2:]...)
	live.Loaded, live.RecordedUntil = false, s.RecordedUntil
	*s = *live
}

// studied shows an election with its surroundings and presses keys. Some words are not keys but change the data.
func studied(key string, keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		snap := studiedSnapshot(key)
		d := drive(t, snap, w, h, searches)
		if key != "" {
			d.open(key)
		}
		for _, k := range keys {
			switch k {
			case "blind":
				snap.Surroundings.Sessions, snap.Surroundings.SessionsErr = nil, "sessions: not readable with this token"
				d.m.insights.In = nil
			case "unread":
				for node := range snap.Checks {
					snap.Checks[node] = election.NodeChecks{Err: "not readable with this token"}
				}
			case "deny":
				d.learn(snap.Find(election.KeyID(key)).Target(), denied(key))
			case "unanswered":
				d.unanswered = true
			default:
				d.keys(k)
			}
		}
		return d
	}
}

// asciiScenes is the environment variable that makes the tests draw all scenes with ASCII characters.
const asciiScenes = "ELECTOP_TEST_ASCII"

func afterBatch(keys ...string) func(*testing.T, int, int) *driver {
	return func(t *testing.T, w, h int) *driver {
		d := batchResults(t, w, h)
		d.keys(keys...)
		return d
	}
}

func scannedSessions(t *testing.T, w, h int) *driver {
	d := drive(t, studiedSnapshot(""), w, h, scanned(someKeys(), true))
	d.keys("3", "/", "'"+sessionID(200), "enter", "x")
	return d
}

func denied(key string) election.Rights {
	return election.Rights{
		Known: true, ReleaseRule: `key "` + key + `" { policy = "write" }`, DestroyRule: `session "node-3" { policy = "write" }`,
	}
}

func takenOver(s *election.Snapshot, key string) *election.Snapshot {
	for i, e := range s.Elections {
		if e.Key() != key {
			continue
		}
		n := *e
		n.Pair.Session, n.Pair.ModifyIndex, n.Pair.LockIndex = sessionID(500), e.Pair.ModifyIndex+3, e.Pair.LockIndex+1
		n.Session = testSession(500, n.Name, "node-9")
		n.Term, n.Leader, n.Since = e.Term+1, n.Name+"-9", testNow()
		n.Terms = append([]election.Term{}, e.Terms...)
		last := &n.Terms[len(n.Terms)-1]
		last.End = testNow().Add(-1300 * time.Millisecond)
		n.Terms = append(n.Terms, election.Term{
			Number: n.Term, CreateIndex: 40, Session: n.Pair.Session, Leader: n.Leader, Node: "node-9",
			Start: n.Since, StartKnown: true,
		})
		s.Elections[i] = &n
	}
	return s
}

func sizes() [][2]int { return [][2]int{{40, 10}, {60, 16}, {80, 24}, {120, 36}, {160, 45}, {200, 50}} }

func TestScreens(t *testing.T) {
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, s := range sizes() {
				fmt.Fprintf(&b, "=== %dx%d\n%s\n", s[0], s[1], trimLines(scene(t, s[0], s[1]).text()))
			}
			golden(t, name, b.String())
		})
	}
}

// Text from Consul may contain what the terminal cannot draw: it becomes question marks of the
// same width.
func TestASCIIDrawsOnlyASCII(t *testing.T) {
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{40, 10}, {120, 36}} {
				asciiScreens(t, scene, size)
			}
		})
	}
}

func asciiScreens(t *testing.T, scene func(*testing.T, int, int) *driver, size [2]int) {
	t.Helper()
	t.Setenv(asciiScenes, "1")
	d := scene(t, size[0], size[1])
	for i, line := range strings.Split(d.text(), "\n") {
		if kit.Width(line) != size[0] {
			t.Errorf("%v: line %d has %d cells: %q", size, i, kit.Width(line), line)
		}
		if at := strings.IndexFunc(line, func(r rune) bool { return r > 0x7e }); at >= 0 {
			t.Errorf("%v: line %d is not ASCII: %q", size, i, line)
		}
	}
	if title := d.m.View().WindowTitle; strings.ContainsFunc(title, func(r rune) bool { return r > 0x7e }) {
		t.Errorf("the title is not ASCII: %q", title)
	}
}
