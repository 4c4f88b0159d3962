package act_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"electop/election"
	"electop/internal/act"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeConsul is a Consul with one key per election. Its candidates acquire a free key after a delay.
type fakeConsul struct {
	mu       sync.Mutex
	keys     map[string]*key
	seen     chan *election.Snapshot // nil before the drain
	inFlight int
	most     int
	log      []string // every write, with the node whose session held the key
	cancel   func()   // called before the write with number cancelAt
	cancelAt int
	// interrupted is set if the context of a write ended before the write.
	interrupted bool
	lag         time.Duration // time from a change to its observation
	confirm     time.Duration // time from a write to its confirmation
	ahead       time.Duration // the times of observations are ahead of the clock
}

type key struct {
	hold  election.Target // Session is empty while the key is free
	term  uint64
	terms []election.Term
	// next returns the node whose session acquires the key after n releases, or "" if no session acquires it.
	next  func(n int) string
	delay time.Duration
	// fails returns the outcome of a write. A write whose outcome is not OutcomeDone changes nothing.
	fails    func(n int) act.OutcomeKind
	releases int
	likely   int // number of likely candidates on other nodes in the plan
	skip     string
}

// onResult sets the function that receives the results.
func onResult(f func(act.Outcome)) func(*act.Runner) {
	return func(r *act.Runner) { r.OnResult = f }
}

// latency is the duration of one write.
const latency = time.Millisecond

func newFakeConsul() *fakeConsul { return &fakeConsul{keys: map[string]*key{}} }

// always returns a function that returns the same node for each n.
func always(node string) func(int) string { return func(int) string { return node } }

// after returns a function that returns node-2 for the first n releases, and node-3 after that.
func after(n int) func(int) string {
	return func(releases int) string {
		if releases <= n {
			return "node-2"
		}
		return "node-3"
	}
}

// add creates an election whose leader is a session on a node.
func (w *fakeConsul) add(name, node string, next func(int) string) *key {
	k := &key{next: next, delay: 3 * time.Millisecond}
	w.keys["service/"+name+"/leader"] = k
	k.lead(name, node)
	return k
}

func (k *key) lead(name, node string) {
	k.term++
	session := fmt.Sprintf("%s-%s", name, node)
	k.hold = election.Target{
		Election: name, Key: "service/" + name + "/leader", Session: session, CreateIndex: 1, LockIndex: k.term,
		Term: k.term, ModifyIndex: 10 * k.term, Leader: session, Node: node,
	}
	k.terms = append(k.terms, election.Term{Number: k.term, CreateIndex: 1, Session: session, Leader: session, Node: node, Start: time.Now(), StartKnown: true})
}

func (w *fakeConsul) Act(ctx context.Context, kind election.ActionKind, d election.Destroy) act.Outcome {
	o := w.write(kind, d.Target)
	<-time.After(w.confirm) //nolint:forbidigo // inside synctest
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interrupted = w.interrupted || ctx.Err() != nil
	return o
}

func (w *fakeConsul) write(kind election.ActionKind, t election.Target) act.Outcome {
	w.mu.Lock()
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	n := len(w.log) + 1
	w.log = append(w.log, fmt.Sprintf("%s %s %s", kind, t.Election, t.Node))
	if w.cancel != nil && n == w.cancelAt {
		w.cancel()
	}
	w.mu.Unlock()
	<-time.After(latency) //nolint:forbidigo // inside synctest
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight--
	o := act.Outcome{Action: kind, Target: t, Kind: act.OutcomeDone}
	k := w.keys[t.Key]
	k.releases++
	if k.fails != nil {
		if o.Kind = k.fails(k.releases); o.Kind != act.OutcomeDone {
			o.Reason = "the reason"
			return o
		}
	}
	if k.hold.Session != t.Session || k.hold.LockIndex != t.LockIndex {
		o.Kind = act.OutcomeChanged
		return o
	}
	w.free(k)
	if node := k.next(k.releases); node != "" {
		time.AfterFunc(k.delay, func() { w.elect(t.Key, node) })
	}
	return o
}

// free ends the hold of a key. The caller holds the mutex.
func (w *fakeConsul) free(k *key) {
	k.hold = election.Target{}
	last := &k.terms[len(k.terms)-1]
	last.End, last.AliveUntil = time.Now(), time.Now()
	w.report()
}

// elect makes a session on a node acquire a key.
func (w *fakeConsul) elect(name, node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.keys[name]
	if k.hold.Session != "" {
		w.free(k)
	}
	k.lead(name[len("service/"):len(name)-len("/leader")], node)
	w.report()
}

// report passes the current state to the runner.
func (w *fakeConsul) report() {
	switch s := w.snapshot(); {
	case w.seen == nil:
	case w.lag > 0:
		time.AfterFunc(w.lag, func() { w.seen <- s })
	default:
		w.seen <- s
	}
}

// show passes the current state with a state of the connection to the runner.
func (w *fakeConsul) show(state election.ConnectionState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.snapshot()
	s.Connection.State = state
	w.seen <- s
}

// snapshot returns the current state. The caller holds the mutex.
func (w *fakeConsul) snapshot() *election.Snapshot {
	s := &election.Snapshot{At: time.Now().Add(w.ahead).Round(0)}
	for _, name := range slices.Sorted(maps.Keys(w.keys)) {
		k := w.keys[name]
		e := &election.Election{
			Exists: true, Pair: election.Pair{Key: name, CreateIndex: 1, LockIndex: k.term, ModifyIndex: 10 * k.term, Session: k.hold.Session},
			Term: k.term, Terms: slices.Clone(k.terms), Since: k.terms[len(k.terms)-1].Start.Add(w.ahead).Round(0), Leader: k.hold.Leader,
		}
		if k.hold.Session != "" && k.hold.Node != "unread" {
			e.Session = &election.Session{ID: k.hold.Session, Node: k.hold.Node}
		}
		s.Elections = append(s.Elections, e)
	}
	return s
}

// plan returns a plan for the elections that node-2 leads.
func (w *fakeConsul) plan() act.Plan {
	p := act.Plan{Nodes: []string{"node-2"}, Options: act.Defaults()}
	for _, k := range w.keys {
		if k.hold.Node == "node-2" {
			item := &act.Item{Outcome: act.Outcome{Action: election.ActionDrain, Target: k.hold}, Likely: k.likely}
			if k.skip != "" {
				item.Refuse("", k.skip)
			}
			p.Items = append(p.Items, item)
		}
	}
	slices.SortFunc(p.Items, func(a, b *act.Item) int { return slices.Compare([]byte(a.Target.Key), []byte(b.Target.Key)) })
	return p
}

// run drains node-2 and returns the results by election.
func (w *fakeConsul) run(ctx context.Context, change ...func(*act.Runner)) map[string]act.Outcome {
	w.mu.Lock()
	r := act.NewRunner(w.plan(), w)
	for _, set := range change {
		set(r)
	}
	w.seen = make(chan *election.Snapshot, 1000)
	w.mu.Unlock()
	found := map[string]act.Outcome{}
	for _, r := range r.Run(ctx, nil, w.seen) {
		found[r.Target.Election] = r
	}
	return found
}

func TestACandidateThatReturnsIsReleasedAgainAtOnce(t *testing.T) {
	// Four rounds take 4 ms each, 1 ms for the write and 3 ms for the next leader, if each release is confirmed before.
	for confirm, rounds := range map[time.Duration]time.Duration{0: 16 * time.Millisecond, 5 * time.Millisecond: 22 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			w := newFakeConsul()
			w.confirm = confirm
			w.add("web", "node-2", after(3)).likely = 1
			start := time.Now()
			r := w.run(t.Context())["web"]
			if took := time.Since(start); took != rounds+5*time.Second || r.Here || r.Summary() != "web-node-2 on node-2 → web-node-3 on node-3 after 12ms in total, 4 releases" {
				t.Errorf("%+v after %s: %s", r, took, r.Summary())
			}
		})
	}
}

// The pause begins again with each leader, but not for ever.
func TestASessionExpiresDuringThePauseOfADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, start := newFakeConsul(), time.Now()
		k := w.add("web", "node-2", nil)
		k.likely, k.next = 1, func(n int) string {
			if n > 10 {
				return "node-3"
			}
			if n == 10 { // the drain pauses
				time.AfterFunc(5*time.Second, func() {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.free(k)
				})
				time.AfterFunc(15*time.Second, func() { w.elect("service/web/leader", "node-2") })
			}
			return "node-2"
		}
		if r := w.run(t.Context())["web"]; r.Summary() != "web-node-2 on node-2 → web-node-3 on node-3 after 10s in total, 11 releases" || time.Since(start) > 30*time.Second {
			t.Error(r.Summary())
		}
	})
}

// A client that polls every 5 s until two reads are equal competes again only if the leader remains for 10 s.
func TestLaterRoundsWaitForClientsThatPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeConsul()
		for _, name := range []string{"web", "mail", "chat", "post", "auth", "shop", "jobs", "logs", "more"} {
			var last time.Time
			k := w.add(name, "node-2", func(int) string {
				paused := time.Since(last) < 10*time.Second
				last = time.Now()
				if paused {
					return "node-2"
				}
				return "node-3"
			})
			last = time.Now()
			k.likely = 1
		}
		w.add("quick", "node-2", always("node-3"))
		start, pausing := time.Now(), map[string]bool{}
		for name, r := range w.run(t.Context(), onResult(func(r act.Outcome) {
			if r.Pausing {
				pausing[r.Target.Election] = true
			}
		})) {
			want := 11 // pauses in the second half of the rounds
			if name == "quick" {
				want = 1
			}
			if r.Kind != act.OutcomeMoved || r.Rounds != want || r.Pausing || pausing[name] != (name != "quick") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		// During a pause, other elections must move.
		if took := time.Since(start); took < 16*time.Second || took > 18*time.Second || w.most > act.Parallel {
			t.Errorf("the drain took %s; at most %d concurrent writes", took, w.most)
		}
	})
}

func TestOnlyTheHoldThatWasReadIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeConsul()
		k := w.add("web", "node-2", always("node-3"))
		plan := w.plan()
		k.lead("web", "node-3") // the observer reports this hold as the initial state
		r := act.NewRunner(plan, w)
		got := r.Run(t.Context(), w.snapshot(), nil)[0]
		if got.Kind != act.OutcomeMoved || got.Rounds != 0 || got.Reason != "the leader changed before a release" || len(w.log) > 0 {
			t.Errorf("%+v %v", got, w.log)
		}
	})
}

func TestAHoldThatChangedIsReadAgain(t *testing.T) {
	for _, observed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newFakeConsul()
			k := w.add("web", "node-2", always("node-3"))
			plan := w.plan()
			k.lead("web", "node-2") // another term, which was not reported to the runner
			r := act.NewRunner(plan, w)
			w.seen = make(chan *election.Snapshot, 1000)
			if observed {
				time.AfterFunc(time.Second, func() { w.show(election.Live) })
			}
			got := r.Run(t.Context(), nil, w.seen)[0]
			if observed && (got.Kind != act.OutcomeMoved || got.Rounds != 2) {
				t.Errorf("%+v", got)
			}
			if !observed && (got.Kind != act.OutcomeFailed || got.Failure != act.OutcomeChanged || len(w.log) != 1) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Consul rarely accepts a rejected token again, and a script must end.
func TestADrainEndsWhenConsulRejectsTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeConsul()
		w.add("web", "node-2", always("node-3"))
		w.add("mail", "node-2", always(""))
		time.AfterFunc(6*time.Second, func() {
			w.seen <- &election.Snapshot{At: time.Now(), Connection: election.Connection{State: election.Lost, Since: time.Now(), Error: "rejected", Refused: true}}
		})
		var connection []string
		start := time.Now()
		got := w.run(t.Context(), func(r *act.Runner) {
			r.OnConnection = func(err string) { connection = append(connection, err) }
		})
		if took := time.Since(start); took != 21*time.Second || !slices.Equal(connection, []string{"rejected"}) {
			t.Errorf("the drain took %s; connection events %q", took, connection)
		}
		if r := got["mail"]; r.Kind != act.OutcomeFailed || r.Failure != act.OutcomeDenied || r.Reason != "Consul denies access" {
			t.Errorf("%+v", r)
		}
		if r := got["web"]; r.Kind != act.OutcomeMoved {
			t.Errorf("%+v", r)
		}
	})
}

func TestAnInterruptedDrainEndsItsWritesAndASecondContinues(t *testing.T) {
	for at := 1; at <= 12; at++ {
		synctest.Test(t, func(t *testing.T) {
			w := newFakeConsul()
			for i := range 6 {
				w.add(fmt.Sprint("web", i), "node-2", after(1))
			}
			w.add("mail", "node-3", always("node-3"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.cancel, w.cancelAt = cancel, at
			first := w.run(ctx)
			if w.inFlight != 0 || w.interrupted {
				t.Errorf("%d writes are in progress after the end of the drain; interrupted: %t", w.inFlight, w.interrupted)
			}
			for name, r := range first {
				if r.Final() {
					t.Errorf("%s: %+v", name, r)
				}
				if r.New.Session == "" && r.VacancyKnown {
					t.Errorf("%s: vacancy %s, although there is no next leader", name, r.Vacancy)
				}
			}
			synctest.Wait()
			<-time.After(time.Second) //nolint:forbidigo // inside synctest
			w.cancel = nil
			for name, r := range w.run(t.Context()) {
				if r.Kind != act.OutcomeMoved {
					t.Errorf("%s: %+v", name, r)
				}
			}
			for key, k := range w.keys {
				if k.hold.Node != "node-3" {
					t.Errorf("%s: %+v", key, k.hold)
				}
			}
			if slices.ContainsFunc(w.log, func(line string) bool { return line[len(line)-6:] != "node-2" }) {
				t.Errorf("%v", w.log)
			}
		})
	}
}

// failsUntil returns outcomes of the given kind for the first n writes.
func failsUntil(n int, kind act.OutcomeKind) func(int) act.OutcomeKind {
	return func(writes int) act.OutcomeKind {
		if writes <= n {
			return kind
		}
		return act.OutcomeDone
	}
}

func TestDrain(t *testing.T) {
	const stayed = "stayed after 3: a session on node-2 led again after each of 3 releases; no likely candidate was seen on another node"
	const vacant = "vacant after 1: no candidate acquired the key within 15s"
	none := func(r *act.Runner) {
		r.Likely = func(_ context.Context, led []*election.Election) []int { return make([]int, len(led)) }
	}
	for name, tt := range map[string]struct {
		setup  func(w *fakeConsul)
		change func(*act.Runner)
		want   map[string]string // by election
		took   time.Duration
	}{
		"three releases without a pause if no candidate on another node is likely": {
			func(w *fakeConsul) {
				w.add("web", "node-2", always("node-2"))
				w.add("mail", "node-2", always("node-3"))
			}, nil, map[string]string{"web": stayed, "mail": "moved after 1"}, 4*time.Millisecond + 5*time.Second,
		},
		"the other candidates have ended when the drain pauses": {
			func(w *fakeConsul) { w.add("web", "node-2", always("node-2")).likely = 1 },
			none, map[string]string{"web": strings.ReplaceAll(stayed, "3", "10")}, 0,
		},
		"another session leads while the drain reads the candidates": {
			func(w *fakeConsul) {
				w.add("web", "node-2", after(10)).likely = 1
				time.AfterFunc(time.Second, func() { w.elect("service/web/leader", "node-2") })
			},
			func(r *act.Runner) {
				r.Likely = func(context.Context, []*election.Election) []int {
					<-time.After(2 * time.Second) //nolint:forbidigo // inside synctest
					return []int{0}
				}
			},
			map[string]string{"web": "moved after 11"}, 0,
		},
		"a destroy is the last resort": {
			func(w *fakeConsul) {
				w.add("web", "node-2", after(3))
				w.add("post", "node-2", after(20)).likely = 1 // what the pause finds brings no destroy forward
				w.add("mail", "node-2", always("node-2"))
				w.add("chat", "node-2", always("node-2")).fails = func(n int) act.OutcomeKind {
					if n > 3 {
						return act.OutcomeRefused
					}
					return act.OutcomeDone
				}
			}, func(r *act.Runner) { none(r); r.Destroy = true }, map[string]string{
				"web": "moved after 3 destroyed", "post": "moved after 20 destroyed", "mail": "stayed after 3 destroyed: a session on node-2 led again after each of 3 releases and after its session was destroyed; no likely candidate was seen on another node",
				"chat": "stayed after 3: a session on node-2 led again after each of 3 releases, and its session was not destroyed: the reason",
			}, 0,
		},
		"the session of the next leader is not read": {
			func(w *fakeConsul) { w.add("web", "node-2", always("unread")) }, nil,
			map[string]string{"web": "failed (done) after 1: the node of the new leader is unknown: its session was not read"}, 0,
		},
		"vacant": {func(w *fakeConsul) { w.add("web", "node-2", always("")) }, nil, map[string]string{"web": vacant}, latency + 15*time.Second},
		"Wait does not limit the observation of a release": {
			func(w *fakeConsul) {
				w.lag = 20 * time.Second
				w.add("web", "node-2", always(""))
			}, func(r *act.Runner) { r.Wait = 10 * time.Millisecond }, map[string]string{"web": "vacant after 1: no candidate acquired the key within 10ms"}, 0,
		},
		"denied": {
			func(w *fakeConsul) {
				w.add("web", "node-2", always("node-3")).fails = failsUntil(1, act.OutcomeDenied)
				w.add("mail", "node-2", always("node-3"))
			}, nil, map[string]string{"web": "failed (denied) after 1: the reason", "mail": "moved after 1"}, 0,
		},
		"a release that was not confirmed has its effect later": {
			func(w *fakeConsul) {
				w.add("web", "node-2", always("node-3")).fails = func(int) act.OutcomeKind {
					time.AfterFunc(time.Second, func() { w.elect("service/web/leader", "node-3") })
					return act.OutcomeUnknown
				}
			}, nil, map[string]string{"web": "moved after 1"}, 0,
		},
		"releases without effect are repeated": { // Consul has no leader
			func(w *fakeConsul) {
				w.add("web", "node-2", always("node-3")).fails = failsUntil(2, act.OutcomeUnknown)
				w.add("mail", "node-2", always("node-3")).fails = failsUntil(2, act.OutcomeFailed)
				w.add("chat", "node-2", always("node-3")).fails = failsUntil(99, act.OutcomeUnknown)
			}, nil, map[string]string{"web": "moved after 3", "mail": "moved after 3", "chat": "failed (unknown) after 16: the reason"}, 0,
		},
		"no conclusion while the connection is lost": {
			func(w *fakeConsul) {
				w.add("web", "node-2", always(""))
				for at, state := range map[time.Duration]election.ConnectionState{time.Second: election.Lost, time.Minute: election.Live} {
					time.AfterFunc(at, func() { w.show(state) })
				}
			}, nil, map[string]string{"web": vacant}, 75 * time.Second,
		},
		"waits follow the monotonic clock": { // the times of events are from before the clock was set back
			func(w *fakeConsul) {
				w.ahead = time.Hour
				w.add("web", "node-2", always("node-3"))
				w.add("mail", "node-2", always(""))
			}, nil, map[string]string{"web": "moved after 1", "mail": vacant}, latency + 15*time.Second,
		},
		"an election that returns during the drain": {
			func(w *fakeConsul) {
				w.add("slow", "node-2", always("node-3")).delay = 14 * time.Second
				w.add("settled", "node-2", always("node-3"))
				time.AfterFunc(7*time.Second, func() { w.elect("service/settled/leader", "node-2") })
			}, nil, map[string]string{"slow": "moved after 1", "settled": "moved after 2"}, 0,
		},
		"skipped": {
			func(w *fakeConsul) { w.add("web", "node-2", always("node-3")).skip = "refused" }, nil, map[string]string{"web": "skipped after 0: refused"}, 0,
		},
		"the spelling of a node": {
			func(w *fakeConsul) {
				w.add("web", "node-2", func(n int) string { return []string{"", "NODE-2", "Node-2", "node-3"}[n] })
			}, nil, map[string]string{"web": "moved after 3"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFakeConsul()
				tt.setup(w)
				if tt.change == nil {
					tt.change = func(*act.Runner) {}
				}
				start, got := time.Now(), map[string]string{}
				for name, r := range w.run(t.Context(), tt.change) {
					text := string(r.Kind)
					if r.Failure != "" {
						text += " (" + string(r.Failure) + ")"
					}
					text += fmt.Sprintf(" after %d", r.Rounds)
					if r.Destroyed {
						text += " destroyed"
					}
					if r.Reason != "" {
						text += ": " + r.Reason
					}
					if got[name] = text; r.Here != (r.New.Node == "node-2") {
						t.Errorf("%+v", r)
					}
				}
				if took := time.Since(start); !maps.Equal(got, tt.want) || tt.took != 0 && took != tt.took {
					t.Errorf("after %s: %q", took, got)
				}
			})
		})
	}
}

// Elections without a candidate must not delay each other.
func TestManyElectionsWithoutACandidateAreVacantTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFakeConsul()
		for i := range 100 {
			w.add(fmt.Sprintf("web%02d", i), "node-2", always(""))
		}
		start := time.Now()
		if w.run(t.Context()); time.Since(start) > 16*time.Second || w.most > act.Parallel {
			t.Errorf("the drain took %s; at most %d concurrent writes", time.Since(start), w.most)
		}
	})
}
