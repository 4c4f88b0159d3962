package cli

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
)

func newListCommand(d deps, o *options) *cobra.Command {
	var output string
	var advice bool
	cmd := &cobra.Command{
		Use:   "list [NAME…]",
		Short: "Look once and list the elections",
		Long: `Look once and list the elections, or with --advice what is risky about them as
they are configured. What takes time to see, such as flapping, is not among it.`,
		Example:           "  electop list\n  electop list -o json web mail\n  electop list -k 'vault/core/lock'\n  electop list --advice",
		ValidArgsFunction: completeNames(o),
		RunE: func(cmd *cobra.Command, names []string) error {
			client, ps, err := o.prepare()
			if err != nil {
				return err
			}
			snapshot, err := look(cmd.Context(), client, ps)
			if err != nil {
				return err
			}
			chosen, err := lookup{d, client, ps, snapshot}.choose(cmd.Context(), names)
			if err != nil {
				return err
			}
			if advice {
				return listAdvice(cmd.Context(), d, client, snapshot, chosen, output)
			}
			if output == "json" {
				return writeElectionsJSON(d.stdout, chosen, snapshot.At)
			}
			return writeElectionsTable(d.stdout, chosen, snapshot.At)
		},
	}
	outputFlag(cmd, &output, "table", "json")
	cmd.Flags().BoolVar(&advice, "advice", false, "list what is risky about the elections, and what to do")
	return cmd
}

// writeElectionsJSON writes one array, an element a line.
func writeElectionsJSON(w io.Writer, elections []*election.Election, now time.Time) error {
	return writeJSONArray(w, elections, func(e *election.Election) ([]byte, error) { return e.JSON(now) })
}

// writeJSONArray writes one array, an element a line, safe to show.
func writeJSONArray[T any](w io.Writer, all []T, marshal func(T) ([]byte, error)) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range all {
		text, err := marshal(item)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(sanitize.JSON(text))
	}
	if len(all) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

func writeElectionsTable(w io.Writer, elections []*election.Election, now time.Time) error {
	tw := newColumns(w)
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
		return "?" // LockIndex is 0, which is no number of a term
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
