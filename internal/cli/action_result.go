package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// outcomeOf sets the kind and the reason of an outcome from the error of the action.
func outcomeOf(o insight.Outcome, err error) insight.Outcome {
	// The kind of the outcome already says that nothing was written.
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

// outcomeExit returns the exit code of one outcome. With --wait, an action counts as failed if its result was not
// observed.
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

// worstExit returns an error with the most severe exit code, or nil if all outcomes mean success.
func worstExit(outcomes []insight.Outcome, waited bool) error {
	codes := map[int]bool{}
	for _, o := range outcomes {
		codes[outcomeExit(o, waited)] = true
	}
	return worstOf(codes)
}

// worstOf returns an error with the most severe of the exit codes, or nil if all mean success.
func worstOf(codes map[int]bool) error {
	for _, code := range bySeverity() {
		if code != exitOK && codes[code] {
			return exitError(code)
		}
	}
	return nil
}

// writeSummary writes a line with the number and the names of the outcomes for each exit code except success. The most
// severe code comes last. For a single outcome, it writes a line only if the same leader leads again.
func writeSummary(w io.Writer, outcomes []insight.Outcome, waited bool) {
	byCode := map[int][]string{}
	for _, o := range outcomes {
		code := outcomeExit(o, waited)
		byCode[code] = append(byCode[code], targetName(o.Target))
	}
	severity := bySeverity()
	for _, code := range slices.Backward(severity[:]) {
		names := strings.Join(byCode[code], ", ")
		switch {
		case names == "" || code == exitOK:
		case len(outcomes) > 1:
			fmt.Fprintf(w, "electop: %d of %d %s: %s\n", len(byCode[code]), len(outcomes), exitText(code), names)
		case code == exitSameLeader:
			fmt.Fprintf(w, "electop: %s: %s\n", exitText(code), names)
		}
	}
}

// result writes the summary and returns the exit code. The caller has already reported the items.
func (b *batch) result() error {
	outcomes := make([]insight.Outcome, len(b.items))
	for i, s := range b.items {
		outcomes[i] = s.outcome
	}
	writeSummary(b.d.stderr, outcomes, b.wait > 0)
	err := cmp.Or(worstExit(outcomes, b.wait > 0), b.written)
	if err == nil && b.hidden {
		return b.d.unverified()
	}
	return err
}

// exitText describes the result of the elections that have this exit code.
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
		err = writeJSONLine(b.d.stdout, s.outcome)
	} else {
		err = b.reportText(s)
	}
	if b.written == nil {
		b.written = err
	}
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

// targetName returns the name of the election or the session, safe to show.
func targetName(t election.Target) string {
	if t.Key == "" {
		return "session " + sanitize.Line(t.Session, 40)
	}
	return sanitize.Line(t.Election, 100)
}

func (s *item) name() string { return targetName(s.target()) }

// summary describes the outcome in one line. Without --wait, it cannot name the next leader.
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

// showWarnings writes the warnings of the pending items. Callers use it if they do not show the plan.
func (b *batch) showWarnings() {
	for _, s := range b.pending() {
		for _, text := range s.effect.Warnings {
			b.printMessage(fmt.Sprintf("electop: %s: %s", s.name(), text))
		}
	}
}

// printMessage writes a message to stderr. It wraps the message only for a terminal, so that a program can read it as
// one line.
func (b *batch) printMessage(line string) {
	if width := terminalWidth(b.d.stderr); width > 0 {
		line = output.Wrap(line, width)
	}
	fmt.Fprintln(b.d.stderr, line)
}
