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
		Long: `Unlock the key of each election in one transaction that is bound to the key,
the session and the index that electop read. If the holder changed meanwhile,
nothing is written. Value and flags are kept, the session lives on, and no
lock-delay follows: the next candidate may lead at once, and so may the old
leader. electop shows what the holder does about it, as far as it knows the
software, and refuses keys on which a release does harm (Patroni).

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

// actionHelp is the part of the help that release and destroy share.
const actionHelp = `Every NAME must exist, or nothing is done. One plan and one question cover all
elections; electop then acts on each in turn. Elections without a leader, keys
that electop refuses, and those that the token may not change are reported and
skipped.

--node NODE selects every election that a session on the node leads; together
with NAMEs, those among them.

--wait DURATION observes the elections while acting and reports for each the
first leader after the action. All elections share the same DURATION.

-o json writes one object per election and line to standard output, as soon as
its result is known; plan, question and messages go to standard error:

  {"election":"web","key":"service/web/leader","action":"release",
   "result":"moved","old":{"leader":"web-1","session":"…","node":"node-1"},
   "new":{"leader":"web-2","session":"…","node":"node-2"},"vacancy_ms":2}

"new" and "vacancy_ms" are present only when observed, "reason" says what went
wrong, and "note" that a release was carried out with less protection, because
the value is too large for a transaction. "result" is one of these; with several
elections the exit code is that of the first line that applies:

  result               exit  meaning
  failed, refused         1  nothing was written
  unknown                 1  not confirmed: it may have been applied
  vacant                  1  done; no leader within the time of --wait
  done                    1  done, but --wait could not observe the result
  denied                  5  Consul's ACLs refuse it; nothing was written
  changed                 4  the lock state changed; nothing was written
  no_leader               7  the election has no leader; nothing was written
  same_leader             6  done, but the same leader leads again
  moved                   0  done; another session leads
  done                    0  done, without --wait: it is not known who leads`
