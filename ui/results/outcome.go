package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/insight"
	"electop/ui/kit"
	"electop/ui/scene"
)

// words describes the progress or outcome of an action.
func (a *action) words(s *scene.Scene) string {
	text := a.Summary()
	switch {
	case a.drain != nil:
		text = a.stepWords(s)
	case a.done.IsZero():
		return "waiting for Consul's response"
	case a.Target.Key == "" && a.Kind == insight.OutcomeDone:
		return "destroyed"
	case a.Kind == insight.OutcomeDone:
		text = a.awaiting(s.Live.Find(a.Target.ID()), s.Now)
	case a.Kind == insight.OutcomeUnknown && a.Target.Key != "":
		text += "; " + leaderNow(s.Live.Find(a.Target.ID()))
	}
	return strings.ReplaceAll(text, "→", s.Sym.Arrow)
}

// awaiting describes the wait for the next leader.
func (a *action) awaiting(e *election.Election, now time.Time) string {
	if e == nil || e.Exists && e.Pair.Held() { // the snapshot is older than the action, or the next term is unknown
		return a.Summary()
	}
	text := a.Target.Leader + " → no leader yet, " + kit.Duration(now.Sub(a.done))
	switch left := e.LockDelayUntil.Sub(now); {
	case left > 0:
		text += "; lock-delay for about " + kit.Duration(left+time.Second-1) + " more"
	case e.LockDelayUntil.After(a.at):
		text += "; the lock-delay should have ended"
	}
	if a.Reason != "" {
		text += ": " + scene.Clean(a.Reason)
	}
	if a.Note != "" {
		text += "; " + scene.Clean(a.Note)
	}
	return text
}

func leaderNow(e *election.Election) string {
	switch {
	case e == nil || !e.Exists:
		return "the key no longer exists"
	case e.Pair.Held():
		return scene.OneLine(e.Leader, 60) + " leads now"
	}
	return "no leader now"
}

// outcomeOrder ranks outcomes, problems first.
func (a *action) outcomeOrder() int {
	if a.drain != nil {
		return a.stepOrder()
	}
	switch a.Kind {
	case insight.OutcomeMoved, insight.OutcomeDone:
		return 2
	case insight.OutcomeReturned, insight.OutcomeVacant:
		return 1
	default:
		return 0
	}
}

// look returns the symbol and the colour role of an action.
func (a *action) look(sym *kit.Symbols) kit.Span {
	switch {
	case a.drain != nil:
		return a.stepLook(sym)
	case a.Kind == insight.OutcomeUnknown:
		return kit.Span{kit.Bad, sym.Unknown}
	case !a.over:
		return kit.Span{kit.Accent, sym.Connecting}
	case a.Kind == insight.OutcomeVacant:
		return kit.Span{kit.Delay, sym.Vacant}
	case a.outcomeOrder() == 2:
		return kit.Span{kit.Led, sym.Led}
	case a.outcomeOrder() == 1:
		return kit.Span{kit.Delay, sym.Warning}
	}
	return kit.Span{kit.Bad, sym.Critical}
}

// what describes a batch: "release 3 elections".
func (b batch) what() string {
	noun, of := "election", ""
	switch {
	case b[0].drain != nil:
		return "drain " + b[0].drain.node
	case b[0].Target.Key == "":
		text := string(b[0].Action) + " " + kit.Plural(len(b.groups()), "session")
		if led := len(b) - len(b.groups()); led > 0 {
			text += " and follow " + kit.Plural(led, "election")
		}
		return text
	case b[0].Action == election.ActionDestroy:
		of = "the sessions of "
		if !slices.ContainsFunc(b, func(a *action) bool { return a.Target.Session != b[0].Target.Session }) {
			of = "the session of "
		}
	}
	return string(b[0].Action) + " " + of + kit.Plural(len(b), noun)
}

// worst returns the action with the most severe outcome.
func (b batch) worst() *action {
	worst := b[0]
	for _, a := range b {
		if a.outcomeOrder() < worst.outcomeOrder() {
			worst = a
		}
	}
	return worst
}

// summary describes a batch and its results: "Release 3 elections: 2 moved, 1 failed".
func (b batch) summary() string { return kit.Capital(b.what()) + ": " + b.tally() }

// tally counts the results: "2 moved, 1 failed".
func (b batch) tally() string {
	counts := map[string]int{}
	for _, a := range b {
		counts[a.result()]++
	}
	var parts []string
	for _, result := range resultWords() {
		if n := counts[result]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+result)
		}
	}
	return strings.Join(parts, ", ")
}

// resultWords lists the values of [action.result], in the order of a summary.
func resultWords() []string {
	return []string{
		"moved", "destroyed", "stayed", "vacant", "unknown", "failed", "interrupted", "moving", "waiting", "skipped",
	}
}

func (a *action) result() string {
	switch {
	case a.interrupted():
		return "interrupted"
	case a.drain != nil:
		return string(a.step.Status)
	case !a.over:
		return "waiting"
	case a.Kind == insight.OutcomeMoved:
		return "moved"
	case a.Kind == insight.OutcomeDone && a.Target.Key == "":
		return "destroyed"
	case a.Kind == insight.OutcomeReturned:
		return "stayed"
	case a.Kind == insight.OutcomeVacant:
		return "vacant"
	case a.Kind == insight.OutcomeDone, a.Kind == insight.OutcomeUnknown:
		return "unknown"
	}
	return "failed"
}

func (a *action) event(s *scene.Scene) *election.Event {
	return &election.Event{
		Time: a.at, Type: scene.ActionEvent, Election: a.name, Key: a.Target.Key, Datacenter: cmp.Or(a.Target.Datacenter, s.Live.Datacenter),
		Term: a.Target.Term, CreateIndex: a.Target.CreateIndex, Leader: a.Target.Leader,
		Session: a.Target.Session, Node: a.Target.Node, Evidence: string(a.Action) + ": " + a.words(s),
	}
}
