package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/consul/api"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
)

func TestEveryErrorHasAResultAndAnExitCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		key  string
		kind act.OutcomeKind
		code int
	}{
		{nil, "k", act.OutcomeDone, exitOK},
		{consulx.ErrMoved, "k", act.OutcomeChanged, exitChanged},
		{consulx.ErrNoSession, "k", act.OutcomeChanged, exitChanged},
		{consulx.ErrNoSession, "", act.OutcomeFailed, exitFailed},
		{consulx.ErrDenied, "k", act.OutcomeDenied, exitDenied},
		{consulx.ErrRefused, "k", act.OutcomeRefused, exitFailed},
		{consulx.ErrUnknown, "k", act.OutcomeUnknown, exitFailed},
		{context.DeadlineExceeded, "k", act.OutcomeFailed, exitFailed},
		{errors.New("other"), "k", act.OutcomeFailed, exitFailed},
	} {
		o := outcomeOf(act.Outcome{Action: election.ActionRelease, Target: election.Target{Key: tt.key}}, errors.Join(tt.err))
		if o.Kind != tt.kind || exitOf(o, false) != tt.code || (o.Reason == "") != (tt.err == nil) {
			t.Errorf("%v: %+v, exit code %d", tt.err, o, exitOf(o, false))
		}
	}
}

func TestTheMostSevereExitCodeWins(t *testing.T) {
	all := []int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitOK}
	for i, want := range all {
		for _, codes := range [][]int{all[i:], {exitOK, want}} {
			if code := reportError(io.Discard, worstOf(codes...)); code != want {
				t.Errorf("%v: exit code %d, want %d", codes, code, want)
			}
		}
	}
}

func TestDrillPercentiles(t *testing.T) {
	var out strings.Builder
	r := &drill{action: &action{engine: engine{lookup: lookup{options: &options{deps: deps{stdout: &out}, output: "json"}}, items: []*act.Item{{}}}}}
	for ms := range 20 {
		r.vacancies = append(r.vacancies, time.Duration(20-ms)*time.Millisecond)
	}
	r.summarize()
	has(t, out.String(), `"max_ms":20,"p50_ms":10,"p95_ms":19`)
}

// While Consul does not respond, a state that was reached before is no result.
func TestWaitIgnoresAnOldState(t *testing.T) {
	w := &waitCommand{vacant: true, election: &election.Election{Exists: true}}
	before := w.reached()
	if w.unknown = "Consul does not respond"; !before || w.reached() {
		t.Error(before)
	}
}

func TestDoctorWithoutAConsensusLeader(t *testing.T) {
	rows := []consulx.Row{{Subject: "sessions", Status: consulx.StatusDenied}, {Subject: "consensus leader", Status: consulx.StatusDenied}}
	if got := doctorExit(consulx.Report{Rows: rows}); got != exitFailed {
		t.Errorf("exit code %d", got)
	}
}

// leaderOnFailedNode creates elections with one leader, and then the node of the leader fails.
func (w *testConsul) leaderOnFailedNode(keys ...string) (node, session string) {
	w.T.Helper()
	node = "gone-" + strings.ToLower(prefix(w.T))
	w.nodeHealth(node, api.HealthPassing)
	session = w.session(api.SessionEntry{Node: strings.ToUpper(node), LockDelay: time.Millisecond})
	for _, key := range keys {
		w.acquire(key, strings.ToUpper(session), "gone-1") // a key keeps the spelling of the session's ID
	}
	w.nodeHealth(node, api.HealthCritical)
	return node, session
}

// The evidence refuses the destroy until it is complete. A board may have seen the failure before.
func TestTheEvidenceNeedsTime(t *testing.T) {
	w := onMemory(t)
	_, s := w.leaderOnFailedNode("service/web/leader")
	o := &options{clusterFlags: clusterFlags{consul: consulx.Config{Address: w.Addr}}, history: historyOff}
	defer o.close()
	l, err := o.readOne(t.Context(), false)
	must(t, err)
	items := l.inspect(t.Context(), l.snapshot.Elections, false)
	if time.Until(items[0].Ready) < insight.FailureSeen-5*time.Second {
		t.Fatalf("%+v", items)
	}
	if err := consulx.NewOperator(l.client(), nil).DestroySession(t.Context(), items[0].Destroy); !errors.Is(err, consulx.ErrRefused) {
		t.Error(err)
	}
	w.alive(s)
	l.snapshot.Checks = items[0].Checks
	if d := (&dashboard{options: o, datacenters: []*datacenter{{lookup: l}}}).Diagnose(t.Context(), l.snapshot, items[0].Election); d.Ready != items[0].Ready {
		t.Error(d.Ready)
	}
}
