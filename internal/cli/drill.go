package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/consulx/observe"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// maxDrills bounds --times, and therefore the size of the result.
const maxDrills = 1000

// drill releases an election repeatedly and measures each failover. Its engine has one item: the current release.
type drill struct {
	action
	times int
	pause time.Duration
	// failovers are the results of the releases, in order.
	failovers []insight.Outcome
	// stopped is the reason why the drill stopped early, or "" if it did not stop early. code is its exit code.
	stopped string
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
	r := &drill{action: action{d: d, o: o, kind: election.ActionRelease}}
	r.report = func(*item) {} // rounds reports each failover
	cmd := &cobra.Command{
		Use:               "drill NAME",
		Short:             "Step the leader down repeatedly and measure each failover",
		Long:              drillHelp,
		Example:           "  electop drill web\n  electop drill web --times 10 --pause 30s --yes -o json",
		Args:              exactName,
		ValidArgsFunction: first(completeNames(o), cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, names []string) error { return r.run(cmd.Context(), names) },
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

func (r *drill) run(ctx context.Context, names []string) error {
	if err := r.validate(); err != nil {
		return err
	}
	var err error
	if r.lookup, err = r.o.readOne(ctx, r.d, nil); err != nil {
		return err
	}
	if err := r.choose(ctx, names); err != nil {
		return err
	}
	r.assess(ctx)
	r.checkPermissions(ctx)
	if first := r.items[0]; first.Kind != "" {
		r.stop(first.Kind, first.Reason)
		return r.writeResult()
	}
	if r.showPlan(!r.yes); !r.yes {
		if err := r.d.confirm(ctx, fmt.Sprintf("Release %s %d times, %s apart", r.items[0].name(), r.times, r.pause)); err != nil {
			return err
		}
	}
	recorder := r.o.recordActions(r.d, r.lookup)
	defer recorder.finish()
	err = r.observing(ctx, func(observer *observe.Observer, _ *election.Snapshot) {
		r.rounds(ctx, observer.Snapshots(), writer{consulx.NewOperator(r.client, observer.Note), recorder})
	})
	return cmp.Or(err, r.writeResult())
}

// stop ends the drill because of a problem.
func (r *drill) stop(kind insight.OutcomeKind, problem string) {
	r.stopped, r.code = problem, cmp.Or(exitOf(kind, true), exitFailed)
}

// rounds repeats the release and the measurement. It stops after the last failover or at the first problem.
func (r *drill) rounds(ctx context.Context, snapshots <-chan *election.Snapshot, w writer) {
	for target := r.items[0].Target; ; {
		s := &item{Outcome: insight.Outcome{Action: election.ActionRelease, Target: target}}
		r.items = []*item{s}
		r.apply(ctx, w)
		r.follow(ctx, snapshots)
		r.failovers = append(r.failovers, s.Outcome)
		n := len(r.failovers)
		fmt.Fprintf(r.d.stderr, "%*d of %d  %s\n", len(fmt.Sprint(r.times)), n, r.times, s.Summary())
		problem := drillProblem(s.Outcome)
		if problem == "" && n == r.times {
			return
		}
		if problem == "" {
			target, problem = r.hold(ctx, snapshots, s.Outcome)
		}
		if problem != "" {
			r.stop(s.Kind, problem)
			return
		}
	}
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
	if problem == "" {
		awaitState(pctx, snapshots, func(now *election.Snapshot) bool {
			r.last = now
			if _, problem = holdOf(now, o); problem == "" && !first.SameHold(now.Find(election.KeyID(first.Key)).Pair) {
				problem = "the new leader lost the lock during the pause and leads again"
			}
			return problem != ""
		})
	}
	if ctx.Err() != nil {
		problem = "interrupted"
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

// winner is a leader and the number of failovers after which this leader led.
type winner struct {
	Leader string `json:"leader"`
	Count  int    `json:"count"`
}

// bucket counts the vacancies that are longer than the bound of the previous bucket, but not longer than its own.
type bucket struct {
	UpToMS *int64 `json:"up_to_ms"` // null for the bucket without a bound
	Count  int    `json:"count"`
}

// measure returns the sorted vacancies and the new leaders, the most frequent first. A failover whose vacancy is unknown
// counts only for its new leader.
func (r *drill) measure() (vacancies []time.Duration, winners []winner) {
	winners = []winner{}
	for _, o := range r.failovers {
		if o.VacancyKnown {
			vacancies = append(vacancies, o.Vacancy)
		}
		if o.New.Session == "" {
			continue
		}
		i := slices.IndexFunc(winners, func(w winner) bool { return w.Leader == o.New.Leader })
		if i < 0 {
			i, winners = len(winners), append(winners, winner{Leader: o.New.Leader})
		}
		winners[i].Count++
	}
	slices.SortStableFunc(winners, func(a, b winner) int { return cmp.Compare(b.Count, a.Count) })
	slices.Sort(vacancies)
	return vacancies, winners
}

// rank returns the smallest vacancy v such that at least p percent of the sorted vacancies are at most v.
func rank(sorted []time.Duration, p int) time.Duration { return sorted[(len(sorted)*p+99)/100-1] }

// histogram returns the buckets without empty buckets at both ends.
func histogram(vacancies []time.Duration) []bucket {
	var all []bucket
	for decade := int64(1); decade <= 10_000; decade *= 10 {
		for _, n := range []int64{1, 2, 5} {
			ms := n * decade
			all = append(all, bucket{UpToMS: &ms})
		}
	}
	all = append(all, bucket{})
	for _, v := range vacancies {
		all[slices.IndexFunc(all, func(b bucket) bool { return b.UpToMS == nil || v <= time.Duration(*b.UpToMS)*time.Millisecond })].Count++
	}
	for len(all) > 0 && all[0].Count == 0 {
		all = all[1:]
	}
	for len(all) > 0 && all[len(all)-1].Count == 0 {
		all = all[:len(all)-1]
	}
	return all
}

type drillJSON struct {
	Election   string            `json:"election"`
	Key        string            `json:"key"`
	Datacenter string            `json:"datacenter"`
	Times      int               `json:"times"`
	Result     string            `json:"result"`
	Reason     string            `json:"reason,omitempty"`
	Failovers  []insight.Outcome `json:"failovers"`
	P50MS      *int64            `json:"p50_ms,omitempty"`
	P95MS      *int64            `json:"p95_ms,omitempty"`
	MaxMS      *int64            `json:"max_ms,omitempty"`
	Winners    []winner          `json:"winners"`
	Histogram  []bucket          `json:"histogram"`
}

// writeResult writes the measurements and why the drill stopped. It returns the exit code.
func (r *drill) writeResult() error {
	var err error
	switch {
	case r.output == "json":
		err = r.writeJSON()
	case len(r.failovers) > 0:
		_, err = fmt.Fprint(r.d.stdout, r.text())
	}
	if r.output == "text" && r.stopped != "" {
		r.d.warn(fmt.Sprintf("drill of %s stopped after %d of %d: %s",
			r.items[0].name(), len(r.failovers), r.times, sanitize.Line(r.stopped, 1000)))
		if better := r.items[0].effect.Better; len(r.failovers) == 0 && better != "" {
			fmt.Fprintln(r.d.stderr, "  instead   "+better)
		}
	}
	if err == nil && r.code != exitOK {
		err = exitError(r.code)
	}
	return err
}

func (r *drill) writeJSON() error {
	vacancies, winners := r.measure()
	t := r.items[0].Target
	j := drillJSON{
		Election: t.Election, Key: t.Key, Datacenter: r.snapshot.Datacenter, Times: r.times, Result: "done", Reason: r.stopped,
		Failovers: append([]insight.Outcome{}, r.failovers...), Winners: winners, Histogram: histogram(vacancies),
	}
	if r.stopped != "" {
		j.Result = "stopped"
	}
	if len(vacancies) > 0 {
		for p, field := range map[int]**int64{50: &j.P50MS, 95: &j.P95MS, 100: &j.MaxMS} {
			ms := rank(vacancies, p).Milliseconds()
			*field = &ms
		}
	}
	return writeIndented(r.d.stdout, j)
}

// barWidth is the length of the longest bar of the histogram.
const barWidth = 40

func (r *drill) text() string {
	vacancies, winners := r.measure()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s measured", r.items[0].name(), election.Plural(uint64(len(vacancies)), "failover"))
	if len(vacancies) > 0 {
		fmt.Fprintf(&b, "; vacancy p50 %s, p95 %s, max %s",
			election.FormatDuration(rank(vacancies, 50)), election.FormatDuration(rank(vacancies, 95)), election.FormatDuration(rank(vacancies, 100)))
	}
	b.WriteString("\n")
	for _, w := range winners {
		fmt.Fprintf(&b, "  won    %4d  %s\n", w.Count, election.ShortLeader(w.Leader))
	}
	mark, upTo, most := "█", "≤ ", 0
	if r.o.ascii {
		mark, upTo = "#", "<= "
	}
	rows := histogram(vacancies)
	for _, row := range rows {
		most = max(most, row.Count)
	}
	for _, row := range rows {
		label := "longer"
		if row.UpToMS != nil {
			label = upTo + (time.Duration(*row.UpToMS) * time.Millisecond).String()
		}
		line := fmt.Sprintf("  %-8s %3d  %s", label, row.Count, strings.Repeat(mark, (row.Count*barWidth+most-1)/most))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
