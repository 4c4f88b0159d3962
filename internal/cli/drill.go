package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/internal/act"
)

// drill releases an election repeatedly, each time as electop release --wait does, and measures each failover.
type drill struct {
	*action
	times int
	pause time.Duration
	// vacancies are the durations of the failovers.
	vacancies []time.Duration
}

const drillHelp = `Release the lock of an election --times times, and measure how long it had no
leader each time, as observed by electop. Each release is the same as that
of electop release --wait: it checks the exact lock state, and keeps the value,
the flags and the session. electop refuses a release that would do harm, for
example to Patroni.

The drill stops at the first problem: no leader within --wait, a new term of the
same leader, a vacancy that was not observed, a release that was not confirmed,
a change of the leader during a pause, or a lost connection. --pause is the time
between a failover and the next release.

Each failover is reported like a result of electop release. The last line
contains the 50th and 95th percentiles and the maximum of the vacancies. Clients
of the service may need longer to notice the new leader. With -o json, it is:

  {"summary":true,"election":"web","times":3,"failovers":3,
   "p50_ms":2,"p95_ms":3,"max_ms":3}

Exit codes:
  0  all failovers succeeded
  1  stopped at a problem, or refused
  2  usage error
  3  no such election
  4  the lock state changed before a release; that release was not written
  5  denied by the store, or unknown token or user
  6  stopped: the same leader leads again
  7  the election had no leader at the start; nothing was written`

func newDrillCommand(o *options) *cobra.Command {
	r := &drill{action: newAction(o, election.ActionRelease)}
	cmd := &cobra.Command{
		Use:               "drill NAME",
		Short:             "Step the leader down repeatedly and measure each failover",
		Long:              drillHelp,
		Example:           "  electop drill web\n  electop drill web --times 10 --pause 30s --yes -o json",
		Args:              arguments(1, 1),
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE:              work(r.run),
	}
	f := cmd.Flags()
	f.IntVarP(&r.times, "times", "n", 3, "number of failovers")
	f.DurationVar(&r.pause, "pause", 10*time.Second, "time between a failover and the next release")
	f.DurationVar(&r.wait, "wait", 30*time.Second, "timeout for the election of another leader")
	o.confirmFlags(cmd)
	return cmd
}

func (r *drill) run(ctx context.Context, names []string) error {
	switch {
	case r.times < 1:
		return usagef("--times %d: must be 1 or more", r.times)
	case r.wait == 0:
		return usagef("--wait 0s: must be a positive duration")
	}
	r.again = fmt.Sprintf(" %d times, %s apart", r.times, r.pause)
	if err := r.prepare(ctx, names); err != nil {
		return err
	}
	err := r.rounds(ctx)
	if len(r.vacancies) > 0 {
		r.summarize()
	}
	if err != nil {
		return fmt.Errorf("the drill stopped after %s of %d: %w", election.Plural(len(r.vacancies), "failover"), r.times, err)
	}
	return r.result()
}

// rounds repeats the release and the measurement, until the last failover or the first problem.
func (r *drill) rounds(ctx context.Context) error {
	for len(r.pending()) > 0 {
		r.engine.run(ctx)
		last := r.items[0].Outcome
		switch {
		case last.Kind != act.OutcomeMoved:
			return nil
		case last.Reason != "":
			return errors.New(last.Reason)
		case !last.VacancyKnown:
			return errors.New("the vacancy was not observed")
		}
		if r.vacancies = append(r.vacancies, last.Vacancy); len(r.vacancies) == r.times {
			return nil
		}
		if consulx.Sleep(ctx, r.pause); ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err := r.next(ctx, last); err != nil {
			return err
		}
	}
	return nil
}

// next selects the hold of the new leader for the next release. It fails if the lock has changed during the pause.
func (r *drill) next(ctx context.Context, last act.Outcome) error {
	if err := r.read(ctx, false); err != nil {
		return err
	}
	e := r.snapshot.Find(election.KeyID(last.Target.Key))
	if e == nil || e.Pair.Session != last.New.Session || e.Pair.CreateIndex == last.Target.CreateIndex && e.Term != last.Target.Term+1 {
		return errors.New("the leader changed during the pause")
	}
	r.items = nil
	r.plan(ctx, []*election.Election{e})
	return nil
}

// summarize writes the percentiles of the vacancies.
func (r *drill) summarize() {
	slices.Sort(r.vacancies)
	n := len(r.vacancies)
	rank := func(percent int) time.Duration { return r.vacancies[(n*percent+99)/100-1] }
	p50, p95, most := rank(50), rank(95), rank(100)
	r.print(map[string]any{
		"summary": true, "election": r.items[0].Target.Election, "times": r.times, "failovers": n,
		"p50_ms": p50.Milliseconds(), "p95_ms": p95.Milliseconds(), "max_ms": most.Milliseconds(),
	}, fmt.Sprintf("%s: %s measured; vacancy p50 %s, p95 %s, max %s", r.items[0].Name(), election.Plural(n, "failover"),
		election.FormatDuration(p50), election.FormatDuration(p95), election.FormatDuration(most)), false)
}
