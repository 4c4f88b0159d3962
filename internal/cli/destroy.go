package cli

import (
	"github.com/spf13/cobra"

	"electop/election"
)

func newDestroyCommand(d deps, o *options) *cobra.Command {
	a := &action{d: d, o: o, kind: election.ActionDestroy}
	cmd := &cobra.Command{
		Use:   "destroy NAME… | --node NODE | --session ID",
		Short: "Destroy the holder's session and every lock that it holds",
		Long: `Destroy the session that holds the key of each election. Every lock of the
session is released or, with behavior "delete", its key is deleted. No candidate
can acquire these keys until the session's lock-delay ends; the slot of a
semaphore is free immediately. A session that leads several of the elections is
destroyed once and reported for each.

Before the confirmation, electop searches the whole KV store for keys that the
sessions hold, and shows their number and the first ten. Consul cannot destroy a
session conditionally. electop therefore searches again immediately before the
action, and destroys a session only if it holds exactly the keys of the plan.
--no-scan skips both searches: keys that match no pattern are then neither shown
nor compared.

--session ID destroys this session, whichever keys it holds. The result has one
line for each watched election that the session leads or, if there is none, one
line with an empty election and key.

` + actionHelp,
		Example: `  electop destroy web
  electop destroy web mail --yes --wait 30s
  electop destroy --session 695bfbd0-6350-7587-addf-a18084928f3c`,
		ValidArgsFunction: completeNames(o),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd.Context(), args) },
	}
	a.flags(cmd)
	f := cmd.Flags()
	f.Var((*nonEmptyString)(&a.session), "session", "destroy the session with this ID")
	f.BoolVar(&a.noScan, "no-scan", false, "skip the search of the whole KV store")
	return cmd
}
