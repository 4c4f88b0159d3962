package cli

import (
	"github.com/spf13/cobra"

	"electop/election"
)

func newReleaseCommand(d deps, o *options) *cobra.Command {
	a := &action{d: d, o: o, kind: election.ActionRelease}
	cmd := &cobra.Command{
		Use:   "release NAME… | --node NODE",
		Short: "Step leaders down: unlock the key, keep its value and flags",
		Long: `Unlock the key of each election in one transaction that checks the key, the
session and the index that electop read. If the lock state has changed, nothing
is written. The value, the flags and the session are kept, and no lock-delay
follows: the next candidate, or the old leader, may lead immediately. For
software that electop recognises, the plan shows how the holder reacts. electop
refuses a release that would do harm (Patroni).

` + actionHelp,
		Example: `  electop release web
  electop release web mail --yes --wait 30s
  electop release --node node-2 --yes -o json`,
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args) },
	}
	a.flags(cmd)
	return cmd
}

// actionHelp is the help text that release and destroy share.
const actionHelp = `If a NAME does not exist, electop does nothing. One plan and one confirmation
cover all elections; electop then acts on each in turn. electop reports and
skips elections without a leader, keys for which it refuses the action, and keys
that the token may not change.

--node NODE selects every election whose leader's session is on the node. With
NAMEs, it selects only from these elections.

--wait DURATION observes the elections while acting and reports the first leader
of each after the action. DURATION is the limit for all elections together.

-o json writes one object per election to standard output, one per line, as soon
as its result is known. The plan, the confirmation and messages go to standard
error:

  {"election":"web","key":"service/web/leader","action":"release",
   "result":"moved","old":{"leader":"web-1","session":"…","node":"node-1"},
   "new":{"leader":"web-2","session":"…","node":"node-2"},"vacancy_ms":2}

"new" and "vacancy_ms" are present only if observed. "reason" says what went
wrong. "note" says that a release had less protection, because the value is too
large for a transaction. "result" is one of the following; with several
elections the first line that applies decides the exit code:

  result               exit  meaning
  failed, refused         1  nothing was written
  unknown                 1  not confirmed: the write may have been applied
  vacant                  1  done; no leader within the time of --wait
  done                    1  done, but --wait could not observe the result
  denied                  5  Consul's ACLs denied it; nothing was written
  changed                 4  the lock state changed; nothing was written
  no_leader               7  the election has no leader; nothing was written
  same_leader             6  done, but the same leader leads again
  moved                   0  done; another session leads
  done                    0  done, without --wait: the next leader is unknown`
