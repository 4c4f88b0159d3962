package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
)

// maxDrills bounds --times, and therefore the size of the result.
const maxDrills = 1000

// drill releases an election repeatedly and measures each failover. Its batch has one item: the current release.
type drill struct {
	*batch
	times int
	pause time.Duration
	// failovers are the results of the releases, in order.
	failovers []insight.Outcome
	last      *election.Snapshot // the latest snapshot that was observed
	// problem is the reason why the drill stopped early, or "" if it did not stop early. code is the exit code of the
	// problem.
	problem string
	code    int
}

const drillHelp = `Release the lock of an election --times times, and measure how long it had no
leader each time, as observed through Consul. Each release is the same as that
of electop release: it checks the exact lock state, and keeps the value, the
flags and the session. electop refuses a release that would do harm, for example
to Patroni.

The drill stops at the first problem: no leader within --wait, a new term of the
same session, terms that were not observed, a new leader during a pause, or a
lost connection to Consul. --pause is the time between a failover and the
next release, during which the new leader must keep the lock.

The result contains the 50th and 95th percentiles and the maximum of the
vacancies, the new leaders, and a histogram. Clients of the service may need
longer to notice the new leader. -o json writes one object:

  {"election":"web","key":"service/web/leader","datacenter":"dc1",
   "times":3,"result":"done","failovers":[{…}],
   "p50_ms":2,"p95_ms":3,"max_ms":3,
   "winners":[{"leader":"web-2","count":2}],
   "histogram":[{"up_to_ms":5,"count":3}]}

"result" is done or stopped; "reason" says why it stopped. The elements of
"failovers" are those of electop release -o json.

Exit codes:
  0  all failovers succeeded
  1  stopped at a problem, or refused
  2  usage error
  3  no such election
  4  the lock state changed before a release; that release was not written
  5  denied by Consul's ACLs, or unknown token
  6  stopped: the same leader leads again
  7  the election had no leader at the start; nothing was written`

func newDrillCommand(d deps, o *options) *cobra.Command {
	r := &drill{batch: &batch{action: &action{d: d, o: o, kind: election.ActionRelease}}}
	cmd := &cobra.Command{
		Use:               "drill NAME",
		Short:             "Step the leader down repeatedly and measure each failover",
		Long:              drillHelp,
		Example:           "  electop drill web\n  electop drill web --times 10 --pause 30s --yes -o json",
		Args:              exactName,
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&r.yes, "yes", false, "skip the confirmation")
	f.IntVarP(&r.times, "times", "n", 3, "number of failovers")
	f.DurationVar(&r.pause, "pause", 10*time.Second, "time between a failover and the next release")
	f.DurationVar(&r.wait, "wait", 30*time.Second, "timeout for the election of another leader")
	outputFlag(cmd, &r.output, "text", "json")
	return cmd
}

func (r *drill) validate() error {
	if err := r.o.toWrite("drill"); err != nil {
		return err
	}
	switch {
	case r.times < 1 || r.times > maxDrills:
		return usagef("--times %d: must be from 1 to %d", r.times, maxDrills)
	case r.pause < 0:
		return usagef("--pause %s: must be 0 or more", r.pause)
	case r.wait <= 0:
		return usagef("--wait %s: must be a positive duration", r.wait)
	case !r.yes:
		return r.d.canAsk()
	}
	return nil
}

func (r *drill) run(ctx context.Context, name string) error {
	if err := r.validate(); err != nil {
		return err
	}
	l, err := r.o.openOne(r.d)
	if err != nil {
		return err
	}
	if err := l.read(ctx, nil); err != nil {
		return err
	}
	r.lookup = l
	if err := r.choose(ctx, []string{name}); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if r.problem == "" {
		if err := r.observeAndDrill(ctx); err != nil {
			return err
		}
	}
	if err := r.writeResult(); err != nil {
		return err
	}
	if r.code != exitOK {
		return exitError(r.code)
	}
	return nil
}

// prepare shows the plan and asks for confirmation. It stops the drill if the first release cannot succeed.
func (r *drill) prepare(ctx context.Context) error {
	r.assess(ctx)
	r.checkPermissions(ctx)
	first := r.items[0]
	if !first.pending() {
		r.stop(first.outcome, first.outcome.Reason)
		return nil
	}
	if r.yes {
		r.showWarnings()
		return nil
	}
	r.showPlan()
	return r.d.confirm(ctx, fmt.Sprintf("Release %s %d times, %s apart", first.name(), r.times, r.pause))
}

// stop ends the drill because of a problem with one outcome.
func (r *drill) stop(o insight.Outcome, problem string) {
	r.problem, r.code = problem, outcomeExit(o, true)
	if r.code == exitOK {
		r.code = exitFailed
	}
}

func (r *drill) observeAndDrill(ctx context.Context) error {
	r.recorder = r.o.record(r.client, r.d.warn)
	defer r.recorder.finish()
	r.recorder.observes(r.snapshot.Datacenter)
	ps := exactPatterns(r.items)
	observer := observe.New(r.client, observe.Options{Patterns: ps})
	octx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return observer.Run(octx) })
	_, err := awaitSnapshot(ctx, r.client, ps, observer.Snapshots())
	if err == nil {
		r.rounds(ctx, observer)
	}
	cancel()
	return errors.Join(err, g.Wait())
}

// rounds repeats the release and the measurement. It stops after the last failover or at the first problem.
func (r *drill) rounds(ctx context.Context, observer *observe.Observer) {
	operator := consulx.NewOperator(r.client, observer.Note)
	target := r.items[0].target()
	for {
		o := r.failover(ctx, operator, observer.Snapshots(), target)
		r.failovers = append(r.failovers, o)
		n := len(r.failovers)
		fmt.Fprintf(r.d.stderr, "%*d of %d  %s\n", len(fmt.Sprint(r.times)), n, r.times, o.Summary())
		if problem := drillProblem(o); problem != "" {
			r.stop(o, problem)
			return
		}
		if n == r.times {
			return
		}
		next, problem := r.hold(ctx, observer.Snapshots(), o)
		if problem != "" {
			r.stop(o, problem)
			return
		}
		target = next
	}
}

// failover releases the lock and waits for the next leader.
func (r *drill) failover(
	ctx context.Context, operator *consulx.Operator, snapshots <-chan *election.Snapshot, target election.Target,
) insight.Outcome {
	s := &item{outcome: insight.Outcome{Action: election.ActionRelease, Target: target}}
	r.items = []*item{s}
	interrupted := ctx.Err() != nil
	r.apply(ctx, operator, s)
	if !interrupted {
		r.recorder.action(s.outcome)
	}
	wctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	for !s.outcome.Settled() {
		snapshot, ok := nextSnapshot(wctx, snapshots)
		if !ok {
			s.outcome = waitEnded(s.outcome, r.last, r.wait, ctx.Err() != nil)
			break
		}
		r.last = snapshot
		s.outcome = s.outcome.Follow(snapshot.Find(election.KeyID(target.Key)))
	}
	return s.outcome
}

// drillProblem returns why a drill must stop after an outcome. It returns "" if the drill may continue.
func drillProblem(o insight.Outcome) string {
	switch {
	case o.Kind == insight.OutcomeReturned:
		return "the same leader leads again"
	case o.Kind != insight.OutcomeMoved:
		return o.Summary()
	case o.Reason != "":
		return o.Reason
	case !o.VacancyKnown:
		return "the vacancy was not observed: the connection to Consul was interrupted"
	}
	return ""
}

// hold observes the new leader during the pause, and returns its hold or a problem.
func (r *drill) hold(ctx context.Context, snapshots <-chan *election.Snapshot, o insight.Outcome) (election.Target, string) {
	first, problem := holdOf(r.last, o)
	pctx, cancel := context.WithTimeout(ctx, r.pause)
	defer cancel()
	for problem == "" {
		s, ok := nextSnapshot(pctx, snapshots)
		switch {
		case ctx.Err() != nil:
			return first, "interrupted"
		case !ok:
			return first, ""
		}
		r.last = s
		if _, problem = holdOf(s, o); problem == "" && !first.SameHold(s.Find(election.KeyID(first.Key)).Pair) {
			problem = "the new leader lost the lock during the pause and leads again"
		}
	}
	return first, problem
}

// holdOf returns the hold of the new leader. If the drill must stop, it returns the reason instead.
func holdOf(s *election.Snapshot, o insight.Outcome) (election.Target, string) {
	if _, stale := s.StaleSince(o.Target.Key); stale {
		return election.Target{}, "the connection to Consul was lost during the pause"
	}
	e := s.Find(election.KeyID(o.Target.Key))
	switch {
	case e != nil && e.Unreadable:
		return election.Target{}, "this token can no longer read the key"
	case e == nil || e.State(s.At) != election.Led:
		return election.Target{}, "the new leader lost the lock during the pause"
	case e.Pair.Session != o.New.Session:
		return election.Target{}, "the leader changed during the pause"
	}
	t := e.Target()
	t.Election = o.Target.Election
	return t, ""
}
