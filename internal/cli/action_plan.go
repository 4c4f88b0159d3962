package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// commandLabel is the start of each line with a command that the recognised software offers instead of the action.
// These lines are never wrapped.
const commandLabel = "  better    "

// shownKeys is the maximum number of keys of a session, and of names in one line, that the plan shows.
const shownKeys = 10

// showPlan writes the effects of the action before the confirmation.
func (b *batch) showPlan() {
	pending := b.pending()
	var lines, names []string
	var effects []insight.Effect
	for _, s := range pending {
		lines = append(lines, s.headLines()...)
		names, effects = append(names, s.name()), append(effects, s.effect)
	}
	lines = append(lines, effectLines(names, effects)...)
	if b.kind == election.ActionDestroy {
		for _, t := range b.sessions() {
			lines = append(lines, b.sessionLines(t)...)
		}
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, commandLabel) {
			line = output.Wrap(line, cmp.Or(terminalWidth(b.d.stderr), output.DefaultWidth))
		}
		fmt.Fprintln(b.d.stderr, line)
	}
}

// headLines returns lines with the name of an election, its leader and its likely next leader. For a session that leads
// no watched election, it returns one line with the session.
func (s *item) headLines() []string {
	t := s.target()
	if s.election == nil {
		return []string{fmt.Sprintf("Destroy session %s.", sanitize.Line(t.Session, 40))}
	}
	verb := "Release"
	if s.outcome.Action == election.ActionDestroy {
		verb = "Destroy the session of"
	}
	return []string{
		fmt.Sprintf("%s %s (key %s).", verb, s.name(), sanitize.Line(t.Key, 200)),
		"  leader    " + holderText(t),
		"  next      " + s.assessment.nextText(),
	}
}

func holderText(t election.Target) string {
	text := fmt.Sprintf("%s, term %d, session %s", election.ShortLeader(t.Leader), t.Term, sanitize.Line(t.Session, 40))
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		text += " on " + sanitize.Line(t.Node, 60)
	}
	return text
}

// effectLines returns the effects on all elections: first the effects that all elections share, then the remaining
// effects. Elections with the same remaining effects form one group.
func effectLines(names []string, effects []insight.Effect) []string {
	shared := effectRows(effects[0])
	if len(effects) == 1 {
		return shared
	}
	for _, effect := range effects[1:] {
		rows := effectRows(effect)
		shared = slices.DeleteFunc(shared, func(row string) bool { return !slices.Contains(rows, row) })
	}
	var lines, groups []string
	members := map[string][]string{}
	for i, effect := range effects {
		own := slices.DeleteFunc(effectRows(effect), func(row string) bool { return slices.Contains(shared, row) })
		text := strings.Join(own, "\n")
		if text != "" && members[text] == nil {
			groups = append(groups, text)
		}
		members[text] = append(members[text], names[i])
	}
	if len(shared) > 0 {
		lines = append([]string{"For each election:"}, shared...)
	}
	for _, text := range groups {
		lines = append(append(lines, "For "+shortNames(members[text])+":"), strings.Split(text, "\n")...)
	}
	return lines
}

func shortNames(names []string) string { return election.NameList(names, shownKeys) }

func effectRows(f insight.Effect) []string {
	lines := []string{"  key       " + f.Key, "  holder    " + f.Holder, "  delay     " + f.Delay}
	for _, text := range f.Warnings {
		lines = append(lines, "  warning   "+text)
	}
	if f.Better != "" {
		lines = append(lines, commandLabel+f.Better)
	}
	return lines
}

// sessionLines returns lines with the number of keys that a session to destroy holds, the first shownKeys of them, and
// the slots of semaphores that are lost. Watched keys come first.
func (b *batch) sessionLines(t election.Target) []string {
	id := t.Session
	var watched, lost []string
	for _, e := range b.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(id) {
			watched = append(watched, e.Key())
		}
		if sem := election.ReadSemaphore(e, nil); sem != nil && sem.Holds(id) {
			lost = append(lost, "  lost      a slot of the semaphore "+sanitize.Line(e.Key(), 200))
		}
	}
	var others []string
	for _, p := range b.held.of(id) {
		if !slices.Contains(watched, p.Key) {
			others = append(others, p.Key)
		}
	}
	lines := []string{b.countLine(t, len(watched)+len(others))}
	for i, key := range slices.Concat(watched, others) {
		if i == shownKeys {
			lines = append(lines, fmt.Sprintf("  and %d more", len(watched)+len(others)-shownKeys))
			break
		}
		line := fmt.Sprintf("  %-8s  %s", keyEffect(t), sanitize.Line(key, 200))
		if i >= len(watched) {
			line += " (not watched)"
		}
		lines = append(lines, line)
	}
	return append(lines, lost...)
}

// countLine returns a line with the number of keys that the session holds. The line says whether there may be more
// keys.
func (b *batch) countLine(t election.Target, n int) string {
	line := "Session " + sanitize.Line(t.Session, 40)
	if t.Behavior != "" {
		line += fmt.Sprintf(" (behavior %s, lock-delay %s)", t.Behavior, t.LockDelay)
	}
	count := election.Plural(uint64(n), "key") //nolint:gosec // not negative
	switch {
	case b.held == nil:
		return fmt.Sprintf("%s holds at least %s. Keys that match no pattern were not searched (--no-scan).", line, count)
	case b.held.incomplete:
		return fmt.Sprintf("%s holds at least %s. Not all keys could be read.", line, count)
	case n == 0:
		return line + " holds no key."
	}
	return line + " holds " + count + ":"
}

// keyEffect describes the effect on a key when its session ends.
func keyEffect(t election.Target) string {
	switch t.Behavior {
	case election.BehaviorDelete:
		return "deleted"
	case election.BehaviorRelease:
		return "released"
	}
	return "released or deleted (the session could not be read):"
}
