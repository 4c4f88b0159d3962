package election

// Effect says what an operator's action does to one hold. The dialog, `release`,
// `destroy` and docs/actions.md show these texts and no others. All are whole
// sentences that are safe to show.
type Effect struct {
	// Refusal says why electop does not carry the action out on this key; empty
	// when it may.
	Refusal string
	// Key says what happens to the key, its value and its flags.
	Key string
	// Holder says what the software that holds the key does, as far as measured.
	Holder string
	// Delay says from when on another candidate can acquire the key.
	Delay string
	// Warnings are reasons to think twice, the most important first.
	Warnings []string
	// Better is the software's own method, as a command to copy; empty if none
	// is known.
	Better string
}

// EffectOf says what an action does to the election's current hold. s may be nil
// when the surroundings were not read. candidates is how many likely candidates
// were found (see [Likely]), -1 when that is not known.
func EffectOf(kind ActionKind, e *Election, s *Surroundings, candidates int) Effect {
	f := Effect{
		Key:    "The key is unlocked; its value and flags are kept and the session lives on.",
		Holder: "The holder must notice the loss itself; until then two processes may act as leader.",
		Delay:  "No lock-delay follows: any candidate may acquire the key at once, also the same session.",
	}
	if kind == ActionDestroy {
		f.Key = "The session is destroyed, and every lock that it holds is released or deleted."
		f.Delay = "A lock-delay follows."
	}
	if software := DetectSoftware(e, s); software != nil {
		f.Better = software.StepDown
	}
	if candidates == 0 {
		f.Warnings = append(f.Warnings, "No other candidate was seen: the election may stay without a leader.")
	}
	return f
}
