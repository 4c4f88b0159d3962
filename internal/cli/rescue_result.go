package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
	"electop/internal/rescue"
)

// Results of an item. If a fix failed, the result is the kind of its outcome instead.
const (
	resultProposed = "proposed" // the fix was not applied, because of --dry-run or --read-only
	resultApplied  = "applied"
	resultWaiting  = "waiting" // waiting for the end of a lock-delay
	resultManual   = "manual"  // electop cannot fix the problem
	resultLed      = "led"     // a leader was observed later, with or without a fix
)

// rescueItem is one election with a problem.
type rescueItem struct {
	*rescue.Item
	result string
	reason string // why the fix was not applied
	leader string // set if the result is resultLed
	err    error  // error of the write to Consul
}

func (i *rescueItem) name() string { return sanitize.Line(i.Election.Name, 100) }

// ended reports whether the key was deleted and no candidate was seen. This state is normal, for example after the
// end of a job.
func (i *rescueItem) ended() bool {
	return !i.Election.Exists && i.Fix.Problem == insight.ProblemNoCandidate
}

// destroyedBy reports whether the fix of the other item has destroyed the session of this item.
func (i *rescueItem) destroyedBy(other *rescueItem) bool {
	return i.Writes() && other.result == resultApplied && other.Election.Pair.Session == i.Election.Pair.Session
}

func (i *rescueItem) fail(kind insight.OutcomeKind, reason string) {
	i.result, i.reason = string(kind), reason
}

// outcome sets the result from the error of the write.
func (i *rescueItem) outcome(err error) {
	i.err, i.result = err, resultApplied
	if o := outcomeOf(insight.Outcome{Target: i.Election.Target()}, err); err != nil {
		i.fail(o.Kind, o.Reason)
	}
}

// uncertain reports whether the election has a leader, but electop cannot tell whether that leader has failed.
func (i *rescueItem) uncertain() bool {
	return i.Fix.Problem == insight.ProblemUnknown && i.Election.Pair.Held()
}

// certainFirst orders items whose leader may be healthy after all other items.
func certainFirst(a, b *rescueItem) int {
	switch {
	case a.uncertain() == b.uncertain():
		return 0
	case b.uncertain():
		return -1
	}
	return 1
}

// awaitsLeader reports whether the election may still get a leader.
func (i *rescueItem) awaitsLeader() bool {
	return !i.uncertain() && slices.Contains([]string{resultApplied, resultWaiting, resultManual}, i.result)
}

// follow sets the result if the election has a new leader.
func (i *rescueItem) follow(s *election.Snapshot) {
	e := s.Find(election.KeyID(i.Election.Key()))
	if _, stale := s.StaleSince(i.Election.Key()); stale || e == nil || !i.awaitsLeader() {
		return
	}
	problem := i.Election.Pair
	if e.State(s.At) == election.Led && (!i.Election.Exists || !problem.Held() || e.Pair.Session != problem.Session) {
		i.result, i.leader = resultLed, e.Leader
	}
}

func (i *rescueItem) exitCode(waited bool) int {
	switch i.result {
	case resultProposed, resultLed:
		return exitOK
	case resultApplied:
		if waited {
			return exitNoLeader
		}
		return exitOK
	case resultWaiting, resultManual:
		return exitNoLeader
	default:
		return outcomeExit(insight.Outcome{Kind: insight.OutcomeKind(i.result)}, false)
	}
}

// propose reports the problems and their fixes without applying the fixes.
func (r *rescueCommand) propose() error {
	for _, i := range r.items {
		i.result = resultProposed
	}
	if r.output == "text" {
		r.writePlan(r.d.stdout)
		return nil
	}
	for _, i := range r.items {
		if err := r.report(i); err != nil {
			return err
		}
	}
	return nil
}

// writePlan writes each election with its problem and the fix.
func (r *rescueCommand) writePlan(w io.Writer) {
	if len(r.items) == 0 {
		fmt.Fprintln(r.d.stderr, "electop: found no elections without a leader and no failed leaders")
	}
	width := cmp.Or(terminalWidth(w), output.DefaultWidth)
	for _, i := range r.items {
		for _, line := range []string{
			fmt.Sprintf("%s (key %s)", i.name(), sanitize.Line(i.Election.Key(), 200)),
			"  problem   " + string(i.Fix.Problem),
			"  why       " + i.Fix.Why,
			"  fix       " + i.Fix.Do,
		} {
			fmt.Fprintln(w, output.Wrap(line, width))
		}
	}
}

type rescueJSON struct {
	Election       string          `json:"election"`
	Key            string          `json:"key"`
	Datacenter     string          `json:"datacenter"`
	Problem        insight.Problem `json:"problem"`
	Why            string          `json:"why"`
	Fix            string          `json:"fix"`
	Do             string          `json:"do"`
	Keys           []string        `json:"keys,omitempty"`
	LockDelayUntil string          `json:"lock_delay_until,omitempty"`
	Session        string          `json:"session,omitempty"`
	Result         string          `json:"result"`
	Reason         string          `json:"reason,omitempty"`
	Leader         string          `json:"leader,omitempty"`
}

// report writes the result of one item: results and JSON to stdout, failures to stderr.
func (r *rescueCommand) report(i *rescueItem) error {
	if r.output == "json" {
		return r.reportJSON(i)
	}
	switch i.result {
	case resultApplied:
		_, err := fmt.Fprintf(r.d.stdout, "%s: %s applied (%s)\n", i.name(), i.Kind(), i.Fix.Problem)
		return err
	case resultLed:
		_, err := fmt.Fprintf(r.d.stdout, "%s: %s leads\n", i.name(), election.ShortLeader(i.leader))
		return err
	case resultWaiting, resultManual:
		if i.uncertain() {
			fmt.Fprintf(r.d.stderr, "electop: %s: %s %s\n", i.name(), i.Fix.Why, i.Fix.Do)
			return nil
		}
		fmt.Fprintf(r.d.stderr, "electop: %s: %s. %s\n", i.name(), i.Fix.Problem, i.Fix.Do)
	default:
		fmt.Fprintf(r.d.stderr, "electop: %s: %s was not applied (%s): %s\n", i.name(), i.Kind(), i.result, sanitize.Line(i.reason, 1000))
	}
	return nil
}

func (r *rescueCommand) reportJSON(i *rescueItem) error {
	e := i.Election
	j := rescueJSON{
		Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Problem: i.Fix.Problem, Why: i.Fix.Why, Fix: i.Kind(), Do: i.Fix.Do, Keys: i.Destroy.Keys,
		LockDelayUntil: election.FormatTime(i.Fix.Until), Result: i.result, Reason: i.reason, Leader: i.leader,
	}
	if i.Fix.Problem == insight.ProblemNodeGone {
		j.Session = e.Pair.Session
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.d.stdout, "%s\n", sanitize.JSON(text))
	return err
}
