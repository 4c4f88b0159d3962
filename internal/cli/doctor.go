package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/internal/crash"
	"electop/ui/kit"
	"electop/ui/pages"
)

func newDoctorCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this address and token can read and do",
		Long: `Show, rule by rule, what this address and token can read and do, and what an
empty response means. It never writes. In etcd, it shows the rights of the user
and the state of the members.

Exit codes: 0 the token can read everything that electop observes, 5 it cannot
read some of it, 1 the store cannot be reached or has no leader. The
permissions for release and destroy and the recorder of --history are shown, but
do not change the exit code.

With --datacenter dc1,dc2 or all, each row names its datacenter, and -o json
writes an array with a report for each. Of several exit codes, electop uses the
most severe one: 1, then 5. All reports are about the agent of --http-addr.`,
		Example: "  electop doctor\n  electop doctor -o json --token-file readonly.token",
		Args:    arguments(0, 0),
		RunE: work(func(ctx context.Context, _ []string) error {
			ls, err := o.open(ctx)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			found, rows := o.examine(ctx, ls.all)
			var codes []int
			var reports []any
			var failed error
			for i, d := range found {
				if d.err != nil {
					d.exit, failed = reportError(o.stderr, ls.all[i].fail(d.err)), errors.Join(failed, d.err)
				}
				codes, reports = append(codes, d.exit), append(reports, d.report)
			}
			var report any = reports
			if !ls.several() {
				report = reports[0]
			}
			return cmp.Or(o.document(report, func(page *kit.Page) { pages.WriteChecks(page, rows) }), errors.Join(worstOf(codes...), failed))
		}),
	}
	o.outputFlag(cmd, "table")
	return cmd
}

// examine checks what the credentials can read and do in each datacenter. It checks them concurrently, so that a
// datacenter that does not respond does not delay the others. If there are several datacenters, the rows name them. The
// last row is about the recorder of --history.
func (o *options) examine(ctx context.Context, all []lookup) (found []diagnosis, rows []pages.Check) {
	found = make([]diagnosis, len(all))
	crash.Each(len(all), len(all), func(i int) { found[i] = all[i].Doctor(ctx, all[i].patterns) })
	for i, l := range all {
		_, where, _ := strings.Cut(l.where, " ")
		for _, row := range found[i].rows {
			row.Subject = where + row.Subject
			rows = append(rows, row)
		}
	}
	if isURL(o.history) {
		row := pages.Check{Subject: "history", Status: consulx.StatusUnknown}
		if recorder, err := o.historyClient(all...); err != nil {
			row.Detail = historyError(err)
		} else {
			defer recorder.Close()
			if row.Detail = checkRecorder(ctx, recorder); row.Detail == "" {
				row.Status = consulx.StatusOK
			}
		}
		rows = append(rows, row)
	}
	return found, rows
}

func (c consul) Doctor(ctx context.Context, ps election.Patterns) diagnosis {
	r, err := consulx.Doctor(ctx, c.Client, ps)
	r.Datacenter = cmp.Or(c.Datacenter(), r.Datacenter)
	if err != nil {
		r.Error = c.Redact(consulx.Describe(err))
	}
	rows := election.Map(r.Rows, func(row consulx.Row) pages.Check { return pages.Check(row) })
	return diagnosis{r, rows, doctorExit(r), err}
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
