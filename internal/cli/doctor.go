package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

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
permissions for release and destroy are shown, but do not change the exit code.

With --datacenter dc1,dc2 or all, each datacenter has a section, and -o json
writes an array with a report for each. Of several exit codes, electop uses the
most severe one: 1, then 5. All sections show the agent of --http-addr.`,
		Example: "  electop doctor\n  electop doctor -o json --token-file readonly.token",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), d, o, format) },
	}
	outputFlag(cmd, &format, "table", "json")
	return cmd
}

// diagnosis is the report about one datacenter. The report is complete unless failure is set.
type diagnosis struct {
	lookup
	report  consulx.Report
	failure error
}

func runDoctor(ctx context.Context, d deps, o *options, format string) error {
	ls, err := o.open(ctx, d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	all := make([]diagnosis, len(ls.all))
	var checks sync.WaitGroup
	for i, l := range ls.all {
		checks.Go(func() {
			report, failure := consulx.Doctor(ctx, l.client, l.patterns)
			all[i] = diagnosis{l, report, failure}
		})
	}
	checks.Wait()
	if ls.several {
		return writeDiagnoses(d, all, format)
	}
	return all[0].write(d, format)
}

// write writes the report about the only datacenter.
func (x diagnosis) write(d deps, format string) error {
	if x.failure != nil && len(x.report.Rows) == 0 {
		return x.failure
	}
	var err error
	if format == "json" {
		err = writeReportJSON(d.stdout, x.report)
	} else {
		err = writeReport(d.stdout, terminalWidth(d.stdout), x.report)
	}
	return cmp.Or(err, x.failure, doctorResult(x.report))
}

// writeDiagnoses writes a section per datacenter. The exit code is the most severe one: 1, then 5.
func writeDiagnoses(d deps, all []diagnosis, format string) error {
	write := writeSections
	if format == "json" {
		write = writeDiagnosesJSON
	}
	if err := write(d.stdout, all); err != nil {
		return err
	}
	var worst error
	for _, x := range all {
		result := doctorResult(x.report)
		if x.failure != nil {
			result = exitError(reportError(d.stderr, x.fail(x.failure)))
		}
		worst = mostSevere(worst, result)
	}
	return worst
}

// writeSections writes a table per datacenter. It omits datacenters without rows, which have only a failure.
func writeSections(w io.Writer, all []diagnosis) error {
	separator := ""
	for _, x := range all {
		if len(x.report.Rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "%sDatacenter %s\n", separator, sanitize.Line(x.client.Datacenter(), 60))
		if err := writeReport(w, terminalWidth(w), x.report); err != nil {
			return err
		}
		separator = "\n"
	}
	return nil
}

// doctorResult returns an error with the exit code, or nil if the exit code is 0. The error has no message, because the
// report already shows the reason.
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

// writeReport writes a table or, if that is wider than the terminal, one record per row. A width of 0 means that
// stdout is not a terminal.
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
	// Error is the reason why the report is incomplete. It is set only if there are several datacenters.
	Error string `json:"error,omitempty"`
}

func newReportJSON(r consulx.Report) reportJSON {
	return reportJSON{
		Address: r.Address, Datacenter: r.Info.Datacenter, Node: r.Info.Node, Version: r.Info.Version,
		ConsensusLeader: r.Info.ConsensusLeader, Rows: r.Rows,
	}
}

func writeReportJSON(w io.Writer, r consulx.Report) error {
	text, err := json.Marshal(newReportJSON(r))
	if err != nil {
		return err
	}
	return output.WriteIndented(w, text)
}

// writeDiagnosesJSON writes an array with a report per datacenter.
func writeDiagnosesJSON(w io.Writer, all []diagnosis) error {
	reports := make([]reportJSON, len(all))
	for i, x := range all {
		r := newReportJSON(x.report)
		r.Datacenter, r.Rows = x.client.Datacenter(), append([]consulx.Row{}, r.Rows...)
		if x.failure != nil {
			r.Error = x.client.Redact(consulx.Describe(x.failure))
		}
		reports[i] = r
	}
	text, err := json.Marshal(reports)
	if err != nil {
		return err
	}
	return output.WriteIndented(w, text)
}
