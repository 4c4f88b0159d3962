package cli

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// shownCandidates is the maximum number of candidates in the text. The JSON output contains all candidates.
const shownCandidates = 10

func writeElection(w io.Writer, e *election.Election, nodes map[string]election.NodeChecks, a assessment, now time.Time) error {
	tw := output.NewTable(w)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", name, sanitize.Line(fmt.Sprintf(format, args...), 1000))
	}
	row("Election", "%s", e.Name)
	row("Key", "%s", e.Key())
	row("Datacenter", "%s", e.Datacenter)
	row("State", "%s", e.State(now))
	row("Leader", "%s", leaderText(e))
	if a.why != "" {
		row("Why", "%s", a.why)
	}
	pastRows(row, e, now)
	row("Term", "%s", termText(e))
	row("Indexes", "created %d, modified %d", e.Pair.CreateIndex, e.Pair.ModifyIndex)
	row("Flags", "%s", flagsText(e.Pair.Flags))
	if e.Pair.Held() {
		sessionRows(row, e, nodes)
	}
	a.rows(row)
	a.effectRows(row, e)
	fmt.Fprintf(tw, "Value\t%s\n", byteCount(len(e.Pair.Value)))
	if err := tw.Flush(); err != nil {
		return err
	}
	return writeValue(w, e.Pair.Value)
}

func leaderText(e *election.Election) string {
	switch {
	case e.Exists && e.Pair.Held():
		return e.Leader
	case e.IsSemaphore():
		return "a semaphore has holders but no leader"
	}
	return "no leader"
}

// pastRows writes rows from the history: when the current term began, or when the latest term ended.
func pastRows(row func(string, string, ...any), e *election.Election, now time.Time) {
	if e.Exists && e.Pair.Held() {
		switch {
		case e.SinceKnown:
			row("Since", "%s (%s)", localTime(e.Since), heldText(now.Sub(e.Since), true))
		case now.Sub(e.Since) > readTimeout: // the history shows that the term began before this command
			row("Since", "%s or earlier (%s)", localTime(e.Since), heldText(now.Sub(e.Since), false))
		}
		return
	}
	if last := e.LastTerm(); last != nil && !e.IsSemaphore() {
		lostRows(row, last, now)
	}
}

// lostRows writes rows about the term that ended last.
func lostRows(row func(string, string, ...any), last *election.Term, now time.Time) {
	where := ""
	if last.Node != "" && !election.NamesNode(last.Leader, last.Node) {
		where = " on " + last.Node
	}
	row("Last leader", "%s%s, term %d, led for %s", last.Leader, where, last.Number, heldText(last.Held(now), last.HeldKnown()))
	row("Lost at", "%s", last.To(time.Time{}.Local(), localTime))
	if last.Cause != "" {
		row("Lost because", "%s: %s", last.Cause, last.Evidence)
	}
}

func heldText(d time.Duration, known bool) string {
	text := max(0, d).Round(time.Second).String()
	if !known {
		return "at least " + text
	}
	return text
}

func termText(e *election.Election) string {
	switch {
	case e.Overwritten() && e.Term > 0:
		return fmt.Sprintf("%d; since then, the key was written without the lock (LockIndex is 0 although the key is held)", e.Term)
	case e.Overwritten():
		return "unknown: the key was written without the lock (LockIndex is 0 although the key is held)"
	}
	return fmt.Sprint(e.Term)
}

func flagsText(flags uint64) string {
	switch flags {
	case election.LockFlag:
		return fmt.Sprintf("%d (set by api.Lock of Consul's Go client or `consul lock`)", flags)
	case election.SemaphoreFlag:
		return fmt.Sprintf("%d (set by api.Semaphore of Consul's Go client or `consul lock -n`)", flags)
	}
	return fmt.Sprint(flags)
}

func sessionRows(row func(string, string, ...any), e *election.Election, nodes map[string]election.NodeChecks) {
	row("Session", "%s", e.Pair.Session)
	s := e.Session
	if s == nil {
		row("", "could not be read with this token")
		return
	}
	row("  name", "%s", cmp.Or(s.Name, "none"))
	row("  node", "%s", s.Node)
	if s.TTL > 0 {
		row("  TTL", "%s (Consul invalidates the session about %s after the last renewal, later if Consul's leader changes)", s.TTL, 2*s.TTL)
	} else {
		row("  TTL", "none")
	}
	row("  behavior", "%s", s.Behavior)
	row("  lock-delay", "%s", lockDelayText(s))
	checks, read := nodes[s.Node]
	row("  node checks", "%s", checksText(s.NodeChecks, checks, read))
	row("  service checks", "%s", checksText(s.ServiceChecks, checks, read))
}

func lockDelayText(s *election.Session) string {
	if s.LockDelay > election.MaxLockDelay {
		return fmt.Sprintf("%s (Consul enforces %s)", s.LockDelay, election.MaxLockDelay)
	}
	return s.LockDelay.String()
}

func checksText(ids []string, known election.NodeChecks, read bool) string {
	if len(ids) == 0 {
		return "none"
	}
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, checkText(id, known, read))
	}
	return strings.Join(texts, ", ")
}

func checkText(id string, known election.NodeChecks, read bool) string {
	switch c := insight.FindCheck(id, known); {
	case known.Err != "":
		return id + " (" + known.Err + ")"
	case c == nil && (!read || known.Partial):
		return id + " (not readable with this token)"
	case c == nil:
		return id + " (no longer registered)"
	case c.Status != election.StatusPassing && c.Output != "":
		return id + " " + c.Status + ": " + sanitize.Line(c.Output, 200)
	default:
		return id + " " + c.Status
	}
}

func byteCount(n int) string { return election.Plural(uint64(n), "byte") } //nolint:gosec // lengths are not negative

// writeValue writes a value: JSON indented, other text line by line, and binary data as a hex dump.
func writeValue(w io.Writer, value []byte) error {
	if len(value) == 0 {
		return nil
	}
	text := hex.Dump(value)
	if utf8.Valid(value) {
		var b bytes.Buffer
		if json.Indent(&b, value, "", "  ") == nil {
			value = b.Bytes()
		}
		text = string(value)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if _, err := fmt.Fprintln(w, "  "+sanitize.Text(strings.ReplaceAll(line, "\t", "    "))); err != nil {
			return err
		}
	}
	return nil
}

// rows writes the inferences about the election.
func (a assessment) rows(row func(string, string, ...any)) {
	a.semaphoreRows(row)
	a.candidateRows(row)
	if s := a.software; s != nil {
		row("Software", "%s", s.Name)
	}
	for i, v := range a.advice {
		row(firstLabel(i, "Advice"), "%s%s: %s", urgent(v), v.Code, v.Why)
		row("", "  %s", v.Do)
	}
	for i, text := range a.around.Unread() {
		row(firstLabel(i, "Unread"), "%s", text)
	}
	if a.probe != nil {
		row("Probe", "%s", probeText(*a.probe))
	}
}

// effectRows writes the effects of release and destroy.
func (a assessment) effectRows(row func(string, string, ...any), e *election.Election) {
	if !e.Exists || !e.Pair.Held() {
		return
	}
	release, destroy := a.effect(election.ActionRelease, e), a.effect(election.ActionDestroy, e)
	if release.Refusal != "" {
		row("Release", "refused: %s", release.Refusal)
	} else {
		row("Release", "%s", release.Holder)
	}
	row("Destroy", "%s", destroy.Holder)
	for _, better := range []string{release.Better, destroy.Better} {
		if better != "" {
			row("Step down", "%s", better)
			break
		}
	}
}

// firstLabel returns the label for the first of several rows, and "" for the other rows.
func firstLabel(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

func urgent(a insight.Advice) string {
	if a.Urgent {
		return "! "
	}
	return ""
}

func (a assessment) semaphoreRows(row func(string, string, ...any)) {
	s := a.semaphore
	if s == nil {
		return
	}
	row("Semaphore", "limit %d, %d held, %d gone, %d waiting", s.Limit, s.Live(), len(s.Holders)-s.Live(), len(s.Waiters))
	for _, h := range s.Holders {
		gone := ""
		if h.Gone {
			gone = " (session ended: a contender can take the slot)"
		}
		row("  holder", "%s%s", contender(h), gone)
	}
	for _, w := range s.Waiters {
		row("  waiter", "%s", contender(w))
	}
	if !s.ContendersKnown {
		row("", "Unknown: waiters, and holders whose session ended.")
	}
}

func contender(h election.SemaphoreHolder) string {
	text := h.Session
	if h.Name != "" {
		text += " " + h.Name
	}
	if h.Node != "" && !election.NamesNode(h.Name, h.Node) {
		text += " on " + h.Node
	}
	return text
}

func (a assessment) candidateRows(row func(string, string, ...any)) {
	if len(a.candidates) == 0 {
		row("Likely next", "%s", insight.NoCandidate(&a.around))
		return
	}
	for i, c := range a.candidates[:min(len(a.candidates), shownCandidates)] {
		row(firstLabel(i, "Likely next"), "%s (%s)", c.Name, reason(c))
	}
	if more := len(a.candidates) - shownCandidates; more > 0 {
		row("", "and %d more", more)
	}
}

func probeText(p consulx.ProbeResult) string {
	switch p.State {
	case consulx.LockHeld:
		return "held by session " + sanitize.Line(p.Session, 40)
	case consulx.LockDelayed:
		return "a lock-delay is active: Consul rejects every acquire"
	case consulx.LockFree:
		if !p.Exists {
			return "free: no lock-delay is active; the next candidate that acquires the key creates it and leads"
		}
		return "free: no lock-delay is active; the next candidate that acquires the key leads"
	}
	return string(p.State)
}
