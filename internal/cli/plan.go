package cli

import (
	"fmt"
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// betterLabel begins the line with the software's own method.
const betterLabel = "  better    "

// shownKeys is how many keys of a session the plan names.
const shownKeys = 10

// showPlan writes what will happen, so that the user can read it before the
// question.
func (j *job) showPlan() {
	pending := j.pending()
	var lines []string
	for _, s := range pending {
		lines = append(lines, s.headLines()...)
	}
	lines = append(lines, effectLines(pending)...)
	if j.kind == election.ActionDestroy {
		for _, t := range j.sessions() {
			lines = append(lines, j.sessionLines(t)...)
		}
	}
	for _, line := range lines {
		fmt.Fprintln(j.d.stderr, wrapped(line, planWidth(j.d.stderr)))
	}
}

// headLines name one election, its leader and who may be next.
func (s *subject) headLines() []string {
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
		"  leader    " + holder(t),
		"  next      " + s.insight.next(),
	}
}

// holder names who holds a key.
func holder(t election.Target) string {
	text := fmt.Sprintf("%s, term %d, session %s", election.ShortLeader(t.Leader), t.Term, sanitize.Line(t.Session, 40))
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		text += " on " + sanitize.Line(t.Node, 60)
	}
	return text
}

// effectLines say what the action does: what is the same for all elections once,
// then what differs, once for all elections for which it is the same.
func effectLines(all []*subject) []string {
	if len(all) == 1 {
		return effectRows(all[0].effect)
	}
	shared := effectRows(all[0].effect)
	for _, s := range all[1:] {
		rows := effectRows(s.effect)
		shared = slices.DeleteFunc(shared, func(row string) bool { return !slices.Contains(rows, row) })
	}
	var lines, groups []string
	named := map[string][]*subject{}
	for _, s := range all {
		own := slices.DeleteFunc(effectRows(s.effect), func(row string) bool { return slices.Contains(shared, row) })
		text := strings.Join(own, "\n")
		if text != "" && named[text] == nil {
			groups = append(groups, text)
		}
		named[text] = append(named[text], s)
	}
	if len(shared) > 0 {
		lines = append([]string{"For each of them:"}, shared...)
	}
	for _, text := range groups {
		lines = append(append(lines, "For "+shortNames(named[text])+":"), strings.Split(text, "\n")...)
	}
	return lines
}

// shortNames names the first subjects and counts the others.
func shortNames(all []*subject) string {
	text := names(all[:min(len(all), shownKeys)])
	if more := len(all) - shownKeys; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func effectRows(f insight.Effect) []string {
	lines := []string{"  key       " + f.Key, "  holder    " + f.Holder, "  delay     " + f.Delay}
	for _, text := range f.Warnings {
		lines = append(lines, "  warning   "+text)
	}
	if f.Better != "" {
		lines = append(lines, betterLabel+f.Better)
	}
	return lines
}

// sessionLines list the keys that fall with a session: how many, and the first
// of them, the watched ones before the others.
func (j *job) sessionLines(t election.Target) []string {
	id := t.Session
	var watched, lost []string
	for _, e := range j.snapshot.Elections {
		if e.Exists && e.Pair.Session == id {
			watched = append(watched, e.Key())
		}
		if sem := election.ReadSemaphore(e, nil); sem != nil && sem.Holds(id) {
			lost = append(lost, "  lost      a slot of the semaphore "+sanitize.Line(e.Key(), 200))
		}
	}
	var others []string
	for _, p := range j.held.of(id) {
		if !slices.Contains(watched, p.Key) {
			others = append(others, p.Key)
		}
	}
	lines := []string{j.countLine(t, len(watched)+len(others))}
	for i, key := range slices.Concat(watched, others) {
		if i == shownKeys {
			lines = append(lines, fmt.Sprintf("  and %d more", len(watched)+len(others)-shownKeys))
			break
		}
		line := fmt.Sprintf("  %-8s  %s", fate(t), sanitize.Line(key, 200))
		if i >= len(watched) {
			line += " (not watched)"
		}
		lines = append(lines, line)
	}
	return append(lines, lost...)
}

// countLine says how many keys the session holds, and whether there may be more.
func (j *job) countLine(t election.Target, n int) string {
	line := "Session " + sanitize.Line(t.Session, 40)
	if t.Behavior != "" {
		line += fmt.Sprintf(" (behavior %s, lock-delay %s)", t.Behavior, t.LockDelay)
	}
	count := election.Plural(uint64(n), "key") //nolint:gosec // not negative
	switch {
	case j.held == nil:
		return fmt.Sprintf("%s holds at least %s. Keys that match no pattern were not searched (--no-scan).", line, count)
	case j.held.incomplete:
		return fmt.Sprintf("%s holds at least %s. Not all keys could be read.", line, count)
	case n == 0:
		return line + " holds no key."
	}
	return line + " holds " + count + ":"
}

// fate is what becomes of a key when its session ends.
func fate(t election.Target) string {
	switch t.Behavior {
	case election.BehaviorDelete:
		return "deleted"
	case election.BehaviorRelease:
		return "released"
	}
	return "released or deleted (the session could not be read):"
}
