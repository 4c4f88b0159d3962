package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
)

// execEnvLength bounds the length of a variable. The kernel does not start a command if a variable exceeds its limit
// (128 KiB on Linux), and a key may be longer.
const execEnvLength = 1000

// execEnvHelp is the part of the help text that describes the variables.
const execEnvHelp = `  ELECTOP_TYPE          the type, such as vacated
  ELECTOP_TIME          when the event was observed, in RFC 3339
  ELECTOP_ELECTION      the name          ELECTOP_KEY      the key
  ELECTOP_DATACENTER    the datacenter    ELECTOP_TERM     the term number
  ELECTOP_LEADER        the leader        ELECTOP_SESSION  its session
  ELECTOP_NODE          its node
  ELECTOP_INITIAL       true if the event describes the state at the start
  ELECTOP_CAUSE         why the term ended (evidence: ELECTOP_EVIDENCE)
  ELECTOP_VACANCY_MS    the time without a leader before an elected event
  ELECTOP_HELD_MS       how long the term of a vacated event lasted
  ELECTOP_LOCK_DELAY_UNTIL  the estimated end of the lock-delay
  ELECTOP_COUNT         the number of terms that were not observed
  ELECTOP_ERROR         why the connection was lost
`

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// execEnv returns the environment of a command of --exec. It sets every variable, so that the command inherits none
// of them from an outer electop.
func execEnv(e election.Event) []string {
	text := func(s string) string { return sanitize.Line(s, execEnvLength) }
	env := map[string]string{
		"TYPE": string(e.Type), "TIME": election.FormatTime(e.Time), "ELECTION": text(e.Election), "KEY": text(e.Key),
		"DATACENTER": text(e.Datacenter), "TERM": "", "LEADER": text(e.Leader), "SESSION": text(e.Session), "NODE": text(e.Node),
		"INITIAL": "", "CAUSE": text(string(e.Cause)), "EVIDENCE": text(e.Evidence), "VACANCY_MS": "", "HELD_MS": "",
		"LOCK_DELAY_UNTIL": election.FormatTime(e.LockDelayUntil), "COUNT": "", "ERROR": text(e.Error),
	}
	if e.Key != "" && !e.OfSlot() {
		env["TERM"] = strconv.FormatUint(e.Term, 10)
	}
	if e.Initial {
		env["INITIAL"] = "true"
	}
	if e.VacancyKnown {
		env["VACANCY_MS"] = millis(e.Vacancy)
	}
	if e.Type == election.Vacated && !e.Initial {
		env["HELD_MS"] = millis(e.Held)
	}
	if e.Count > 0 {
		env["COUNT"] = strconv.FormatUint(e.Count, 10)
	}
	const prefix = "ELECTOP_"
	all := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		own, found := strings.CutPrefix(name, prefix)
		_, replaced := env[own]
		return found && replaced
	})
	for name, value := range env {
		all = append(all, prefix+name+"="+value)
	}
	return all
}
