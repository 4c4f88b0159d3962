package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"electop/consulx"
	"electop/election"
)

// A failed read is reported and not treated as an empty result.
func TestAssessmentReportsFailedReads(t *testing.T) {
	now := time.Now()
	e := &election.Election{Name: "web", Exists: true, Pair: election.Pair{Key: "service/web/leader"}, VacantSince: now}
	s := &election.Snapshot{At: now, Elections: []*election.Election{e}}
	in := newAssessment(s, e, election.Surroundings{Key: e.Key(), SessionsErr: "sessions: not readable\x1b[2J"})
	var b bytes.Buffer
	if err := writeElection(&b, e, nil, in, now); err != nil {
		t.Fatal(err)
	}
	has(t, b.String(), "No candidate has acquired the key.", "unknown: sessions: not readable␛[2J")
	if strings.Contains(in.why, "candidate seen") {
		t.Error(in.why)
	}
	if got := in.nextText(); !strings.Contains(got, "unknown") {
		t.Errorf("%q", got)
	}
	text, err := json.Marshal(in)
	if err != nil || !strings.Contains(string(text), `"candidates":[]`) || !strings.Contains(string(text), `"advice":[]`) {
		t.Errorf("%v %s", err, text)
	}
}

// The lock state may change between the read and the probe.
func TestAProbeAfterTheLockStateChanged(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	led := &election.Election{Exists: true, Pair: election.Pair{Key: "k", Session: "s"}}
	vacant := &election.Election{Exists: true, Pair: election.Pair{Key: "k"}}
	for _, tt := range []struct {
		e     *election.Election
		found consulx.ProbeResult
		why   string
	}{
		{led, consulx.ProbeResult{State: consulx.LockHeld, Session: "s"}, ""},
		{led, consulx.ProbeResult{State: consulx.LockFree, Exists: true}, "The leader lost the key after electop read it: free: no lock-delay is active"},
		{vacant, consulx.ProbeResult{State: consulx.LockHeld, Session: "s2"}, "There was no leader when electop read the key; the key is now held by session s2."},
	} {
		in := newAssessment(&election.Snapshot{At: at, Elections: []*election.Election{tt.e}}, tt.e, election.Surroundings{Key: "k"})
		in.applyProbe(tt.found)
		if !strings.HasPrefix(in.why, tt.why) || (tt.why == "") != (in.why == "") {
			t.Errorf("%s: %q, want %q", tt.found.State, in.why, tt.why)
		}
	}
}
