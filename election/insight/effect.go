package insight

import (
	"cmp"
	"fmt"
	"strings"

	"electop/election"
)

// Effect describes what an operator's action does to one hold, in complete sentences that are safe to print. The
// dialog, `release`, `destroy` and docs/actions.md use these sentences.
type Effect struct {
	// Kind is the kind of software that holds the key. Software is its name, such as "consul lock" or "probably
	// consul lock".
	Kind     HolderKind
	Software string
	// Refusal is the reason why electop refuses the action on this key, or empty if electop allows it.
	Refusal string
	// Key describes what happens to the key, its value and its flags.
	Key string
	// Holder describes how the software that holds the key reacts.
	Holder string
	// Delay describes when another candidate can acquire the key.
	Delay string
	// Typed is set if the user must type the name of the election: only the user can know that the holder has stopped.
	Typed bool
	// Warnings are risks of the action, the most important first.
	Warnings []string
	// Better is a command that moves the leader with the software's own method, or empty if none is known.
	Better string
}

// Sentences returns the sentences with a label: key, holder, brief (the first of holder), delay, warning or better.
func (f Effect) Sentences(label string) []string {
	if label == "warning" {
		return f.Warnings
	}
	brief := f.Holder
	if first, _, more := strings.Cut(brief, ". "); more {
		brief = first + "."
	}
	text := map[string]string{"key": f.Key, "holder": f.Holder, "brief": brief, "delay": f.Delay, "better": f.Better}[label]
	if text == "" {
		return nil
	}
	return []string{text}
}

// EffectOf describes what an action does to the current hold. s is nil if the surroundings were not read. candidates
// is the number of likely candidates, or -1 if unknown (see [Likely]).
func EffectOf(kind election.ActionKind, e *election.Election, s *election.Surroundings, candidates int) Effect {
	holder, guess := kindOf(e, s)
	f := newEffect(kind, holder, guess, e.Session)
	if software := DetectSoftware(e, s); software != nil {
		f.Better = software.StepDown
	}
	if f.Refusal != "" && holder == HolderPatroni {
		f.Refusal += " Use " + f.Better + " for a healthy primary and destroy for a dead one."
	}
	if e.IsSemaphore() && !e.Pair.Held() {
		f.Refusal = "A semaphore has no single holder: destroy the session of one of its holders instead."
	}
	if f.Refusal != "" {
		return f
	}
	if kind == election.ActionRelease && e.Session != nil && e.Session.Behavior == election.BehaviorDelete && holder != HolderSemaphore && !e.Store.Leases {
		f.Warnings = append(f.Warnings, "The session's behavior is delete, but a release keeps the key. Consul then does not delete the key when the session ends. "+
			"Software that interprets the key's existence or value as leadership still reads the old leader.")
	}
	if n := len(e.Terms); kind == election.ActionRelease && n > 1 && e.Terms[n-2].Session == e.Pair.Session && e.Terms[n-2].Cause == election.OperatorRelease {
		f.Warnings = append(f.Warnings, "After the last release, the same session led again.")
	}
	if candidates == 0 && holder != HolderSemaphore && holder != HolderPatroniMember {
		f.Warnings = append(f.Warnings, noCandidate)
	}
	if lacksLockFlags(e) { // last: its text ends with a command
		text, _ := correctFlags(e.Pair)
		f.Warnings = append(f.Warnings, "Candidates that use api.Lock fail while the key has other flags. Those that have failed must start again. First correct the flags "+text)
	}
	return f
}

// MayHoldMore is the warning about a destroy if electop did not search the whole KV store for the session's keys.
const MayHoldMore = "The session may hold more keys than are listed."

const noCandidate = "No other candidate was seen: the election may stay without a leader."

// EffectOfSession describes the effect of destroying a session. session is nil if it was not read. held contains its
// known keys. complete is set if electop searched the whole KV store for its keys.
func EffectOfSession(session *election.Session, held []election.Pair, complete bool) Effect {
	kind, guess, better := kindOfHolds(session, held)
	f := newEffect(election.ActionDestroy, kind, guess, session)
	f.Better = better
	slots := 0
	for _, p := range held {
		if p.Flags == election.SemaphoreFlag {
			slots++
		}
	}
	switch {
	case len(held) == 0 && complete:
		f.Key = "The session is destroyed; it holds no key."
		f.Delay = "No lock-delay follows, because the session holds no key."
		f.Holder = "A process that uses this session can no longer acquire a key."
		f.Warnings = nil
	case session != nil && session.Store.Leases:
	case slots < len(held) || !complete:
		f.Key, f.Delay = destroyText(session), delayText(session, "a key that it held")
		if slots > 0 {
			f.Delay += " The slot of a semaphore is free immediately."
		}
	}
	if !complete {
		f.Warnings = append(f.Warnings, MayHoldMore)
	}
	return f
}

// newEffect returns the effect on one kind of software. session is nil if it was not read.
func newEffect(action election.ActionKind, kind HolderKind, guess bool, session *election.Session) Effect {
	texts := textsOf[kind]
	of := texts.release
	f := Effect{
		Kind: kind, Software: texts.software,
		Key:   "The key is unlocked; its value and flags are kept and the session is not ended.",
		Delay: "No lock-delay follows: any candidate, including the same session, may acquire the key immediately.",
	}
	if action == election.ActionDestroy {
		of = texts.destroy
		f.Key, f.Delay = destroyText(session), delayText(session, "the key")
		f.Typed = kind == HolderMutex || kind == HolderPatroniLease
		if kind == HolderPatroniLease && session != nil && session.Expires.Sub(session.Read) <= session.TTL/2 {
			of.refusal = ""
		}
	}
	if f.Refusal, f.Holder = of.refusal, of.holder; of.warning != "" {
		f.Warnings = []string{of.warning}
	}
	f.Key, f.Delay = cmp.Or(of.key, f.Key), cmp.Or(of.delay, f.Delay)
	if guess {
		f.Software = "probably " + f.Software
		f.Holder = "The holder is " + f.Software + " (a guess based on its key, flags and session): " + f.Holder
	}
	return f
}

func destroyText(s *election.Session) string {
	switch {
	case s == nil:
		return "The session is destroyed. Every lock that it holds is released, or every key that it holds is deleted: the session's behavior is unknown, because the session was not read."
	case s.Behavior == election.BehaviorDelete:
		return "The session is destroyed, and every key that it holds is deleted with its value (behavior delete)."
	}
	return "The session is destroyed, and every lock that it holds is released; values and flags are kept."
}

// delayText describes how long Consul rejects an acquire of the session's keys.
func delayText(s *election.Session, key string) string {
	switch {
	case s == nil:
		return "The lock-delay is unknown, because the session was not read (Consul's default is 15s)."
	case s.LockDelay <= 0:
		return "The session has no lock-delay: any candidate may acquire " + key + " immediately."
	}
	text := fmt.Sprintf("Lock-delay %s: no candidate can acquire %s for about %s after the session ends", s.LockDelay, key, s.EnforcedLockDelay())
	if s.LockDelay > election.MaxLockDelay {
		text += " (Consul enforces at most " + election.MaxLockDelay.String() + ")"
	}
	return text + "."
}
