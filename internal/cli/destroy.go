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

Consul cannot destroy a session conditionally. electop therefore reads the key
again immediately before the action, and destroys the session only if it still
holds the key.

--session ID destroys this session, whichever keys it holds. If it no longer
holds one of the keys that electop found, nothing is destroyed. The result has
one line for each watched election that the session leads or, if there is none,
one line with an empty election and key.

Before the confirmation, electop searches the whole KV store for keys that the
sessions hold, and shows their number and the first ten. --no-scan skips the
search; the plan then covers only keys that match a pattern. With --yes,
electop skips the search and the plan, except with --session or --scan.

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
	f.BoolVar(&a.scan, "scan", false, "search the whole KV store and show the plan, even with --yes")
	f.BoolVar(&a.noScan, "no-scan", false, "skip the search of the whole KV store")
	return cmd
}
