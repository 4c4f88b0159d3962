package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/internal/act"
)

// drainCommand is one drain of the command line.
type drainCommand struct {
	drainer
	d           deps
	o           *options
	yes, dryRun bool
	output      string
	written     error // the first error that occurred while a result was written
}

func newDrainCommand(d deps, o *options) *cobra.Command {
	c := &drainCommand{d: d, o: o, drainer: drainer{Options: act.Defaults(), note: func(election.OperatorAction) {}}}
	cmd := &cobra.Command{
		Use:   "drain NODE…",
		Short: "Move every leader off a node, and report where it went",
		Long:  drainHelp,
		Example: `  electop drain node-2 --dry-run
  electop drain node-2 && ssh node-2 sudo reboot
  electop drain node-2 node-3 --yes -o json
  electop drain node-2 --exclude billing --rounds 5 --destroy`,
		ValidArgsFunction: completeNodes(o),
		RunE:              func(cmd *cobra.Command, nodes []string) error { return c.run(cmd.Context(), nodes) },
	}
	f := cmd.Flags()
	f.BoolVar(&c.yes, "yes", false, "skip the confirmation")
	f.BoolVar(&c.dryRun, "dry-run", false, "write the plan to standard output and change nothing")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "release an election at most this many times")
	f.DurationVar(&c.Settle, "settle", c.Settle, "an election has moved when another node has led it for this long")
	f.DurationVar(&c.Wait, "wait", c.Wait, "wait this long for a candidate before an election counts as vacant")
	f.BoolVar(&c.Destroy, "destroy", false, "after the last round, destroy the leader's session; a lock-delay follows")
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

You can stop a drain at any moment, and continue it with a second drain.

At the end, electop makes the plan again, with consistent reads. The exit code
is 0 only if this plan is complete and lists no election to move. If the token
cannot read all keys and sessions, the exit code is 5, unless --include names
all elections of the drain. If the reads fail, the exit code is 1.

-o json writes one object per election to standard output as soon as the
result is known, and a summary as the last line. An election whose leader
changes after that gets another line. Plan and messages go to standard error:

  {"election":"web","key":"service/web/leader","result":"moved","rounds":2,
   "old":{"leader":"web-1","session":"…","node":"node-2"},
   "new":{"leader":"web-3","session":"…","node":"node-3"},"vacancy_ms":5}
  {"summary":true,"nodes":["node-2"],"elections":1,"moved":1,"stayed":0,
   "vacant":0,"failed":0,"unfinished":0,"skipped":0,"releases":2,
   "elapsed_ms":5017,"verified":true}

  result           exit  meaning
  moved               0  another node leads
  vacant              0  no candidate acquired the key within --wait
  stayed              6  a drained node leads after the last round or at the end
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
	l, err := c.o.openOne(c.d)
	if err != nil {
		return err
	}
	l.client = l.client.Consistently()
	c.lookup = l
	c.searching = func() (update func(done, total int), end func()) {
		p := &progress{w: c.d.stderr, terminal: c.d.interactive}
		return p.update, p.end
	}
	if err := c.makePlan(ctx, nodes); err != nil {
		return err
	}
	if c.dryRun {
		write := c.planText
		if c.output == "json" {
			write = c.planJSON
		}
		return cmp.Or(write(c.d.stdout), drainExit(nil, c.complete(ctx)))
	}
	_ = c.planText(c.d.stderr) // a failed write of the plan must not stop the drain
	var recorder *historyRecorder
	if planned := len(c.plan.Planned()); planned > 0 {
		if !c.yes {
			if err := c.d.confirm(ctx, fmt.Sprintf("Move %s off %s", countElections(planned), c.plan.NodesText())); err != nil {
				return err
			}
		}
		recorder = c.o.record(c.client, c.d.warn)
		recorder.observes(c.snapshot.Datacenter)
	}
	started := time.Now()
	results, unverified := c.execute(ctx, recorder, c.changed(), c.connection)
	recorder.finish()
	return c.finish(results, unverified, time.Since(started))
}

// validate checks the command line before the first request to Consul.
func (c *drainCommand) validate(nodes []string) error {
	switch {
	case len(nodes) == 0 || slices.Contains(nodes, ""):
		return usagef("drain requires at least one NODE, and no NODE may be empty; see electop drain --help")
	case c.Rounds < 1:
		return usagef("--rounds %d: must be at least 1", c.Rounds)
	case c.Settle < 0:
		return usagef("--settle %s: must be 0 or more", c.Settle)
	case c.Wait <= 0:
		return usagef("--wait %s: must be a positive duration", c.Wait)
	case c.dryRun:
		return nil
	}
	if err := c.o.toWrite("drain; --dry-run shows the plan"); err != nil || c.yes {
		return err
	}
	return c.d.canAsk()
}
