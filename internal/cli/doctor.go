package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election/sanitize"
	"electop/internal/output"
)

func newDoctorCommand(d deps, o *options) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this address and token can read and do",
		Long: `Show, rule by rule, what this address and token can read and do, and what an
empty response means. It never writes. In a terminal that is too narrow for the
table, each row is a paragraph.

Exit codes: 0 the token can read everything that electop observes, 5 it cannot
read some of it, 1 Consul cannot be reached or has no consensus leader. The
permissions for release and destroy are shown, but do not change the exit code.`,
		Example: "  electop doctor\n  electop doctor -o json --token-file readonly.token",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), d, o, format) },
	}
	outputFlag(cmd, &format, "table", "json")
	return cmd
}

func runDoctor(ctx context.Context, d deps, o *options, format string) error {
	client, ps, err := o.connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	report, failure := consulx.Doctor(ctx, client, ps)
	if failure != nil && len(report.Rows) == 0 {
		return failure
	}
	if format == "json" {
		err = writeReportJSON(d.stdout, report)
	} else {
		err = writeReport(d.stdout, terminalWidth(d.stdout), report)
	}
	if err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return doctorResult(report)
}

// doctorResult is the exit code of a report, which already shows the reason.
func doctorResult(r consulx.Report) error {
	if r.Info.ConsensusLeader == "" && !denied(r, "agent") && denied(r, "consensus leader") {
		return exitError(exitFailed)
	}
	for _, row := range r.Rows {
		hides := row.Status == consulx.StatusLimited && strings.HasPrefix(row.Subject, "keys ") && row.Rule != ""
		if hides || row.Status == consulx.StatusDenied && !isAction(row.Subject) {
			return exitError(exitDenied)
		}
	}
	return nil
}

func denied(r consulx.Report, subject string) bool {
	for _, row := range r.Rows {
		if row.Subject == subject {
			return row.Status == consulx.StatusDenied
		}
	}
	return false
}

// isAction reports whether a row is about a permission that only release or destroy needs.
func isAction(subject string) bool {
	return subject == "destroy" || strings.HasPrefix(subject, "release ")
}

// writeReport writes a table or, if that is wider than the terminal, one record per row. A
// width of 0 is no terminal.
func writeReport(w io.Writer, width int, r consulx.Report) error {
	tw := output.NewTable(w)
	records := make([]output.Record, 0, len(r.Rows))
	fmt.Fprintln(tw, "WHAT\tSTATUS\tDETAIL\tMISSING RULE")
	for _, row := range r.Rows {
		subject, detail, rule := sanitize.Line(row.Subject, 120), sanitize.Line(row.Detail, 300), sanitize.Line(row.Rule, 300)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", subject, row.Status, detail, cmp.Or(rule, "-"))
		records = append(records, output.Record{Title: subject, Fields: []output.Field{
			{Label: "status", Text: string(row.Status)}, {Label: "detail", Text: detail}, {Label: "missing", Text: rule},
		}})
	}
	if width > 0 && !tw.Fits(width) {
		return output.WriteRecords(w, width, records)
	}
	return tw.Flush()
}

type reportJSON struct {
	Address         string        `json:"address"`
	Datacenter      string        `json:"datacenter"`
	Node            string        `json:"node,omitempty"`
	Version         string        `json:"version,omitempty"`
	ConsensusLeader string        `json:"consensus_leader"`
	Rows            []consulx.Row `json:"rows"`
}

func writeReportJSON(w io.Writer, r consulx.Report) error {
	text, err := json.Marshal(reportJSON{
		Address: r.Address, Datacenter: r.Info.Datacenter, Node: r.Info.Node, Version: r.Info.Version,
		ConsensusLeader: r.Info.ConsensusLeader, Rows: r.Rows,
	})
	if err != nil {
		return err
	}
	return output.WriteIndented(w, text)
}
