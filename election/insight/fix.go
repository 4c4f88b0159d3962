package insight

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
)

// FixNeed identifies the data that [Board.Fix] needs to find the problem with an election.
type FixNeed int

// The values of FixNeed.
const (
	NeedsNothing      FixNeed = iota // [Board.Fix] needs no facts, because it never finds a problem
	NeedsSurroundings                // [Board.Fix] needs the facts about an election without a leader
	NeedsChecks                      // [Board.Fix] needs the checks of the leader's node, which show whether the leader has failed
)

// FixNeeds returns the kind of facts that [Board.Fix] needs for an election. If the holder's session has a TTL, the
// checks are not needed: the session of a holder that has failed expires. If the session was not read, it may have no
// TTL.
func FixNeeds(e *election.Election, now time.Time) FixNeed {
	switch s := e.Session; {
	case e.State(now) == election.OfSemaphore:
		return NeedsNothing
	case !e.Held():
		return NeedsSurroundings
	case e.Store.Leases || s != nil && s.TTL > 0:
		return NeedsNothing
	}
	return NeedsChecks
}

// Fix infers why an election has no effective leader, and how to fix this. It returns nil for a healthy election, for a
// semaphore, and for a leader if there is no evidence that it has failed and all evidence could be read.
func (b *Board) Fix(e *election.Election, f Facts) *Finding {
	d, need := &diagnosis{Board: b, Election: e, Facts: f}, FixNeeds(e, f.Now)
	switch hidden := e.Unreadable || e.Recorded(); {
	case hidden && e.State(f.Now) != election.Led:
		return &Finding{
			Code: UnknownProblem, Why: "The state of the key is unknown, because electop cannot read or address it.",
			Fix: "Check the token with electop doctor.",
		}
	case hidden, need == NeedsNothing:
		return nil
	case need == NeedsSurroundings:
		d.candidates = b.Candidates(e, f.Around)
		d.likely = Likely(e, d.candidates, f.Around)
	}
	if all := d.findings(fixable); len(all) > 0 && all[0].Fix != "" {
		return &all[0]
	}
	return nil
}

// FixAt returns Fix for the time now. The text about a wait depends on the time.
func (f *Finding) FixAt(now time.Time) string {
	left := election.Remaining(f.Until.Sub(now))
	switch {
	case f.Until.IsZero():
		return f.Fix
	case !f.Until.After(now):
		return "The wait should have ended: run the diagnosis again."
	case f.Code == AwaitingCandidates && f.AtMost:
		return "Wait until electop has read the cause, at most " + left + "."
	case f.Code == AwaitingCandidates:
		first := ": "
		if f.Until.Sub(now) > retryGrace {
			first = ": a lock-delay can last 1m, and then "
		}
		return "Wait for about " + left + first + "clients retry within 25s (npm's 21s, api.Lock 5s); one that only watches the key can take minutes. If there is still no leader, see the candidates' logs, or start one."
	case f.AtMost:
		return "Wait until the lock-delay ends, in at most " + left + "."
	}
	return "Wait until the lock-delay ends, in about " + left + "."
}

func leaderFailed(d *diagnosis) Finding {
	found, s := FailureOf(d.Election, d.checks), d.Session
	switch {
	case !found.Current():
		return Finding{}
	case s.TTL > 0:
		return Finding{Urgent: true, Why: found.Why(), Do: "wait until the session expires; if the session remains, the leader is still running and renews it"}
	}
	ends := "every lock that it holds"
	if s.Behavior == election.BehaviorDelete {
		ends = "every key that it holds, which Consul deletes with its value (behavior delete)"
	}
	return Finding{
		Urgent: true, Why: found.Why(), Do: "make sure that the leader is not running, then destroy its session (electop rescue shows the fix)",
		Fix: fmt.Sprintf("Make sure that the leader no longer runs. Then destroy session %s on %s, and with it %s. %s",
			election.ShortID(s.ID), election.Label(s.Node), ends, delayText(s, "the key")),
	}
}

func unread(d *diagnosis) Finding {
	if d.Unread == "" {
		return Finding{}
	}
	return Finding{
		Why: "It is unknown whether the leader has failed: " + d.Unread + ".",
		Fix: "Check the token with electop doctor, then run the diagnosis again. If the leader's process has ended, destroy the session that holds the key.",
	}
}

// startOne names up to three former leaders, newest first, each once, and the candidates that have ended.
func (d *diagnosis) startOne() string {
	text := "Start an instance of " + election.Label(d.Name) + "; if one is running, see its logs."
	var names []string
	for _, t := range slices.Backward(d.Terms) {
		name := election.Holder{Leader: t.Leader, Node: t.Node}.Text()
		if d.Around.HasFailed(t.Node) {
			name += " (this node has failed)"
		}
		if !slices.Contains(names, name) && len(names) < 3 {
			names = append(names, name)
		}
	}
	if names != nil {
		text += " Its latest leaders: " + strings.Join(names, ", ") + "."
	}
	return strings.TrimSpace(text + " " + d.ended())
}

// ended names the candidates that have recently ended.
func (d *diagnosis) ended() (text string) {
	if d.Around == nil {
		return ""
	}
	var later []Program // it can have competed again, and led
	for _, s := range slices.Backward(d.Around.Ended) {
		for _, c := range d.Candidates(d.Election, &election.Surroundings{Key: d.Key(), Sessions: []*election.Session{s.Session}}) {
			if !c.Weak && c.strength != byFormerTerm && !slices.Contains(later, ProgramOf(s.Session)) {
				text += c.Text() + " was a candidate; its session was last seen at " + s.Seen.In(d.Now.Location()).Format(time.TimeOnly) + ". "
			}
		}
		later = append(later, ProgramOf(s.Session))
	}
	return text
}

const (
	// maxCommand is the maximum length of a command in a text. A user must not copy a truncated command.
	maxCommand = 170
	// maxCopied is the maximum size of a value in a command that the user copies: terminals limit OSC 52.
	maxCopied = 16 << 10
)

// correctFlags returns how to correct the flags of a key: with a check-and-set, which does nothing after any other change,
// or with an acquire by the holder's session if a check-and-set would reset LockIndex. command is "" if a shell would
// change it, and for the acquire: pasted after a release, it would make a session leader whose process does not lead.
func correctFlags(p election.Pair) (text, command string) {
	flags := strconv.FormatUint(election.LockFlag, 10)
	how, bound, query := "without a step-down", "-cas -modify-index="+strconv.FormatUint(p.ModifyIndex, 10), "?cas="+strconv.FormatUint(p.ModifyIndex, 10)
	switch {
	case !p.Held():
		how = "while the key is free"
	case p.LockIndex > 0:
		how += ", while this session holds the key"
		bound, query = "-acquire -session="+p.Session, "?acquire="+election.Label(p.Session)
	}
	command = "consul kv put " + bound + " -flags=" + flags
	if len(p.Value) > 0 {
		command += " -base64 " + p.Key + " " + base64.StdEncoding.EncodeToString(p.Value)
	} else {
		command += " " + p.Key
	}
	text = how + ": " + command
	plain := plainKey(p.Key) && strings.Trim(p.Session, shellWord) == ""
	if !plain || len(command) > maxCommand {
		text = how + ": write the same value with " + query + "&flags=" + flags
	}
	if !plain || p.Held() && p.LockIndex > 0 || len(p.Value) > maxCopied {
		command = ""
	}
	return text, command
}

// plainKey reports whether a key is usable without quoting in a shell and without escaping in a URL.
func plainKey(key string) bool {
	return strings.Trim(key, shellWord+"/") == "" && !strings.HasPrefix(key, "-") && !strings.HasPrefix(key, "/") && path.Clean(key) == key
}

// shellWord contains the characters that a shell does not interpret.
const shellWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
