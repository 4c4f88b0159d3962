package cli

import (
	"cmp"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election/sanitize"
	"electop/ui/pages"
)

func newDoctorCommand(d deps, o *options) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this address and token can read and do",
		Long: `Show, rule by rule, what this address and token can read and do, and what an
empty response means. It never writes.

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

func runDoctor(ctx context.Context, d deps, o *options, format string) error {
	ls, err := o.open(ctx, d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	reports, failures := make([]consulx.Report, len(ls.all)), make([]error, len(ls.all))
	var checks sync.WaitGroup
	for i, l := range ls.all {
		checks.Go(func() { reports[i], failures[i] = consulx.Doctor(ctx, l.client, l.patterns) })
	}
	checks.Wait()
	if format == "json" {
		err = writeReportsJSON(d, ls, reports, failures)
	} else {
		err = writeReports(d, o, ls, reports)
	}
	if err != nil {
		return err
	}
	var codes []int
	for i, l := range ls.all {
		if failures[i] == nil {
			codes = append(codes, doctorExit(reports[i]))
		} else {
			codes = append(codes, reportError(d.stderr, l.fail(failures[i])))
		}
	}
	return worstOf(codes...)
}

// doctorExit returns the exit code. It ignores the permissions that only release or destroy needs.
func doctorExit(r consulx.Report) (code int) {
	denied := map[string]bool{}
	for _, row := range r.Rows {
		denied[row.Subject] = row.Status == consulx.StatusDenied
		hides := row.Status == consulx.StatusLimited && strings.HasPrefix(row.Subject, "keys ") && row.Rule != ""
		action := row.Subject == "destroy" || strings.HasPrefix(row.Subject, "release ")
		if hides || denied[row.Subject] && !action {
			code = exitDenied
		}
	}
	if r.Info.ConsensusLeader == "" && !denied["agent"] && denied["consensus leader"] {
		return exitFailed
	}
	return code
}

// writeReports writes a section per datacenter. It omits datacenters without rows, which have only a failure.
func writeReports(d deps, o *options, ls lookups, reports []consulx.Report) error {
	page := o.page(d.stdout)
	for i, r := range reports {
		if ls.several && len(r.Rows) > 0 {
			page.Head("Datacenter " + sanitize.Line(ls.all[i].config.Datacenter, 60))
		}
		pages.WriteChecks(page, doctorRows(r))
	}
	_, err := io.WriteString(d.stdout, page.Plain())
	return err
}

// doctorRows returns the rows of a report for a page of the dashboard.
func doctorRows(r consulx.Report) []pages.Check {
	rows := make([]pages.Check, len(r.Rows))
	for i, row := range r.Rows {
		rows[i] = pages.Check{Subject: row.Subject, Status: pages.Status(row.Status), Detail: row.Detail, Rule: row.Rule}
	}
	return rows
}

// writeReportsJSON writes a report or, if there may be several datacenters, an array of reports.
func writeReportsJSON(d deps, ls lookups, reports []consulx.Report, failures []error) error {
	type reportJSON struct {
		Address         string        `json:"address"`
		Datacenter      string        `json:"datacenter"`
		Node            string        `json:"node,omitempty"`
		Version         string        `json:"version,omitempty"`
		ConsensusLeader string        `json:"consensus_leader"`
		Rows            []consulx.Row `json:"rows"`
		Error           string        `json:"error,omitempty"` // the reason why the report is incomplete
	}
	all := make([]reportJSON, len(reports))
	for i, r := range reports {
		l := ls.all[i]
		all[i] = reportJSON{
			Address: r.Address, Datacenter: cmp.Or(l.config.Datacenter, r.Info.Datacenter), Node: r.Info.Node, Version: r.Info.Version,
			ConsensusLeader: r.Info.ConsensusLeader, Rows: append([]consulx.Row{}, r.Rows...),
		}
		if failures[i] != nil {
			all[i].Error = l.client.Redact(consulx.Describe(failures[i]))
		}
	}
	if !ls.several {
		return writeIndented(d.stdout, all[0])
	}
	return writeIndented(d.stdout, all)
}
