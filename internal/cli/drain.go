package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/internal/act"
	"electop/internal/crash"
	dialogs "electop/ui/act"
	"electop/ui/kit"
)

// drainCommand is one drain of the command line.
type drainCommand struct {
	drainer
	dryRun   bool
	reported map[string]act.Outcome // by key
}

func newDrainCommand(o *options) *cobra.Command {
	c := &drainCommand{drainer: drainer{lookup: lookup{options: o}}, reported: map[string]act.Outcome{}}
	c.Options, c.note, c.changed, c.connection = act.Defaults(), func(election.OperatorAction) {}, c.report, func(err string) {
		text := "connection to Consul restored"
		if err != "" {
			text = "connection to Consul lost: " + err + "; the drain continues when the connection is restored"
		}
		c.warn(text)
	}
	cmd := &cobra.Command{
		Use:   "drain NODE…",
		Short: "Move every leader off a node, and report where it went",
		Long:  drainHelp,
		Example: `  electop drain node-2 --dry-run
  electop drain node-2 && ssh node-2 sudo reboot
  electop drain node-2 node-3 --yes -o json
  electop drain node-2 --exclude billing --rounds 5 --destroy`,
		ValidArgsFunction: completeNodes(o),
		RunE:              work(c.run),
	}
	f := cmd.Flags()
	f.BoolVar(&c.dryRun, "dry-run", false, "write the plan to standard output and change nothing")
	f.IntVar(&c.Rounds, "rounds", c.Rounds, "release an election at most this many times")
	f.DurationVar(&c.Settle, "settle", c.Settle, "an election has moved when another node has led it for this long")
	f.DurationVar(&c.Wait, "wait", c.Wait, "wait this long for a candidate before an election counts as vacant")
	f.BoolVar(&c.Destroy, "destroy", false, "after the last round, destroy the leader's session; a lock-delay follows")
	f.StringArrayVar(&c.include, "include", nil, "drain only the election with this name or key; repeatable")
	f.StringArrayVar(&c.exclude, "exclude", nil, "do not drain the election with this name or key; repeatable")
	f.BoolVar(&c.noScan, "no-scan", false, "skip the search of the whole KV store; drain only elections that a pattern matches")
	o.confirmFlags(cmd)
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
--rounds, electop waits 11 to 12 s before each release: clients such as npm's
pause before they compete again. An election without a likely candidate on
another node is released at most 3 times. An election has moved when another
node has led it for --settle. It is vacant if no candidate acquired it within
--wait; this is not an error. electop never acquires a key on behalf of a
candidate, and never acts on an election that another node leads.

--destroy destroys the leader's session after the last round, once for each
election, unless the session holds a key that is not part of the drain. No
candidate can acquire the key until the session's lock-delay ends.

The last line is the command that moves the leaders back. It is no promise:
Consul elects the candidate that acquires first.

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
   "vacant":0,"failed":0,"interrupted":0,"skipped":0,"releases":2,
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
	c.Nodes = slices.Compact(nodes)
	err := c.validate()
	if err == nil {
		c.lookup, err = c.openOne()
	}
	if err != nil {
		return err
	}
	c.store = c.Consistently()
	c.searching, c.former = c.progress, c.past(ctx, c.warn)
	if err := c.makePlan(ctx); err != nil {
		return err
	}
	if c.dryRun {
		if c.output == "json" {
			c.writePlanJSON()
		} else {
			err = c.writePlan(c.stdout, pipeWidth)
		}
		return cmp.Or(err, c.written, worstOf(codeOf(c.complete())))
	}
	_ = c.writePlan(c.stderr, defaultWidth) // a failed write of the plan must not stop the drain
	if planned := len(act.Pending(c.Items)); planned > 0 {
		if !c.yes {
			if err := c.confirm(ctx, fmt.Sprintf("Move %s off %s", election.Plural(planned, "election"), c.NodesText())); err != nil {
				return err
			}
		}
		c.recorder = c.record(c.warn)
	}
	started := time.Now()
	results, unverified := c.execute(ctx)
	c.recorder.finish()
	return c.finish(results, unverified, time.Since(started))
}

// validate checks the command line before the first request to Consul.
func (c *drainCommand) validate() error {
	switch {
	case len(c.Nodes) == 0 || slices.Contains(c.Nodes, ""):
		return usagef("drain requires at least one NODE, and no NODE may be empty; see electop drain --help")
	case c.Rounds < 1:
		return usagef("--rounds %d: must be at least 1", c.Rounds)
	case c.Wait == 0:
		return usagef("--wait 0s: must be a positive duration")
	case c.dryRun:
		return nil
	}
	if err := c.toWrite("drain; --dry-run shows the plan"); err != nil || c.yes {
		return err
	}
	return c.canAsk()
}

// writePlan writes the plan as the dashboard shows it.
func (c *drainCommand) writePlan(w io.Writer, width int) error {
	if c.noScan {
		c.warn("keys that match no pattern were not searched (--no-scan)")
	}
	return c.page(w, width, func(page *kit.Page) { dialogs.WritePlan(page, c.Plan, time.Now()) })
}

// plannedJSON is one election of a plan.
type plannedJSON struct {
	act.OutcomeJSON
	Next     []insight.Candidate `json:"next,omitempty"`
	Warnings []string            `json:"warnings,omitempty"`
}

// writePlanJSON writes one object per election, and a summary.
func (c *drainCommand) writePlanJSON() {
	planned := act.Pending(c.Items)
	for _, i := range c.Items {
		j := plannedJSON{OutcomeJSON: i.JSON()}
		if i.Kind == "" {
			j.Result, j.Next, j.Warnings = "planned", i.Next, i.Effect.Warnings
		}
		c.print(j, "", false)
	}
	c.print(map[string]any{
		"summary": true, "dry_run": true, "nodes": c.Nodes, "elections": len(planned), "skipped": len(c.Items) - len(planned),
		"complete": c.Incomplete == "" && !c.noScan,
	}, "", false)
}

// report writes a line when the state of an election has changed, or a pause begins.
func (c *drainCommand) report(o act.Outcome) {
	before := c.reported[o.Target.Key]
	c.reported[o.Target.Key] = o
	switch {
	case o.Kind == before.Kind && (before.Pausing || !o.Pausing):
	case o.Final():
		c.line(o)
	case o.Kind == act.OutcomeMoving && c.output != "json":
		fmt.Fprintf(c.stderr, "%s: moving, %s\n", o.Name(), o.Progress())
	}
}

// line reports one election. The text of a failed or unfinished election goes to stderr. The plan contains the text of a
// skipped election.
func (c *drainCommand) line(o act.Outcome) {
	skipped := o.Kind == act.OutcomeSkipped
	planned := func(i *act.Item) bool { return i.Target.Key == o.Target.Key }
	if c.output != "json" && skipped && slices.ContainsFunc(c.Items, planned) {
		return
	}
	c.print(o, o.Name()+": "+o.Summary(), skipped || o.Kind == act.OutcomeFailed || !o.Final())
}

// finish reports the interrupted elections and the summary. It returns an error with the exit code.
func (c *drainCommand) finish(results []act.Outcome, unverified error, elapsed time.Duration) error {
	const interrupted act.OutcomeKind = "interrupted"
	n := map[act.OutcomeKind]int{}
	var leads, better, free []string
	releases, back := 0, act.WayBack(election.Map(results, func(o act.Outcome) *act.Item { return &act.Item{Outcome: o} }))
	for i, o := range results {
		if !o.Final() {
			c.line(o)
			results[i].Kind = interrupted
		}
		n[results[i].Kind]++
		if o.Rounds > 0 && o.New.Session == "" && o.Watched {
			free = append(free, o.Name()+" has no leader; what to do: "+c.cluster().Electop([]string{"electop", "rescue"}, o.Target.Key))
		}
		if releases += o.Rounds; o.Here && (o.Kind != act.OutcomeSkipped || o.Failure != "") {
			leads = append(leads, o.Name())
			if o.Better != "" {
				better = append(better, o.Name()+" moves with: "+o.Better)
			}
		}
	}
	elections, sessions := len(results)-n[act.OutcomeSkipped], "sessions on "+c.NodesText()+" "
	if c.output == "json" {
		summary := map[string]any{
			"summary": true, "nodes": c.Nodes, "elections": elections, "releases": releases,
			"elapsed_ms": elapsed.Milliseconds(), "verified": unverified == nil,
		}
		for _, kind := range []act.OutcomeKind{
			act.OutcomeMoved, act.OutcomeStayed, act.OutcomeVacant, act.OutcomeFailed, interrupted, act.OutcomeSkipped,
		} {
			summary[string(kind)] = n[kind]
		}
		c.print(summary, "", false)
	}
	verdict := sessions + "lead no election of the drain"
	switch {
	case leads != nil:
		verdict = sessions + "still lead " + lineNames(leads)
	case unverified != nil:
		verdict = "not verified whether " + sessions + "lead an election"
	}
	if unverified != nil {
		verdict += "; " + consulx.Describe(unverified)
	}
	c.warn(fmt.Sprintf("%s (%s: %s; %s in %s)", verdict, election.Plural(elections, "election"), cmp.Or(act.Tally(results), "0 moved"), act.Releases(releases), election.FormatDuration(elapsed)))
	for _, lines := range [][]string{better, free} {
		for _, line := range lines[:min(len(lines), shownNames)] {
			c.warn(line)
		}
	}
	for _, back := range back {
		c.warn("way back to " + clean(back.Old) + ", once candidates run there (the first to acquire leads): " + c.cluster().Electop(back.Words()))
	}
	return cmp.Or(exitOfAll(results, true, codeOf(unverified)), c.written)
}

// drainer plans and carries out one drain, for the command and for the dashboard. The reads of its client are
// consistent.
type drainer struct {
	lookup
	writer
	act.Plan         // only with its nodes and options until makePlan
	noScan           bool
	include, exclude []string // names of elections; makePlan replaces them by keys
	// searching receives the progress of a search of the store.
	searching kit.Progress
	// note receives every action, as does the observer of the drain.
	note func(election.OperatorAction)
	// changed receives each changed result, and connection the reason when the connection is lost, or "" when it is
	// restored. They are never called concurrently.
	changed    func(act.Outcome)
	connection func(string)

	former election.HistoryRead // former leaders are candidates
	found  act.Facts            // the latest
}

// makePlan reads everything that the plan needs, and makes the plan.
func (d *drainer) makePlan(ctx context.Context) (err error) {
	d.found, err = d.facts(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", errDeclined)
	}
	if err != nil {
		return err
	}
	if err := d.checkNodes(ctx); err != nil {
		return err
	}
	d.snapshot = d.found.Snapshot
	if err := cmp.Or(d.findKeys(ctx, d.include), d.findKeys(ctx, d.exclude)); err != nil {
		return err
	}
	options := d.Options
	d.Plan = act.NewPlan(d.found, d.surroundings(ctx, d.found.Elections()), d.unselected)
	d.Options = options
	checks := d.leaderChecks(ctx, d.found.Elections())
	for _, i := range d.Items {
		for _, warnings := range [][]string{i.Effect.Warnings, i.Last.Warnings} {
			for n, text := range warnings {
				warnings[n] = d.paste(text)
			}
		}
		i.Fixes(i.Election, checks) // its texts are those of checks
	}
	return d.checkPermissions(ctx, election.ActionRelease, d.Items)
}

// unselected returns why --include and --exclude do not select an election. It returns "" if the election is selected.
func (d *drainer) unselected(e *election.Election) string {
	switch {
	case slices.Contains(d.exclude, e.Key()):
		return "excluded by --exclude"
	case len(d.include) > 0 && !slices.Contains(d.include, e.Key()):
		return "not selected by --include"
	}
	return ""
}

// checkNodes fails if a node does not exist, or if the token cannot read whether it exists.
func (d *drainer) checkNodes(ctx context.Context) error {
	known, err := d.client().Nodes(ctx)
	hidden := errors.Is(err, election.ErrIncomplete) || errors.Is(err, election.ErrDenied)
	if err != nil && !hidden {
		return err
	}
	for _, s := range d.found.Sessions {
		known = append(known, s.Node)
	}
	slices.Sort(known)
	for _, node := range d.Nodes {
		name := clean(node)
		switch {
		case act.Among(node, known):
		case hidden:
			return consulx.Fail(election.ErrDenied, "no sessions were found on node %s; check the name, because this token cannot read all nodes", name)
		default:
			return fmt.Errorf("%w: %s; Consul's nodes are %s", errNoNode, name, lineNames(slices.Compact(known)))
		}
	}
	return nil
}

// factTries is the maximum number of reads of the keys whose holders have changed.
const factTries = 3

// facts reads which keys sessions on the nodes hold. It fails if the node of an election's leader is unknown.
func (d *drainer) facts(ctx context.Context) (act.Facts, error) {
	f := act.Facts{Nodes: d.Nodes, Patterns: d.patterns}
	addHeld := func(p election.Pair) {
		if p.Held() {
			f.Held = append(f.Held, p)
		}
	}
	hidden := false
	if !d.noScan {
		err := consulx.ScanStore(ctx, d.client(), d.searching, addHeld)
		if hidden = errors.Is(err, election.ErrIncomplete); err != nil && !hidden {
			return f, err
		}
	}
	var unread []string
	for range factTries {
		partly, err := d.readLeaders(ctx, &f)
		if err != nil {
			return f, err
		}
		if hidden || f.Snapshot.Filtered || partly {
			f.Incomplete = "This token cannot read all keys and sessions: keys that sessions on the node hold may be missing."
		}
		elections, keys := f.Unread()
		switch {
		case partly && len(elections) > 0:
			return f, fmt.Errorf("%w: this token cannot read the sessions of these elections' leaders, so their nodes are unknown (see electop doctor): %s",
				election.ErrDenied, lineNames(elections))
		case partly, len(elections)+len(keys) == 0:
			return f, nil
		}
		unread = slices.Concat(elections, keys)
		f.Held = slices.DeleteFunc(f.Held, func(p election.Pair) bool { return slices.Contains(keys, p.Key) })
		unreadable, err := consulx.Scan(ctx, d.client(), keys, nil, addHeld)
		if err != nil {
			return f, err
		}
		hidden = hidden || unreadable
	}
	return f, fmt.Errorf("the leaders of these elections changed while electop read them; try again: %s", lineNames(unread))
}

// readLeaders reads the elections, and then all sessions. partly is set if Consul may hide sessions.
func (d *drainer) readLeaders(ctx context.Context, f *act.Facts) (partly bool, err error) {
	if f.Snapshot, err = d.Once(ctx, d.patterns, d.former); err != nil {
		return false, err
	}
	f.Sessions, err = d.Sessions(ctx)
	switch {
	case errors.Is(err, election.ErrIncomplete):
		return true, nil
	case err != nil:
		return false, err
	}
	return d.client().OmitsSilently(ctx)
}

// findKeys replaces names by keys. A name selects an election that a pattern matches, or a held key that the search found.
// An unknown name is an error: with a misspelled name in --exclude, the drain would release an election that the user
// protects.
func (d *drainer) findKeys(ctx context.Context, names []string) error {
	for i, name := range names {
		e, err := findElection(d.snapshot, name)
		switch {
		case err == nil:
			names[i] = e.Key()
		case !d.holds(name):
			return d.explainError(ctx, name, err)
		}
	}
	return nil
}

// holds reports whether a session held a key that the search found.
func (d *drainer) holds(key string) bool {
	return slices.ContainsFunc(d.found.Held, func(p election.Pair) bool { return p.Key == key })
}

// execute carries out the plan, and verifies with a second plan that sessions on the nodes lead no election. unverified
// is nil if this was verified.
func (d *drainer) execute(ctx context.Context) (results []act.Outcome, unverified error) {
	checked := act.NewRunner(d.Plan, nil).Results()
	if len(act.Pending(d.Items)) > 0 {
		if results, unverified = d.move(ctx); unverified != nil {
			return results, unverified
		}
		if d.found, unverified = d.facts(ctx); unverified != nil {
			return results, unverified
		}
		checked = act.Check(results, act.NewPlan(d.found, nil, d.unselected))
	}
	for i, r := range checked {
		if i >= len(results) || r.Kind != results[i].Kind {
			d.changed(r)
		}
	}
	return checked, d.complete()
}

// complete returns an error if keys may be missing from the latest plan. With --include, only these keys and their
// holders' sessions must be readable.
func (d *drainer) complete() error {
	hidden := d.found.Incomplete != "" && len(d.include) == 0
	_, unread := d.found.Unread()
	for _, key := range d.include {
		e := d.found.Snapshot.Find(election.KeyID(key))
		hidden = hidden || d.found.Incomplete != "" && !d.holds(key) && (e == nil || e.Unreadable) || slices.Contains(unread, key)
	}
	if hidden {
		return consulx.Fail(election.ErrDenied, "%s", d.found.Incomplete)
	}
	return nil
}

// move observes the elections of the plan and moves them. It returns an error if it was interrupted or could not begin.
func (d *drainer) move(ctx context.Context) ([]act.Outcome, error) {
	planned, ps := map[string]bool{}, slices.Clone(d.patterns)
	for _, item := range act.Pending(d.Items) {
		planned[item.Target.Key] = true
		if !item.Watched {
			ps = append(ps, election.KeyPattern(item.Target.Key))
		}
	}
	runner := act.NewRunner(d.Plan, d)
	runner.OnResult, runner.OnConnection = d.changed, d.connection
	runner.Likely = func(ctx context.Context, led []*election.Election) []int {
		defer crash.Recover()
		around, board := d.surroundings(ctx, led), insight.NewBoard(d.snapshot.Elections, nil)
		return election.Map(led, func(e *election.Election) int {
			one, near := *e, around[e.Key()]
			for _, i := range d.Items { // the history may know former leaders
				if i.Target.Key == e.Key() {
					one.Terms = slices.Concat(i.Election.Terms, e.Terms)
				}
			}
			return act.NewItem(election.ActionDrain, &one, d.Nodes, board, &near).Likely
		})
	}
	var err error
	d.observing(ctx, ps, func(observer observer) {
		d.operator = drainOperator{consulx.NewOperator(d.client(), func(a election.OperatorAction) {
			a.By = userAtHost()
			observer.Note(a)
			d.note(a)
		}), planned}
		var first *election.Snapshot
		if first, err = d.awaitSnapshot(ctx, observer); err != nil {
			return
		}
		runner.Run(ctx, first, observer.Snapshots())
	})
	return runner.Results(), cmp.Or(err, ctx.Err())
}

// drainOperator carries out the actions of a drain. It destroys no session that holds a key which is not part of the drain.
type drainOperator struct {
	*consulx.Operator
	planned map[string]bool
}

// DestroySession implements [operator].
func (o drainOperator) DestroySession(ctx context.Context, d election.Destroy) error {
	asked := time.Now()
	held, _, err := o.HeldBy(ctx, d.Session, asked)
	if other := slices.IndexFunc(held, func(key string) bool { return !o.planned[key] }); other >= 0 {
		err = consulx.Fail(election.ErrRefused, "it also holds %s, which is not part of the drain", clean(held[other]))
	}
	if err != nil {
		return err
	}
	return o.Operator.DestroySession(ctx, election.Destroy{Target: d.Target, Keys: held, Shown: asked}) // it refuses if keys are hidden
}

// PlanDrain implements [ui.Backend]. A drain has its own client and observer, because the dashboard's observer does not
// read keys outside the patterns.
func (b *dashboard) PlanDrain(ctx context.Context, name string, nodes []string, progress kit.Progress) (act.Plan, error) {
	c, err := b.find(name)
	if err != nil {
		return act.Plan{}, err
	}
	d := &drainer{
		lookup: lookup{options: b.options, store: c.Consistently(), patterns: c.Patterns()}, writer: writer{recorder: c.recorder},
		Plan: act.Plan{Nodes: nodes, Options: act.Defaults()}, note: c.Note, searching: progress, connection: func(string) {},
	}
	d.former = d.past(ctx, func(string) {})
	if err := d.makePlan(ctx); err != nil {
		return act.Plan{}, errors.New(consulx.Describe(err))
	}
	d.Start = func(destroy bool) *act.Running {
		d.Destroy = destroy
		return b.startDrain(c, d)
	}
	return d.Plan, nil
}

// startDrain carries out the plan. A slow screen never delays the drain.
func (b *dashboard) startDrain(c *datacenter, d *drainer) *act.Running {
	ctx, cancel := context.WithCancel(b.ctx)
	changes, ended := newQueue[act.Outcome](), make(chan struct{})
	var last []act.Outcome
	var unverified error
	crash.Go(&b.drains, func() {
		defer cancel()
		defer close(ended) // after last and unverified were set
		client, err := consulx.NewClient(c.of.consul)
		if err != nil {
			last, unverified = act.NewRunner(d.Plan, nil).Results(), err
			return
		}
		defer client.Close()
		d.store, d.changed = consul{client.Consistently()}, func(r act.Outcome) { changes.push([]act.Outcome{r}) }
		last, unverified = d.execute(ctx)
	})
	return &act.Running{Stop: cancel, Next: func() ([]act.Outcome, string, bool) {
		select {
		case <-ended:
			return last, consulx.Describe(unverified), false
		case <-changes.filled:
			return changes.take(), "", true
		}
	}}
}
