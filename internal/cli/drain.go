package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/drain"
)

// drainCommand holds the flags of drain.
type drainCommand struct {
	d       deps
	o       *options
	yes     bool
	dryRun  bool
	destroy bool
	watch   bool
	noScan  bool
	rounds  int
	settle  time.Duration
	wait    time.Duration
	include []string
	exclude []string
	output  string
}

// newDrain returns a drain with the default settings.
func newDrain(d deps) *drainCommand {
	return &drainCommand{d: d, rounds: 20, settle: 5 * time.Second, wait: 15 * time.Second}
}

func newDrainCommand(d deps, o *options) *cobra.Command {
	c := newDrain(d)
	c.o = o
	cmd := &cobra.Command{
		Use:   "drain NODE…",
		Short: "Move every leader off a node, and report where it went",
		Long:  drainHelp,
		Example: `  electop drain node-2 --dry-run
  electop drain node-2 && ssh node-2 sudo reboot
  electop drain node-2 node-3 --yes -o json
  electop drain node-2 --exclude billing --rounds 5 --destroy
  electop drain node-2 --watch --yes`,
		ValidArgsFunction: completeNodes(o),
		RunE:              func(cmd *cobra.Command, nodes []string) error { return c.run(cmd.Context(), nodes) },
	}
	f := cmd.Flags()
	f.BoolVar(&c.yes, "yes", false, "skip the confirmation")
	f.BoolVar(&c.dryRun, "dry-run", false, "write the plan to standard output and change nothing")
	f.IntVar(&c.rounds, "rounds", c.rounds, "release an election at most this many times")
	f.DurationVar(&c.settle, "settle", c.settle, "an election has moved when another node has led it for this long")
	f.DurationVar(&c.wait, "wait", c.wait, "wait this long for a candidate before an election counts as vacant")
	f.BoolVar(&c.destroy, "destroy", false, "after the last round, destroy the leader's session; a lock-delay follows")
	f.BoolVar(&c.watch, "watch", false, "continue until stopped: release every election that a session on the nodes acquires")
	f.StringArrayVar(&c.include, "include", nil, "drain only the election with this name or key; repeatable")
	f.StringArrayVar(&c.exclude, "exclude", nil, "do not drain the election with this name or key; repeatable")
	f.BoolVar(&c.noScan, "no-scan", false, "skip the search of the whole KV store; drain only elections that a pattern matches")
	outputFlag(cmd, &c.output, "text", "json")
	return cmd
}

const drainHelp = `Release every election that a session on one of the nodes leads, and observe
each until a session on another node leads it.

electop first shows the plan. It contains the elections that a pattern matches
and, from a search of the whole KV store, every other key that sessions on the
nodes hold. For each election, it shows the leader, likely candidates on other
nodes, the effect of a release, and the method that the software itself offers,
if one is known. Patroni's keys and the slots of semaphores are listed and
skipped.

At most 8 elections move at a time. electop releases an election only while the
session that it read leads it. If a session on a drained node leads it again,
electop releases it again immediately: frequent releases give a candidate that
polls on another node more chances to acquire the key. In the second half of the
--rounds, electop waits 11 to 12 s before each release if another node may have
a candidate: clients such as npm's pause before they compete again. An election
has moved when another node has led it for --settle. It is vacant if no
candidate acquired it within --wait; this is not an error. electop never
acquires a key on behalf of a candidate, and never acts on an election that
another node leads.

--destroy destroys the leader's session after the last round, once for each
election, unless the session holds a key that is not part of the drain. No
candidate can acquire the key until the session's lock-delay ends.

You can stop a drain at any moment, and continue it with a second drain. With
--watch, a drain runs until you stop it.

-o json writes one object per election to standard output as soon as the
result is known, and a summary as the last line. An election whose leader
changes after that gets another line. Plan and messages go to standard error:

  {"election":"web","key":"service/web/leader","result":"moved","rounds":2,
   "old":{"leader":"web-1","session":"…","node":"node-2"},
   "new":{"leader":"web-3","session":"…","node":"node-3"},"vacancy_ms":5}
  {"summary":true,"nodes":["node-2"],"elections":1,"moved":1,"stayed":0,
   "vacant":0,"failed":0,"unfinished":0,"skipped":0,"releases":2,
   "elapsed_ms":5017}

  result           exit  meaning
  moved               0  another node leads
  vacant              0  no candidate acquired the key within --wait
  stayed              6  a drained node leads after the last round
  failed       1, 4, 5  a release failed; "reason" says why (5: ACLs, 4: the
                         lock state changed and no later state was observed)
  skipped          0, 1  not part of the drain; 1 if electop refuses to release
                         an election that the node still leads (5: ACLs)
  moving, waiting     1  interrupted

With --dry-run, "result" is "planned" or "skipped".`

// run makes the plan, shows it, asks the user to confirm it, and executes it.
func (c *drainCommand) run(ctx context.Context, nodes []string) error {
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	if err := c.validate(nodes); err != nil {
		return err
	}
	l, err := c.o.lookUp(ctx, c.d)
	if err != nil {
		return err
	}
	defer l.client.Close()
	r := &drainRun{drainCommand: c, lookup: l}
	if err := r.makePlan(ctx, nodes); err != nil {
		return err
	}
	if c.dryRun {
		return r.writePlan()
	}
	r.showPlan()
	planned := len(r.plan.Planned())
	if !c.yes && (planned > 0 || c.watch) {
		if err := c.d.confirm(ctx, r.question(planned)); err != nil {
			return err
		}
	}
	return r.execute(ctx)
}

// validate checks the command line before the first request to Consul.
func (c *drainCommand) validate(nodes []string) error {
	switch {
	case len(nodes) == 0 || slices.Contains(nodes, ""):
		return usagef("drain requires at least one NODE, and no NODE may be empty; see electop drain --help")
	case c.rounds < 1:
		return usagef("--rounds %d: must be at least 1", c.rounds)
	case c.settle < 0:
		return usagef("--settle %s: must be 0 or more", c.settle)
	case c.wait <= 0:
		return usagef("--wait %s: must be a positive duration", c.wait)
	case c.dryRun && c.watch:
		return usagef("--dry-run and --watch are mutually exclusive")
	case c.dryRun:
		return nil
	case c.o.readOnly:
		return usagef("--read-only forbids drain; --dry-run shows the plan")
	case !c.yes:
		return c.d.canAsk()
	}
	return nil
}

// drainRun is one drain.
type drainRun struct {
	*drainCommand
	lookup
	plan     drain.Plan
	selected selection
	// progress receives the progress of the search of the store. If it is nil, a line on stderr shows the progress.
	progress func(done, total int)
	// note receives every action, unless it is nil. The observer of the drain always receives the actions.
	note func(election.OperatorAction)
	// connection receives the reason when the connection is lost, and "" when it is restored. It may be nil.
	connection func(err string)
	// incomplete is the reason why keys may be missing from the plan. It is "" if the plan is complete.
	incomplete string
}

func (r *drainRun) question(planned int) string {
	nodes := nodeNames(r.plan.Nodes)
	if r.watch {
		return fmt.Sprintf("Release %s now, and keep %s free of leaders", countElections(planned), nodes)
	}
	return fmt.Sprintf("Move %s off %s", countElections(planned), nodes)
}

// nodeNames joins names of nodes, safe to show.
func nodeNames(nodes []string) string {
	texts := make([]string, len(nodes))
	for i, node := range nodes {
		texts[i] = sanitize.Line(node, 60)
	}
	return strings.Join(texts, ", ")
}
