package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// settled says what became of an action that ended with err.
func settled(o insight.Outcome, err error) insight.Outcome {
	// The kind says so already.
	o.Reason = strings.TrimSuffix(consulx.Describe(err), "; nothing was written")
	switch {
	case err == nil:
		o.Kind = insight.OutcomeDone
	case errors.Is(err, consulx.ErrMoved), errors.Is(err, consulx.ErrNoSession) && o.Target.Key != "":
		o.Kind = insight.OutcomeChanged
	case errors.Is(err, consulx.ErrDenied):
		o.Kind = insight.OutcomeDenied
	case errors.Is(err, consulx.ErrRefused):
		o.Kind = insight.OutcomeRefused
	case errors.Is(err, consulx.ErrUnknown):
		o.Kind = insight.OutcomeUnknown
	default:
		o.Kind = insight.OutcomeFailed
	}
	return o
}

// noted adds what the operator must know about a release that was carried out.
func noted(o insight.Outcome, released consulx.Released) insight.Outcome {
	o.Note = released.Note()
	return o
}

// exitOf is the exit code that one outcome stands for. With --wait, an action
// whose result was not observed has failed.
func exitOf(o insight.Outcome, waited bool) int {
	switch o.Kind {
	case insight.OutcomeDone:
		if waited {
			return exitFailed
		}
		return exitDone
	case insight.OutcomeMoved:
		return exitDone
	case insight.OutcomeReturned:
		return exitSameLeader
	case insight.OutcomeNoLeader:
		return exitNoLeader
	case insight.OutcomeChanged:
		return exitMoved
	case insight.OutcomeDenied:
		return exitDenied
	default:
		return exitFailed
	}
}

// bySeverity orders the exit codes of several elections, the most severe first.
func bySeverity() [6]int {
	return [...]int{exitFailed, exitDenied, exitMoved, exitNoLeader, exitSameLeader, exitDone}
}

// verdict gives the most severe exit code of all elections. What happened to
// each has been reported.
func (j *job) verdict() error {
	byCode := map[int][]*subject{}
	for _, s := range j.subjects {
		code := exitOf(s.outcome, j.wait > 0)
		byCode[code] = append(byCode[code], s)
	}
	severity := bySeverity()
	decides := exitDone
	for _, code := range slices.Backward(severity[:]) {
		all := byCode[code]
		if len(all) == 0 || code == exitDone {
			continue
		}
		decides = code // the last line names what decides
		if len(j.subjects) > 1 {
			fmt.Fprintf(j.d.stderr, "electop: %d of %d %s: %s\n", len(all), len(j.subjects), verdictText(code), names(all))
		} else if code == exitSameLeader {
			fmt.Fprintln(j.d.stderr, "electop: done, but the same leader leads again: "+names(all))
		}
	}
	if decides != exitDone {
		return exitError(decides)
	}
	return j.written
}

// verdictText says what happened to the elections that stand for an exit code.
func verdictText(code int) string {
	switch code {
	case exitDenied:
		return "denied"
	case exitMoved:
		return "changed before the action"
	case exitNoLeader:
		return "without a leader"
	case exitSameLeader:
		return "done, but the same leader leads again"
	default:
		return "failed"
	}
}

// report writes what became of one election: JSON to stdout; text to stdout or,
// when nothing was carried out, to stderr.
func (j *job) report(s *subject) {
	var err error
	if j.output == "json" {
		err = j.reportJSON(s.outcome)
	} else {
		err = j.reportText(s)
	}
	if j.written == nil {
		j.written = err
	}
}

func (j *job) reportJSON(o insight.Outcome) error {
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(j.d.stdout, "%s\n", sanitize.JSON(text))
	return err
}

func (j *job) reportText(s *subject) error {
	line := s.name() + ": " + s.summary()
	if !carriedOut(s.outcome.Kind) {
		j.explainLine("electop: " + line)
		if s.outcome.Kind == insight.OutcomeRefused && s.effect.Better != "" {
			fmt.Fprintln(j.d.stderr, "  instead   "+s.effect.Better)
		}
		return nil
	}
	_, err := fmt.Fprintln(j.d.stdout, line)
	return err
}

func carriedOut(kind insight.OutcomeKind) bool {
	return slices.Contains([]insight.OutcomeKind{
		insight.OutcomeDone, insight.OutcomeMoved, insight.OutcomeReturned, insight.OutcomeVacant,
	}, kind)
}

// name is what the election is called, safe to show.
func (s *subject) name() string {
	if t := s.target(); t.Key == "" {
		return "session " + sanitize.Line(t.Session, 40)
	}
	return sanitize.Line(s.target().Election, 100)
}

// summary says in one line what became of the election. Right after an action
// it is not known who leads.
func (s *subject) summary() string {
	o := s.outcome
	if o.Kind != insight.OutcomeDone {
		return o.Summary()
	}
	text := s.doneText()
	switch {
	case o.Reason != "":
		text += ": " + o.Reason
	case o.Action == election.ActionRelease:
		text += "; it may already lead again"
	default:
		text += ". " + s.effect.Delay
	}
	if o.Note != "" {
		text += "; " + o.Note
	}
	return text
}

func (s *subject) doneText() string {
	switch t := s.target(); {
	case s.outcome.Action == election.ActionRelease:
		return election.ShortLeader(t.Leader) + " was released"
	case t.Key == "":
		return "destroyed"
	default:
		return fmt.Sprintf("session %s of %s was destroyed", sanitize.Line(t.Session, 40), election.ShortLeader(t.Leader))
	}
}

// warn writes why to think twice where no plan is shown.
func (j *job) warn() {
	for _, s := range j.pending() {
		for _, text := range s.effect.Warnings {
			j.explainLine(fmt.Sprintf("electop: %s: %s", s.name(), text))
		}
	}
}
