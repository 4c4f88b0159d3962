package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election/sanitize"
)

func newDoctorCommand(d deps, o *options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this address and token may see and do",
		Long: `Tell, rule by rule, what this address and token may see and do, and what an empty
answer means. It reads only.

Exit codes: 0 all that observing needs is there, 5 some of it is denied, 1 Consul
cannot be reached or has no consensus leader. What release and destroy need is
shown, and does not change the exit code.`,
		Example: "  electop doctor\n  electop doctor -o json --token-file readonly.token",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), d, o, output) },
	}
	outputFlag(cmd, &output, "table", "json")
	return cmd
}

func examine(ctx context.Context, d deps, o *options, output string) error {
	client, ps, err := o.prepare()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	report, failure := consulx.Doctor(ctx, client, ps)
	if failure != nil && len(report.Rows) == 0 {
		return failure
	}
	write := writeReport
	if output == "json" {
		write = writeReportJSON
	}
	if err := write(d.stdout, report); err != nil {
		return err
	}
	if failure != nil {
		return failure
	}
	return verdict(report)
}

// verdict is the exit code of a report. The table has said why.
func verdict(r consulx.Report) error {
	if r.Info.ConsensusLeader == "" && !denied(r, "agent") && denied(r, "consensus leader") {
		return exitError(exitFailed)
	}
	for _, row := range r.Rows {
		hides := row.Status == consulx.StatusLimited && strings.HasPrefix(row.Subject, "keys ") && row.Rule != ""
		if hides || row.Status == consulx.StatusDenied && !acts(row.Subject) {
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

// acts reports rows about what observing does not need.
func acts(subject string) bool {
	return subject == "destroy" || strings.HasPrefix(subject, "release ")
}

func writeReport(w io.Writer, r consulx.Report) error {
	tw := newColumns(w)
	fmt.Fprintln(tw, "WHAT\tSTATUS\tDETAIL\tMISSING RULE")
	for _, row := range r.Rows {
		rule := row.Rule
		if rule == "" {
			rule = "-"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", sanitize.Line(row.Subject, 120), row.Status, sanitize.Line(row.Detail, 300), sanitize.Line(rule, 300))
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
	var b bytes.Buffer
	if err := json.Indent(&b, sanitize.JSON(text), "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}
