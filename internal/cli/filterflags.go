package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"electop/election"
	"electop/election/insight"
	"electop/election/query"
	"electop/internal/crash"
)

// view selects elections with --filter and sorts them with --sort.
type view struct {
	filter query.Filter
	order  query.Order
	// sorted is set if --sort was given.
	sorted bool
}

// flags adds --filter and --sort to a command.
func (v *view) flags(f *pflag.FlagSet) {
	var fields string
	for _, field := range query.FieldsOf(query.Elections) {
		fields += ", " + field.Example
	}
	f.Func("filter", "show only the elections that match `FILTER`: text, !inverse, /regex/"+fields+" (docs/filter.md)", v.setFilter)
	f.Func("sort", "sort the elections by `KEY`: "+strings.Join(query.OrderKeys(), ", ")+"; problems lists elections without a leader first; KEY reverse reverses the order", func(text string) (err error) {
		v.order, err = query.ParseOrder(text)
		v.sorted = err == nil
		return err
	})
}

func (v *view) setFilter(text string) error {
	v.filter = query.Parse(text, query.Elections)
	return v.filter.Err
}

func completeFilter(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	start, options := query.Complete(text, query.Elections, nil)
	for i := range options {
		options[i] = text[:start] + options[i]
	}
	return options, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// apply filters and sorts the chosen elections. It reads the checks of the leaders' nodes and all sessions if the filter
// or the order needs them.
func (v *view) apply(ctx context.Context, ls lookups, chosen []*election.Election) ([]*election.Election, error) {
	all, facts := ls.facts()
	var sessions []*election.Session
	var err error
	switch {
	case v.filter.Has("advice"):
		sessions, err = ls.judged(ctx)
	case v.sorted && slices.Contains([]query.OrderKey{query.ByProblems, query.ByChecks}, v.order.Key):
		ls.readChecks(ctx)
	}
	chosen = v.filter.On(all, sessions, facts).Select(chosen)
	switch {
	case v.sorted:
		v.order.Sort(chosen, facts)
	case ls.several():
		slices.SortStableFunc(chosen, election.Compare)
	}
	return chosen, err
}

// facts returns all elections, and the data that filters, sort orders and advice use in addition to them.
func (ls lookups) facts() ([]*election.Election, query.Facts) {
	s := ls.joined()
	return s.Elections, query.Facts{At: s.At, Checks: s.ChecksOf}
}

// judged reads the data that advice needs: the checks, and all sessions. If the token cannot read all sessions, it warns
// and returns the readable ones.
func (ls lookups) judged(ctx context.Context) (sessions []*election.Session, err error) {
	ls.readChecks(ctx)
	for _, l := range ls.all {
		found, err := l.Sessions(ctx)
		switch {
		case errors.Is(err, election.ErrDenied), errors.Is(err, election.ErrIncomplete):
			l.warn("this token cannot read all sessions: advice that needs them is omitted")
		case err != nil:
			return nil, err
		}
		sessions = append(sessions, found...)
	}
	return sessions, nil
}

// readChecks adds the checks of the leaders' nodes to the snapshots, unless they were read before. It warns about
// nodes whose checks cannot be read.
func (ls lookups) readChecks(ctx context.Context) {
	crash.Each(len(ls.all), len(ls.all), func(i int) {
		l := ls.all[i]
		if len(l.snapshot.Checks) > 0 {
			return
		}
		l.snapshot.Checks = l.leaderChecks(ctx, l.snapshot.Elections)
		unread := 0
		for _, checks := range l.snapshot.Checks {
			if checks.Err != "" {
				unread++
			}
		}
		if unread > 0 {
			l.warn("the checks of " + election.Plural(unread, "node") + " cannot be read: leaders that have failed may be missing")
		}
	})
}

// warnFailed warns about leaders of the datacenter whose node has failed, and reports whether there are any. It reads only
// the nodes whose failure does not end the session.
func (l lookup) warnFailed(ctx context.Context, chosen []*election.Election) bool {
	var failed []string
	outlive := election.Without(chosen, func(e *election.Election) bool {
		return e.Datacenter != l.snapshot.Datacenter || e.Session == nil || e.Session.DependsOn(insight.NodeCheck)
	})
	checks := l.leaderChecks(ctx, outlive)
	for _, e := range outlive {
		if insight.FailureOf(e, checks).Current() {
			failed = append(failed, e.Name)
		}
	}
	if failed != nil {
		l.warn("the node of the leader has failed, but its session still holds the key: " + lineNames(failed) + "; see electop list --advice")
	}
	return failed != nil
}

// leaderChecks reads the checks of the leaders' nodes.
func (l lookup) leaderChecks(ctx context.Context, elections []*election.Election) map[string]election.NodeChecks {
	var nodes []string
	for _, e := range elections {
		if e.Session != nil {
			nodes = append(nodes, e.Session.Node)
		}
	}
	return l.Checks(ctx, nodes)
}
