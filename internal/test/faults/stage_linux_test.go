package faults

import (
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/election"
	"electop/internal/consultest"
)

// stage is the environment of a fault test: electop observes the election web through a proxy.
type stage struct {
	t      *testing.T
	agent  *consultest.Agent
	proxy  *consultest.Proxy
	truth  *truth
	writer *writer
	watch  *watching
	board  *dashboard

	mu      sync.Mutex
	changed time.Time // leader of the latest term
	leader  string
}

// setting is the part of a stage that a fault can choose, in addition to an agent.
type setting struct {
	agent   *consultest.Agent
	writers []*api.Client // clients of other servers; if empty, the writers use the agent
	tls     *tls.Config
	env     []string
	args    []string
}

func newStage(t *testing.T, at setting) *stage {
	t.Helper()
	prefix := strings.NewReplacer("/", "-", "#", "-", "[", "", "]", "", ",", "").Replace(t.Name()) // brackets and commas are not allowed in a pattern
	s := &stage{t: t, agent: at.agent, truth: newTruth()}
	s.proxy = consultest.StartProxy(t, at.agent.Addr(), at.tls)
	if len(at.writers) == 0 {
		at.writers = []*api.Client{at.agent.Client()}
	}
	s.writer = newWriter("web", 1, s.truth, at.writers, prefix+"/web/leader")
	s.must(s.changeLeader())
	addr := s.proxy.Addr()
	if at.tls != nil {
		addr = "https://" + addr
	}
	env := append([]string{"NO_COLOR=1"}, at.env...)
	args := append([]string{"--http-addr", addr, "-k", prefix + "/*/leader"}, at.args...)
	s.watch = watch(t, env, args...)
	s.board = openDashboard(t, env, args...)
	s.watch.until(0, "first event", func(l line) bool { return l.Initial })
	s.board.until("leader on the board", s.right)
	return s
}

// changeLeader ends the current term of web and begins another one.
func (s *stage) changeLeader() error {
	w, k := s.writer, s.writer.keys[0]
	ctx := context.Background()
	deadline := time.Now().Add(patience)
	for before := w.next; k.doubtful || w.next == before || !k.held() || leaderOf(k.pair) != fmt.Sprintf("web-%d", w.next); {
		switch {
		case time.Now().After(deadline):
			return fmt.Errorf("Consul accepted no write within %v", patience)
		case k.doubtful:
			w.reconcile(ctx, k)
		case k.held():
			w.release(ctx, k)
		default:
			w.acquire(ctx, k)
		}
	}
	s.leads(leaderOf(k.pair))
	return nil
}

// leads records the leader of the key web.
func (s *stage) leads(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed, s.leader = time.Now(), id
}

// current compares a view with the actual leader. right is set if the view shows this leader as current, wrong if it
// shows another leader as current. since is when the leader last changed.
func (s *stage) current(v view) (right, wrong bool, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return v.live && v.leads(s.leader), v.live && !v.leads(s.leader), s.changed
}

func (s *stage) right(v view) bool {
	right, _, _ := s.current(v)
	return right
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// fault is one row of the table in docs/reliability.md.
type fault struct {
	name string
	// at prepares Consul. If it is nil, the shared agent is used.
	at func(t *testing.T) setting
	// begin injects the fault, end removes it.
	begin, end func(s *stage)
	lasts      time.Duration
	// silent is set if the screen shows no banner during the fault, and changes only after it.
	silent bool
	// reports is set if the screen shows a change while the fault lasts.
	reports bool
	// still is set if Consul accepts no write during the fault.
	still bool
	// quick is set if `make test` includes the fault: one of each class.
	quick bool
}

// result contains the measurements.
type result struct {
	name, says          string
	seen, stale, mended time.Duration
	lost, restored      int
	before, after       usage
}

// play injects the fault, and checks electop's output during the fault and afterwards.
func (f fault) play(t *testing.T) {
	t.Parallel()
	if !f.quick && os.Getenv("ELECTOP_FAULTS") != "all" {
		t.Skip("run it with `make faults`")
	}
	at := setting{}
	if f.at == nil {
		at.agent = consultest.Shared(t)
	} else {
		at = f.at(t)
	}
	s := newStage(t, at)
	r := result{name: f.name, seen: -1}
	r.before = usageOf(t, s.watch.pid())
	begun := time.Now()
	f.begin(s)
	s.during(f, begun, &r)
	f.end(s)
	ended := time.Now()
	if f.still {
		s.must(s.changeLeader())
		ended = time.Now()
	}
	v := s.board.until("current board after the fault", s.right)
	s.correct()
	r.mended = max(v.at.Sub(ended), 0)
	s.finish(f, &r)
}

// during watches the screen during the fault and changes the leader.
func (s *stage) during(f fault, begun time.Time, r *result) {
	turned := make(chan error, 1)
	if f.still {
		turned <- nil
	} else {
		go func() { turned <- s.changeLeader() }()
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	wasLost, shown := false, false
	limit := f.lasts + patience
	if f.reports {
		limit = max(f.lasts, patience)
	}
	for ; ; <-tick.C {
		since := time.Since(begun)
		if since > f.lasts && (shown || since > limit) {
			break
		}
		v := s.board.look()
		if v.lost && v.aged && r.seen < 0 {
			r.seen, r.says = v.at.Sub(begun), v.says()
		}
		right, wrong, changed := s.current(v)
		shown = (r.seen >= 0 || f.silent) && (right || !f.reports)
		if wrong {
			r.stale = max(r.stale, v.at.Sub(changed))
		}
		if wasLost && wrong {
			s.t.Logf("the screen shows the stale board as live:\n%s", v.text)
		}
		wasLost = v.lost
	}
	s.must(<-turned)
	if !shown {
		s.t.Errorf("the screen did not show the fault or the change within %v", limit)
	}
}

// correct waits until electop has reported every term.
func (s *stage) correct() {
	s.t.Helper()
	var v *verdict
	if !consultest.Poll(patience, func() bool { v = s.truth.compare(s.watch.all()); return len(v.wrong) == 0 }) {
		s.t.Fatalf("%s\nthe latest events: %s", strings.Join(v.wrong, "\n"), latest(s.watch.all()))
	}
}

// finish changes the leader again after the fault. It compares the resource usage of electop with the usage before
// the fault.
func (s *stage) finish(f fault, r *result) {
	s.must(s.changeLeader())
	s.board.until("change after the fault", s.right)
	s.correct()
	if !consultest.Poll(patience, func() bool {
		r.after = usageOf(s.t, s.watch.pid())
		r.lost, r.restored = s.connections()
		return r.settled()
	}) {
		s.t.Errorf("electop uses %v after the fault, %v before; %d times lost, %d times restored", r.after, r.before, r.lost, r.restored)
	}
	r.write(s.t, f)
}

func (r *result) settled() bool {
	return r.after.files <= r.before.files+fileSlack && r.after.rssKB <= r.before.rssKB+memorySlackKB && r.lost == r.restored
}

// connections counts the events about the connection.
func (s *stage) connections() (lost, restored int) {
	for _, l := range s.watch.all() {
		switch l.Type {
		case election.ConnectionLost:
			lost++
		case election.ConnectionRestored:
			restored++
		default:
		}
	}
	return lost, restored
}

// These are the limits of the additional usage after a fault. Idle connections remain, and Go releases memory late.
const (
	fileSlack     = 8
	memorySlackKB = 32 << 10
)

var table sync.Mutex

// write logs the result as a row of a table. If ELECTOP_FAULT_TABLE names a file, write also appends the row to it.
func (r *result) write(t *testing.T, f fault) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
	seen := "–"
	if r.seen >= 0 {
		seen = seconds(r.seen)
	}
	says := r.says
	if says == "" {
		says = "nothing"
	}
	row := fmt.Sprintf("| %s | %s | %s | %s | %s | %d / %d | %d → %d | %.1f → %.1f MB |", f.name, says, seen, seconds(r.stale), seconds(r.mended),
		r.lost, r.restored, r.before.files, r.after.files, float64(r.before.rssKB)/1024, float64(r.after.rssKB)/1024)
	t.Log(row)
	path := os.Getenv("ELECTOP_FAULT_TABLE")
	if path == "" {
		return
	}
	table.Lock()
	defer table.Unlock()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	fmt.Fprintln(file, row)
}
