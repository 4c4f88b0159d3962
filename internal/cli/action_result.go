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
	"electop/internal/output"
)

// outcomeOf sets the kind and the reason of an outcome by the error of the action.
func outcomeOf(o insight.Outcome, err error) insight.Outcome {
	// The kind already says that nothing was written.
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

// withNote adds the note of a release, such as less protection for a large value.
func withNote(o insight.Outcome, released consulx.Released) insight.Outcome {
	o.Note = released.Note()
	return o
}

// outcomeExit is the exit code of one outcome. With --wait, an action whose result was
// not observed has failed.
func outcomeExit(o insight.Outcome, waited bool) int {
	switch o.Kind {
	case insight.OutcomeDone:
		if waited {
			return exitFailed
		}
		return exitOK
	case insight.OutcomeMoved:
		return exitOK
	case insight.OutcomeReturned:
		return exitSameLeader
	case insight.OutcomeNoLeader:
		return exitNoLeader
	case insight.OutcomeChanged:
		return exitChanged
	case insight.OutcomeDenied:
		return exitDenied
	default:
		return exitFailed
	}
}

// bySeverity returns the exit codes of a batch, the most severe first.
func bySeverity() [6]int {
	return [...]int{exitFailed, exitDenied, exitChanged, exitNoLeader, exitSameLeader, exitOK}
}

// result returns the most severe exit code of all items, which are already reported.
func (b *batch) result() error {
	byCode := map[int][]*item{}
	for _, s := range b.items {
		code := outcomeExit(s.outcome, b.wait > 0)
		byCode[code] = append(byCode[code], s)
	}
	severity := bySeverity()
	worst := exitOK
	for _, code := range slices.Backward(severity[:]) {
		all := byCode[code]
		if len(all) == 0 || code == exitOK {
			continue
		}
		worst = code // the last line describes the exit code
		if len(b.items) > 1 {
			fmt.Fprintf(b.d.stderr, "electop: %d of %d %s: %s\n", len(all), len(b.items), exitText(code), itemNames(all))
		} else if code == exitSameLeader {
			fmt.Fprintln(b.d.stderr, "electop: done, but the same leader leads again: "+itemNames(all))
		}
	}
	if worst != exitOK {
		return exitError(worst)
	}
	return b.written
}

// exitText describes the elections with an exit code.
func exitText(code int) string {
	switch code {
	case exitDenied:
		return "denied"
	case exitChanged:
		return "changed before the action"
	case exitNoLeader:
		return "without a leader"
	case exitSameLeader:
		return "done, but the same leader leads again"
	default:
		return "failed"
	}
}

// report writes the outcome of one item: JSON to stdout; text to stdout or, if nothing
// was written to Consul, to stderr.
func (b *batch) report(s *item) {
	var err error
	if b.output == "json" {
		err = b.reportJSON(s.outcome)
	} else {
		err = b.reportText(s)
	}
	if b.written == nil {
		b.written = err
	}
}

func (b *batch) reportJSON(o insight.Outcome) error {
	text, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.d.stdout, "%s\n", sanitize.JSON(text))
	return err
}

func (b *batch) reportText(s *item) error {
	line := s.name() + ": " + s.summary()
	if !wasApplied(s.outcome.Kind) {
		b.printMessage("electop: " + line)
		if s.outcome.Kind == insight.OutcomeRefused && s.effect.Better != "" {
			fmt.Fprintln(b.d.stderr, "  instead   "+s.effect.Better)
		}
		return nil
	}
	_, err := fmt.Fprintln(b.d.stdout, line)
	return err
}

func wasApplied(kind insight.OutcomeKind) bool {
	return slices.Contains([]insight.OutcomeKind{
		insight.OutcomeDone, insight.OutcomeMoved, insight.OutcomeReturned, insight.OutcomeVacant,
	}, kind)
}

// name is the name of the election or the session, safe to show.
func (s *item) name() string {
	if t := s.target(); t.Key == "" {
		return "session " + sanitize.Line(t.Session, 40)
	}
	return sanitize.Line(s.target().Election, 100)
}

// summary describes the outcome in one line. Without --wait the next leader is
// unknown.
func (s *item) summary() string {
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

func (s *item) doneText() string {
	switch t := s.target(); {
	case s.outcome.Action == election.ActionRelease:
		return election.ShortLeader(t.Leader) + " was released"
	case t.Key == "":
		return "destroyed"
	default:
		return fmt.Sprintf("session %s of %s was destroyed", sanitize.Line(t.Session, 40), election.ShortLeader(t.Leader))
	}
}

// showWarnings writes the warnings if no plan is shown.
func (b *batch) showWarnings() {
	for _, s := range b.pending() {
		for _, text := range s.effect.Warnings {
			b.printMessage(fmt.Sprintf("electop: %s: %s", s.name(), text))
		}
	}
}

// printMessage writes a message to stderr. It is wrapped only for a terminal, so that a
// program reads one line.
func (b *batch) printMessage(line string) {
	if width := output.TerminalWidth(b.d.stderr); width > 0 {
		line = output.Wrap(line, width)
	}
	fmt.Fprintln(b.d.stderr, line)
}
