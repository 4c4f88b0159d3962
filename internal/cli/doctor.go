package cli

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/internal/crash"
	"electop/ui/kit"
	"electop/ui/pages"
)

func newDoctorCommand(o *options) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this address and token can read and do",
		Long: `Show, rule by rule, what this address and token can read and do, and what an
empty response means. It never writes.

Exit codes: 0 the token can read everything that electop observes, 5 it cannot
read some of it, 1 Consul cannot be reached or has no consensus leader. The
permissions for release and destroy are shown, but do not change the exit code.

With --datacenter dc1,dc2 or all, each row names its datacenter, and -o json
writes an array with a report for each. Of several exit codes, electop uses the
most severe one: 1, then 5. All reports are about the agent of --http-addr.`,
		Example: "  electop doctor\n  electop doctor -o json --token-file readonly.token",
		Args:    arguments(0, 0),
		RunE:    work(func(ctx context.Context, _ []string) error { return runDoctor(ctx, o, format) }),
	}
	outputFlag(cmd, &format, "table", "json")
	return cmd
}

func runDoctor(ctx context.Context, o *options, format string) error {
	ls, err := o.open(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	rows, reports, failures := examine(ctx, ls.all)
	var codes []int
	for i, l := range ls.all {
		if failures[i] == nil {
			codes = append(codes, doctorExit(reports[i]))
		} else {
			codes = append(codes, reportError(o.stderr, l.fail(failures[i])))
		}
	}
	var report any = reports
	if !ls.several {
		report = reports[0]
	}
	return cmp.Or(o.document(o.stdout, format, report, func(page *kit.Page) { pages.WriteChecks(page, rows) }), worstOf(codes...))
}

// examine checks what the token can read and do in each datacenter. It checks them concurrently, so that a datacenter
// that does not respond does not delay the others. If there are several datacenters, the rows name them.
func examine(ctx context.Context, all []lookup) (rows []pages.Check, reports []consulx.Report, failures []error) {
	reports, failures = make([]consulx.Report, len(all)), make([]error, len(all))
	var checks sync.WaitGroup
	for i, l := range all {
		crash.Go(&checks, func() { reports[i], failures[i] = consulx.Doctor(ctx, l.client, l.patterns) })
	}
	checks.Wait()
	for i, l := range all {
		r := &reports[i]
		r.Datacenter = cmp.Or(l.config.Datacenter, r.Datacenter)
		if failures[i] != nil {
			r.Error = l.client.Redact(consulx.Describe(failures[i]))
		}
		for _, row := range r.Rows {
			rows = append(rows, pages.Check{
				Subject: strings.TrimPrefix(l.where, "datacenter ") + row.Subject, Status: pages.Status(row.Status), Detail: row.Detail, Rule: row.Rule,
			})
		}
	}
	return rows, reports, failures
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
	if r.ConsensusLeader == "" && !denied["agent"] && denied["consensus leader"] {
		return exitFailed
	}
	return code
}
