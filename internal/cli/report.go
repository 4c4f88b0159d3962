package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/internal/history"
	"electop/internal/report"
)

// reportEvents is the maximum number of events in a report.
const reportEvents = 10_000

func newReportCommand(d deps, o *options) *cobra.Command {
	var since, until string
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: "Print an incident report in Markdown from the history",
		Long: `Print an incident report about one election in Markdown, from the history:
what happened, the terms, a timeline with causes and evidence, gaps in
observation, and the operators' actions. electop does not contact Consul.

--since and --until take a duration before now (24h, 7d) or a time
(2026-11-20T03:12, local time unless it has a zone). Times are shown in the local
time zone, or in UTC with TZ=UTC.`,
		Example:           "  electop report billing --since 2h\n  TZ=UTC electop report billing --since 2026-11-20T03:00 --until 2026-11-20T04:00 > incident.md",
		Args:              exactName,
		ValidArgsFunction: completeHistory(o),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := parseRange(since, until, time.Now())
			if err != nil {
				return err
			}
			return writeReportOf(cmd.Context(), d, o, args[0], r)
		},
	}
	cmd.Flags().StringVar(&since, "since", "24h", "report what happened after this time")
	cmd.Flags().StringVar(&until, "until", "", "report what happened before this time (default now)")
	return cmd
}

func writeReportOf(ctx context.Context, d deps, o *options, name string, r history.Range) error {
	f, err := o.openHistory(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	keys, err := o.historyKeys(ctx, f, []string{name})
	if err != nil {
		return err
	}
	incident, err := readIncident(ctx, f, keys[0], r)
	if err != nil {
		return err
	}
	_, err = d.stdout.Write(incident.Markdown())
	return err
}

// readIncident reads the history of the election with this key.
func readIncident(ctx context.Context, f history.Source, key string, r history.Range) (*report.Incident, error) {
	i := &report.Incident{Name: key, Key: key, Range: r}
	filter := history.Filter{Range: r, Names: []string{key}}
	page, err := f.Events(ctx, history.EventQuery{Filter: filter, Limit: reportEvents})
	if err != nil {
		return nil, err
	}
	i.Events, i.Cut = page.Events, page.More
	slices.Reverse(i.Events)
	err = eachTerms(ctx, f, history.TermQuery{Filter: filter, Limit: historyPage}, func(terms []observedTerm) error {
		for _, t := range terms {
			i.Terms, i.Name = append(i.Terms, t.Term), t.Election
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(i.Events) > 0 {
		i.Name = i.Events[0].Election
	}
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return nil, err
	}
	i.Summary = st.Total
	observed, err := f.Observations(ctx, r)
	if err != nil {
		return nil, err
	}
	cover := history.NewCoverage(observed, r)
	i.Gaps, i.ObservedUntil = cover.GapsOf("", key), cover.Until("", key)
	actions, err := f.Actions(ctx, r)
	for _, a := range actions {
		// The action that destroyed a session may have no key.
		if a.Key == key || a.Key == "" && slices.ContainsFunc(i.Terms, func(t history.Term) bool { return t.Session == a.Session }) {
			i.Actions = append(i.Actions, a)
		}
	}
	return i, err
}
