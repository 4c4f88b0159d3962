package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/output"
)

func newListCommand(d deps, o *options) *cobra.Command {
	var format string
	var advice bool
	var shown view
	cmd := &cobra.Command{
		Use:   "list [NAME…]",
		Short: "List the current state of the elections",
		Long: `List the current state of the elections, or with --advice the risks of their
configuration. Risks that need observation over time, such as flapping, are not
listed. In a terminal that is too narrow for the table, each advice is a paragraph
with all its elections.`,
		Example:           "  electop list\n  electop list -o json web mail\n  electop list -k 'vault/core/lock'\n  electop list --advice\n  electop list --filter 'state:vacant !node:node-2' --sort problems",
		ValidArgsFunction: completeNames(o),
		RunE: func(cmd *cobra.Command, names []string) error {
			l, err := o.lookUpWithPast(cmd.Context(), d)
			if err != nil {
				return err
			}
			defer l.client.Close()
			chosen, err := l.elections(cmd.Context(), names)
			if err != nil {
				return err
			}
			if chosen, err = shown.apply(cmd.Context(), d, l, chosen); err != nil {
				return err
			}
			switch {
			case advice:
				return listAdvice(cmd.Context(), d, l, chosen, format)
			case format == "json":
				return writeElectionsJSON(d.stdout, chosen, l.snapshot.At)
			}
			return writeElectionsTable(d.stdout, chosen, l.snapshot.At)
		},
	}
	shown.flags(cmd, "checks")
	outputFlag(cmd, &format, "table", "json")
	cmd.Flags().BoolVar(&advice, "advice", false, "list the risks of the elections, and what to do")
	return cmd
}

func writeElectionsJSON(w io.Writer, elections []*election.Election, now time.Time) error {
	return output.WriteArray(w, elections, func(e *election.Election) ([]byte, error) { return e.JSON(now) })
}

func writeElectionsTable(w io.Writer, elections []*election.Election, now time.Time) error {
	tw := output.NewTable(w)
	fmt.Fprintln(tw, "ELECTION\tSTATE\tLEADER\tNODE\tTERM\tSESSION\tTTL\tLOCK-DELAY\tKEY")
	for _, e := range elections {
		leader, node, session, ttl, delay := "no leader", "-", "-", "-", "-"
		if e.State(now) == election.Led {
			leader, session = e.Leader, election.ShortID(e.Pair.Session)
		} else if sem := election.ReadSemaphore(e, nil); sem != nil {
			leader = fmt.Sprintf("semaphore, %d of %d", len(sem.Holders), sem.Limit)
		}
		if s := e.Session; s != nil {
			node, delay = sanitize.Line(s.Node, 40), s.LockDelay.String()
			ttl = "none"
			if s.TTL > 0 {
				ttl = s.TTL.String()
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Line(e.Name, 80), e.State(now),
			sanitize.Line(leader, 40), node, shortTerm(e), session, ttl, delay, keyText(e))
	}
	return tw.Flush()
}

func shortTerm(e *election.Election) string {
	if e.Overwritten() {
		return "?" // LockIndex is 0
	}
	return fmt.Sprint(e.Term)
}

func keyText(e *election.Election) string {
	text := sanitize.Line(e.Key(), 120)
	if e.Unaddressable {
		text += " (unaddressable)"
	}
	return text
}
