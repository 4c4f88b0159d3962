package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/internal/feed"
	dialogs "electop/ui/act"
	"electop/ui/kit"
)

// engine carries out a plan: it acts on each pending item once, and follows each election until its next leader.
type engine struct {
	lookup
	items []*act.Item
	// wait is how long to wait for the next leaders; 0 does not wait.
	wait time.Duration
	// hidden is set if the items were selected by their state and others may be missing.
	hidden bool
	// report receives each item when its outcome is final.
	report func(*act.Item)
}

// action is one run of release or destroy.
type action struct {
	engine
	kind  election.ActionKind
	node  string
	id    string // the session of --session; destroy only
	again string // the end of the question; drill only
}

func newReleaseCommand(o *options) *cobra.Command {
	return newActionCommand(o, election.ActionRelease, &cobra.Command{
		Use:   "release NAME… | --node NODE",
		Short: "Step leaders down: unlock the key, keep its value and flags",
		Long: `Unlock the key of each election in one transaction that checks the key, the
session and the index that electop read. If the lock state has changed, nothing
is written. The value, the flags and the session are kept, and no lock-delay
follows: the next candidate, or the old leader, may lead immediately. For
software that electop recognises, the plan shows how the holder reacts. electop
refuses a release that would do harm: for Patroni, and in etcd's v3 API, whose
clients do not notice a release. In etcd's v2 API, it deletes the first key of a
queue.

` + actionHelp,
		Example: `  electop release web
  electop release web mail --yes --wait 30s
  electop release --node node-2 --yes -o json`,
	})
}

func newDestroyCommand(o *options) *cobra.Command {
	return newActionCommand(o, election.ActionDestroy, &cobra.Command{
		Use:   "destroy NAME… | --node NODE | --session ID",
		Short: "Destroy the holder's session and every lock that it holds",
		Long: `Destroy the session that holds the key of each election. Every lock of the
session is released or, with behavior "delete", its key is deleted. No candidate
can acquire these keys until the session's lock-delay ends; the slot of a
semaphore is free immediately. A session that leads several of the elections is
destroyed once and reported for each.

Before the confirmation, electop searches the whole KV store for keys that the
sessions hold, and shows their number and the first ten. Consul cannot destroy a
session conditionally. electop therefore searches again immediately before the
action, and destroys a session only if it holds exactly the keys of the plan.

In etcd, a session is a lease, which names its keys itself. destroy revokes it:
all its keys are deleted and the next candidate leads immediately, while the old
leader may work on until its next renewal.

--session ID destroys this session, whichever keys it holds. The result has one
line for each watched election that the session leads or, if there is none, one
line with an empty election and key.

` + actionHelp,
		Example: `  electop destroy web
  electop destroy web mail --yes --wait 30s
  electop destroy --session 695bfbd0-6350-7587-addf-a18084928f3c`,
	})
}

// actionHelp is the help text that release and destroy share.
const actionHelp = `If a NAME does not exist, electop does nothing. One plan and one confirmation
cover all elections; electop then acts on each in turn. electop reports and
skips elections without a leader, keys for which it refuses the action, and keys
that the token may not change.

--node NODE selects every election whose leader's session is on the node. With
NAMEs, it selects only from these elections.

--wait DURATION observes the elections while acting and reports the first leader
of each after the action. DURATION is the limit for all elections together.

-o json writes one object per election to standard output, one per line, as soon
as its result is known. The plan, the confirmation and messages go to standard
error:

  {"election":"web","key":"service/web/leader","action":"release",
   "result":"moved","old":{"leader":"web-1","session":"…","node":"node-1"},
   "new":{"leader":"web-2","session":"…","node":"node-2"},"vacancy_ms":2}

"new" and "vacancy_ms" are present only if observed. "reason" says what went
wrong. "note" names the other keys that a destroyed session lost. "result" is
one of the following; with several elections the first line that applies decides
the exit code:

  result               exit  meaning
  failed, refused         1  nothing was written
  unknown                 1  not confirmed: the write may have been applied
  vacant                  1  done; no leader within the time of --wait
  done                    1  done, but --wait could not observe the result
  denied                  5  the store denied it; nothing was written
  changed                 4  the lock state changed; nothing was written
  no_leader               7  the election has no leader; nothing was written
  same_leader             6  done, but the same leader leads again: the same
                             session, or the same value on the same node;
                             electop shows the drain that moves the leader if
                             another node has a likely candidate
  moved                   0  done; another leader leads
  done                    0  done, without --wait: the next leader is unknown`

func newAction(o *options, kind election.ActionKind) *action {
	a := &action{engine: engine{lookup: lookup{options: o}}, kind: kind}
	a.report = a.writeOutcome
	return a
}

func newActionCommand(o *options, kind election.ActionKind, cmd *cobra.Command) *cobra.Command {
	a := newAction(o, kind)
	cmd.ValidArgsFunction = completeNames(o)
	cmd.RunE = work(a.run)
	f := cmd.Flags()
	f.DurationVar(&a.wait, "wait", 0, "wait this long for the next leader and report the vacancy")
	f.Func("node", "act on every election whose leader's session is on this `node`", nonEmpty(&a.node))
	o.confirmFlags(cmd)
	if kind == election.ActionDestroy {
		f.Func("session", "destroy the session with this `ID`", nonEmpty(&a.id))
	}
	return cmd
}

// nonEmpty stores the value of a flag. It rejects an empty value, for example from an unset shell variable, which would
// have the same effect as an omitted flag.
func nonEmpty(into *string) func(string) error {
	return func(value string) error {
		if *into = value; value == "" {
			return errors.New("the value is empty")
		}
		return nil
	}
}

// run acts on each election only if its lock state has not changed since prepare read it.
func (a *action) run(ctx context.Context, names []string) error {
	if err := a.prepare(ctx, names); err != nil {
		return err
	}
	a.engine.run(ctx)
	return a.result()
}

// prepare selects the elections, shows the plan and requests confirmation.
func (a *action) prepare(ctx context.Context, names []string) error {
	err := a.validate(names)
	if err == nil {
		a.lookup, err = a.readOne(ctx, false)
	}
	if err == nil {
		err = a.choose(ctx, names)
	}
	if err == nil {
		err = a.confirmPlan(ctx)
	}
	return err
}

// validate checks the command line before the first request to Consul.
func (a *action) validate(names []string) error {
	if err := a.toWrite(string(a.kind)); err != nil {
		return err
	}
	switch {
	case a.id != "" && (len(names) > 0 || a.node != ""):
		return usagef("--session cannot be combined with NAME or --node; see electop %s --help", a.kind)
	case len(names) == 0 && a.id == "" && a.node == "":
		return usagef("%s requires at least one NAME, or a flag such as --node; see electop %s --help", a.kind, a.kind)
	case !a.yes:
		return a.canAsk()
	}
	return nil
}

// choose makes the items of the command line. It fails if any NAME is unknown.
func (a *action) choose(ctx context.Context, names []string) (err error) {
	var chosen []*election.Election
	if a.id != "" {
		chosen, err = a.ledBySession(ctx)
	} else if chosen, err = a.elections(ctx, names); err == nil && a.node != "" {
		if a.hidden, err = a.warnSilent(ctx); err == nil {
			chosen, err = a.ledOn(ctx, chosen)
		}
	}
	if err == nil && slices.ContainsFunc(chosen, (*election.Election).Overwritten) { // only the history knows their leaders
		err = a.read(ctx, true)
		chosen = election.Map(chosen, func(e *election.Election) *election.Election { return cmp.Or(a.snapshot.Find(e.ID()), e) })
	}
	if err == nil {
		a.plan(ctx, chosen)
	}
	return err
}

// plan adds an item for each election, and finishes those on which electop does not act.
func (a *action) plan(ctx context.Context, chosen []*election.Election) {
	around, checks, board := a.surroundings(ctx, chosen), lookup{store: a.Consistently()}.leaderChecks(ctx, chosen), insight.NewBoard(a.snapshot.Elections, nil)
	for _, e := range election.Union(nil, chosen...) {
		read := around[e.Key()]
		item := act.NewItem(a.kind, e, nil, board, &read)
		item.Fixes(e, checks)
		switch e.State(a.snapshot.At) {
		case election.Led:
		case election.OfSemaphore:
			item.Refuse(act.OutcomeNoLeader, "the key belongs to a semaphore, which has holders and no leader")
		default:
			item.Refuse(act.OutcomeNoLeader, "the election has no leader")
		}
		if item.Effect.Typed && a.yes && item.Kind == "" {
			item.Refuse(act.OutcomeRefused, "two processes may act as leader afterwards; to confirm this, omit --yes and type the name")
		}
		a.items = append(a.items, item)
	}
}

// ledOn returns the elections whose leader's session is on the node of --node. It fails if the session of a leader
// cannot be read, because that leader could be on any node.
func (a *action) ledOn(ctx context.Context, all []*election.Election) (found []*election.Election, err error) {
	for _, e := range all {
		if !e.Held() {
			continue
		}
		session := e.Session
		if session == nil {
			session, err = a.readSession(ctx, e.Pair.Session)
		}
		switch {
		case session != nil && election.SameNode(session.Node, a.node):
			found = append(found, e)
		case session == nil && !errors.Is(err, election.ErrNoSession):
			return nil, fmt.Errorf("the node of %s's leader is unknown; use NAMEs without --node: %w", clean(e.Name), err)
		}
	}
	switch node := clean(a.node); {
	case len(found) > 0:
		return found, nil
	case a.hidden:
		return nil, consulx.Fail(election.ErrDenied, "no session on node %s leads an election that this token can read", node)
	default:
		return nil, fmt.Errorf("%w: no session on node %s leads an election", errNoElection, node)
	}
}

func (a *action) readSession(ctx context.Context, id string) (*election.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return a.Session(ctx, id)
}

// ledBySession returns the elections that the session of --session leads. If the session leads no watched election, the
// only item is the session.
func (a *action) ledBySession(ctx context.Context) (led []*election.Election, err error) {
	t := election.Target{Session: a.id}
	session, err := a.readSession(ctx, a.id)
	if session != nil {
		t = session.Target()
	} else if !errors.Is(err, election.ErrDenied) {
		return nil, err
	}
	t.Datacenter = a.snapshot.Datacenter
	for _, e := range a.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(t.Session) {
			led = append(led, e)
		}
	}
	switch {
	case len(led) > 0:
	case a.wait > 0:
		return nil, usagef("--wait: session %s leads no election that the patterns match; remove --wait, or select its keys with -k", sanitize.Line(a.id, 40))
	default:
		a.items = []*act.Item{{Session: session, Outcome: act.Outcome{Action: a.kind, Target: t}}}
		if t.Store.Leases {
			a.items[0].Refuse(act.OutcomeRefused, "the lease leads no election that the patterns match")
		}
	}
	return led, nil
}

// confirmPlan shows the plan, reports skipped elections and requests confirmation. The reports follow the plan, so that
// a long plan does not scroll them away. A destroy shows the plan even with --yes, because the session may hold any key.
func (a *action) confirmPlan(ctx context.Context) error {
	var err error
	shown := !a.yes || a.kind == election.ActionDestroy
	if shown {
		err = a.checkPermissions(ctx, a.kind, a.items)
	}
	if err == nil && a.kind == election.ActionDestroy && len(a.pending()) > 0 {
		// The user must not confirm an incomplete plan.
		if err = a.searchHoldings(ctx, a.sessions(), a.progress); ctx.Err() != nil {
			return fmt.Errorf("the search was interrupted: %w", errDeclined)
		} else if errors.Is(err, election.ErrIncomplete) {
			err = nil
		}
	}
	if err == nil && len(a.pending()) > 0 {
		a.showPlan(shown)
	}
	for _, s := range a.items {
		if s.Kind != "" {
			a.report(s)
		}
	}
	switch {
	case err != nil:
		a.fail(err)
	case !a.yes && len(a.pending()) > 0:
		return a.confirm(ctx, a.question(), a.words()...)
	}
	return nil
}

// sessions returns one pending item per session.
func (a *action) sessions() []*act.Item {
	return election.Map(act.Writes(a.items), func(items []*act.Item) *act.Item { return items[0] })
}

// showPlan writes the effects of the action before the confirmation, or only the warnings if the plan is not shown.
func (a *action) showPlan(shown bool) {
	for _, i := range a.pending() {
		if i.Election == nil {
			i.Effect = insight.EffectOfSession(i.Session, i.Held, !i.Destroy.Incomplete)
		}
		for n, text := range i.Effect.Warnings {
			text = a.paste(text)
			if i.Effect.Warnings[n] = text; !shown {
				a.warn(i.Name() + ": " + text)
			}
		}
	}
	if shown { // a failed write of the plan must not stop the action
		_ = a.page(a.stderr, defaultWidth, func(page *kit.Page) { dialogs.WriteAction(page, a.kind, a.snapshot, a.pending()) })
	}
}

func (a *action) question() string {
	all, verb, one, unit := a.pending(), "Release ", a.pending()[0].Name(), "election"
	if a.kind == election.ActionDestroy {
		all, verb, one, unit = a.sessions(), "Destroy ", "session "+election.ShortID(all[0].Target.Session), "session"
	}
	if len(all) > 1 {
		one = election.Plural(len(all), unit)
	}
	return verb + one + a.again
}

// words returns the names that the user must type; see [insight.Effect].
func (a *action) words() (names []string) {
	for _, i := range a.pending() {
		if i.Effect.Typed {
			names = append(names, i.Target.Election)
		}
	}
	return names
}

// run carries out the plan. With wait, it observes the elections before, during and after the writes. Therefore it can
// measure the vacancy, and never reports an earlier term as the next term.
func (e *engine) run(ctx context.Context) {
	if len(e.pending()) == 0 {
		return
	}
	recorder := e.record(e.warn)
	defer recorder.finish()
	if e.wait == 0 {
		e.apply(ctx, writer{e.Operator(nil), recorder})
		return
	}
	ps := election.Map(e.items, func(i *act.Item) election.Pattern { return election.KeyPattern(i.Target.Key) })
	e.observing(ctx, ps, func(observer observer) {
		first, err := e.awaitSnapshot(ctx, observer)
		if err != nil { // nothing was written
			e.fail(err)
			return
		}
		e.apply(ctx, writer{e.Operator(observer.Note), recorder})
		if awaited := act.Settle(e.items, first, e.report); len(awaited) > 0 {
			fmt.Fprintf(e.stderr, "waiting up to %s for the next leader of %s\n", e.wait, strings.Join(election.Map(awaited, (*act.Item).Name), ", "))
			act.Await(ctx, awaited, first, observer.Snapshots(), e.wait, e.report)
		}
	})
}

// observing runs an observer until do returns. The end of ctx does not end the observer: an interrupted command waits
// for its writes in progress.
func (l lookup) observing(ctx context.Context, ps election.Patterns, do func(observer)) {
	observer := l.Observer(feed.Options{Patterns: ps})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var ended sync.WaitGroup
	ended.Go(func() { observer.Run(ctx) })
	do(observer)
	cancel()
	ended.Wait()
}

// elections returns the elections with these names, or all elections if there are no names.
func (e *engine) elections(ctx context.Context, names []string) ([]*election.Election, error) {
	if len(names) == 0 && e.unlearned() {
		return nil, errors.New("select the keys with -k") // an action would leave elections out
	}
	return lookups{all: []lookup{e.lookup}}.elections(ctx, names)
}

// apply acts on the pending items in turn, and reports the outcomes that are final.
func (e *engine) apply(ctx context.Context, w writer) {
	for _, items := range act.Writes(e.items) {
		o := act.Write(ctx, w, items)
		for _, i := range items {
			o.Target = i.Target
			if i.Outcome = o; e.wait == 0 || o.Settled() {
				e.report(i)
			}
		}
	}
}

// result counts the results of several elections, and returns the most severe exit code.
func (a *action) result() error {
	if len(a.items) > 1 {
		a.warn(act.Tally(a.outcomes()))
	}
	return a.exit()
}

// pending returns the items that have no outcome yet.
func (e *engine) pending() []*act.Item { return act.Pending(e.items) }

// outcomes returns the outcomes of all items.
func (e *engine) outcomes() []act.Outcome {
	return election.Map(e.items, func(i *act.Item) act.Outcome { return i.Outcome })
}

// exit returns the most severe exit code of the outcomes. Success needs that the token can read all elections.
func (e *engine) exit() error {
	code := exitOK
	if e.hidden {
		e.warn("not verified: elections that this token cannot read may be missing")
		code = exitDenied
	}
	return cmp.Or(exitOfAll(e.outcomes(), e.wait > 0, code), e.written)
}

// fail finishes all pending items with an error, and reports them.
func (e *engine) fail(err error) {
	for _, i := range e.pending() {
		i.Outcome = outcomeOf(i.Outcome, err)
		e.report(i)
	}
}

// writeOutcome writes the outcome of one item. With text, outcomes that wrote nothing to Consul go to stderr.
func (a *action) writeOutcome(i *act.Item) {
	text := i.Name() + ": " + i.Summary()
	if i.Kind == act.OutcomeDone && i.Reason == "" && a.kind == election.ActionDestroy {
		text += ". " + i.Effect.Delay
	}
	a.print(i.Outcome, text, !i.Kind.Applied())
	if i.Kind == act.OutcomeRefused && i.Effect.Better != "" && a.output != "json" {
		fmt.Fprintln(a.stderr, "  instead   "+i.Effect.Better)
	}
	for _, force := range act.Force([]*act.Item{i}) {
		fmt.Fprintln(a.stderr, "  to force  "+a.cluster().Electop(force.Words()))
	}
	if i.Kind == act.OutcomeReturned && i.Likely == 0 {
		fmt.Fprintln(a.stderr, "  Start another candidate first: none was seen.")
	}
}
