package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
)

// action is one run of release or destroy.
type action struct {
	engine
	d       deps
	o       *options
	kind    election.ActionKind
	yes     bool
	node    string
	output  string
	id      string // the session of --session; destroy only
	noScan  bool   // destroy only
	hidden  bool   // elections on the node of --node may be missing
	written error  // the first error that occurred while a result was written
}

func newReleaseCommand(d deps, o *options) *cobra.Command {
	return newAction(d, o, election.ActionRelease, &cobra.Command{
		Use:   "release NAME… | --node NODE",
		Short: "Step leaders down: unlock the key, keep its value and flags",
		Long: `Unlock the key of each election in one transaction that checks the key, the
session and the index that electop read. If the lock state has changed, nothing
is written. The value, the flags and the session are kept, and no lock-delay
follows: the next candidate, or the old leader, may lead immediately. For
software that electop recognises, the plan shows how the holder reacts. electop
refuses a release that would do harm (Patroni).

` + actionHelp,
		Example: `  electop release web
  electop release web mail --yes --wait 30s
  electop release --node node-2 --yes -o json`,
	})
}

func newDestroyCommand(d deps, o *options) *cobra.Command {
	return newAction(d, o, election.ActionDestroy, &cobra.Command{
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
--no-scan skips both searches: keys that match no pattern are then neither shown
nor compared.

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
  denied                  5  Consul's ACLs denied it; nothing was written
  changed                 4  the lock state changed; nothing was written
  no_leader               7  the election has no leader; nothing was written
  same_leader             6  done, but the same leader leads again: the same
                             session, or the same value on the same node;
                             electop shows the drain that moves the leader
  moved                   0  done; another leader leads
  done                    0  done, without --wait: the next leader is unknown`

func newAction(d deps, o *options, kind election.ActionKind, cmd *cobra.Command) *cobra.Command {
	a := &action{d: d, o: o, kind: kind}
	a.report = a.writeOutcome
	cmd.ValidArgsFunction = completeNames(o)
	cmd.RunE = func(cmd *cobra.Command, names []string) error { return a.run(cmd.Context(), names) }
	f := cmd.Flags()
	f.BoolVar(&a.yes, "yes", false, "skip the confirmation")
	f.DurationVar(&a.wait, "wait", 0, "wait this long for the next leader and report the vacancy")
	f.Var((*nonEmptyString)(&a.node), "node", "act on every election whose leader's session is on this node")
	outputFlag(cmd, &a.output, "text", "json")
	if kind == election.ActionDestroy {
		f.Var((*nonEmptyString)(&a.id), "session", "destroy the session with this ID")
		f.BoolVar(&a.noScan, "no-scan", false, "skip the search of the whole KV store")
	}
	return cmd
}

// nonEmptyString is the value of a flag. It rejects an empty value, for example from an unset shell variable, which
// would have the same effect as an omitted flag.
type nonEmptyString string

func (s *nonEmptyString) String() string { return string(*s) }

func (s *nonEmptyString) Type() string { return "string" }

func (s *nonEmptyString) Set(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	*s = nonEmptyString(value)
	return nil
}

// run selects the elections, shows the plan, requests confirmation, and acts on each election only if its lock state
// has not changed since run read it.
func (a *action) run(ctx context.Context, names []string) error {
	if err := a.validate(names); err != nil {
		return err
	}
	var err error
	if a.lookup, err = a.o.readOne(ctx, a.d, nil); err != nil {
		return err
	}
	if err := a.choose(ctx, names); err != nil {
		return err
	}
	a.assess(ctx)
	if err := a.confirmPlan(ctx); err != nil {
		return err
	}
	if len(a.pending()) > 0 {
		recorder := a.o.recordActions(a.d, a.lookup)
		defer recorder.finish()
		if err := a.engine.run(ctx, recorder); err != nil {
			return err
		}
	}
	return a.result()
}

// validate checks the command line before the first request to Consul.
func (a *action) validate(names []string) error {
	if err := a.o.toWrite(string(a.kind)); err != nil {
		return err
	}
	switch {
	case a.wait < 0:
		return usagef("--wait %s: must be 0 or more", a.wait)
	case a.id != "" && (len(names) > 0 || a.node != ""):
		return usagef("--session cannot be combined with NAME or --node; see electop %s --help", a.kind)
	case len(names) == 0 && a.id == "" && a.node == "":
		return usagef("%s requires at least one NAME, or a flag such as --node; see electop %s --help", a.kind, a.kind)
	case !a.yes:
		return a.d.canAsk()
	}
	return nil
}

// choose selects the items of the command line. It fails if any NAME is unknown.
func (a *action) choose(ctx context.Context, names []string) error {
	if a.id != "" {
		return a.chooseSession(ctx)
	}
	chosen, err := a.elections(ctx, names)
	if err != nil {
		return err
	}
	if a.node != "" {
		if a.hidden, err = a.warnSilent(ctx); err != nil {
			return err
		}
		if chosen, err = a.ledOn(ctx, chosen); err != nil {
			return err
		}
	}
	for i, e := range chosen {
		if !slices.Contains(chosen[:i], e) {
			a.add(e)
		}
	}
	return nil
}

func (a *action) add(e *election.Election) {
	s := &item{election: e, Outcome: insight.Outcome{Action: a.kind, Target: e.Target()}}
	a.items = append(a.items, s)
	switch {
	case e.State(a.snapshot.At) == election.Led:
	case e.IsSemaphore():
		s.Kind, s.Reason = insight.OutcomeNoLeader, "the key belongs to a semaphore, which has holders and no leader"
	default:
		s.Kind, s.Reason = insight.OutcomeNoLeader, "the election has no leader"
	}
}

// ledOn returns the elections whose leader's session is on the node of --node. It fails if the token cannot read a
// leader's session, because that leader could be on any node.
func (a *action) ledOn(ctx context.Context, all []*election.Election) ([]*election.Election, error) {
	var found []*election.Election
	for _, e := range all {
		if !e.Exists || !e.Pair.Held() {
			continue
		}
		session := e.Session
		if session == nil {
			var err error
			switch session, err = a.readSession(ctx, e.Pair.Session); {
			case errors.Is(err, consulx.ErrNoSession):
				continue
			case errors.Is(err, consulx.ErrDenied):
				return nil, fmt.Errorf("%w: the node of %s's leader is unknown, because this token cannot read its session; use NAMEs without --node",
					consulx.ErrDenied, sanitize.Line(e.Name, 100))
			case err != nil:
				return nil, err
			}
		}
		if election.SameNode(session.Node, a.node) {
			found = append(found, e)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: no session on node %s leads an election", errNoElection, sanitize.Line(a.node, 60))
	}
	return found, nil
}

// chooseSession selects the elections that the session of --session leads. If the session leads no watched election,
// chooseSession selects only the session.
func (a *action) chooseSession(ctx context.Context) error {
	session, err := a.readSession(ctx, a.id)
	switch {
	case session != nil:
		a.id = session.ID // Consul finds a session in any case of its ID
	case !errors.Is(err, consulx.ErrDenied):
		return err
	}
	for _, e := range a.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(a.id) {
			a.add(e)
		}
	}
	if len(a.items) > 0 {
		return nil
	}
	if a.wait > 0 {
		return usagef("--wait: session %s leads no election that the patterns match; remove --wait, or select its keys with -k", sanitize.Line(a.id, 40))
	}
	t := election.Target{Session: a.id}
	if session != nil {
		t.Node, t.Behavior, t.LockDelay = session.Node, session.Behavior, session.EnforcedLockDelay()
	}
	a.items = []*item{{session: session, Outcome: insight.Outcome{Action: a.kind, Target: t}}}
	return nil
}

// readSession reads one session. It fails with ErrDenied if the token may not read it, and with ErrNoSession if there
// is no session with this ID.
func (l lookup) readSession(ctx context.Context, id string) (*election.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, hidden, err := l.client.SessionsByID(ctx, []string{id})
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return found[0], nil
	case hidden:
		return nil, consulx.ErrDenied
	}
	return nil, fmt.Errorf("%w: %s", consulx.ErrNoSession, sanitize.Line(id, 40))
}

// assess infers the effect of the action on each election, and finishes the items on which electop refuses to act.
func (a *action) assess(ctx context.Context) {
	var keys []string
	for _, s := range a.pending() {
		if s.election != nil {
			keys = append(keys, s.Target.Key)
		}
	}
	around := a.surroundings(ctx, keys)
	for _, s := range a.pending() {
		if s.election == nil {
			continue
		}
		read := around[s.Target.Key]
		candidates := insight.Candidates(s.election, &read, a.snapshot.Elections)
		s.next = nextText(candidates, &read)
		s.effect = insight.EffectOf(a.kind, s.election, &read, insight.Likely(candidates, &read))
		if s.effect.Refusal != "" {
			s.Kind, s.Reason = insight.OutcomeRefused, s.effect.Refusal
		}
	}
}

// confirmPlan shows the plan, reports skipped elections and requests confirmation. The reports follow the plan, so that
// a long plan does not scroll them away. A destroy shows the plan even with --yes, because the session may hold any key.
func (a *action) confirmPlan(ctx context.Context) error {
	searches := a.kind == election.ActionDestroy && !a.noScan
	if !a.yes || searches {
		a.checkPermissions(ctx)
	}
	skipped := slices.DeleteFunc(slices.Clone(a.items), func(s *item) bool { return s.Kind == "" })
	var err error
	if len(a.pending()) > 0 {
		if searches {
			err = a.searchStore(ctx)
		}
		if err == nil {
			a.showPlan(!a.yes || searches)
		}
	}
	for _, s := range skipped {
		a.report(s)
	}
	switch {
	case errors.Is(err, errDeclined):
		return err
	case err != nil:
		a.fail(err)
	case !a.yes && len(a.pending()) > 0:
		return a.d.confirm(ctx, a.question())
	}
	return nil
}

// checkPermissions finishes the items on which the token may not act, so that the user does not confirm an action that
// Consul will deny. If the token's permissions cannot be read, all pending items fail.
func (a *action) checkPermissions(ctx context.Context) {
	pending := a.pending()
	targets := make([]election.Target, len(pending))
	for i, s := range pending {
		targets[i] = s.Target
	}
	rules, err := a.missingRules(ctx, a.kind, targets)
	for i, s := range pending {
		if err != nil {
			s.Outcome = outcomeOf(s.Outcome, err)
		} else if rules[i] != "" {
			s.Kind, s.Reason = insight.OutcomeDenied, rules[i]
		}
	}
}

// sessions returns one pending item per session.
func (a *action) sessions() []*item {
	var all []*item
	for _, s := range a.pending() {
		if !slices.ContainsFunc(all, func(other *item) bool { return strings.EqualFold(other.Target.Session, s.Target.Session) }) {
			all = append(all, s)
		}
	}
	return all
}

// searchStore searches the whole KV store for keys of the sessions to destroy. If the search is interrupted, the
// command ends: the user must not confirm an incomplete plan.
func (a *action) searchStore(ctx context.Context) error {
	p := &progress{w: a.d.stderr, terminal: a.d.interactive}
	var ids []string
	for _, s := range a.sessions() {
		ids = append(ids, s.Target.Session)
	}
	pairs, err := consulx.Holdings(ctx, a.client.Consistently(), ids, p.update)
	p.end()
	incomplete := errors.Is(err, consulx.ErrIncomplete)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the search was interrupted: %w", errDeclined)
	case err != nil && !incomplete:
		return err
	}
	for _, s := range a.sessions() {
		s.destroy.Shown, s.destroy.Incomplete = time.Now(), incomplete
		for _, p := range pairs {
			if p.HeldBy(s.Target.Session) {
				s.held = append(s.held, p)
			}
		}
	}
	return nil
}

// showPlan writes the effects of the action before the confirmation, or only the warnings if the plan is not shown.
func (a *action) showPlan(shown bool) {
	var lines []string
	var effects []act.NamedEffect
	for _, s := range a.pending() {
		if s.election == nil {
			s.effect = insight.EffectOfSession(s.session, s.held, !a.noScan && !s.destroy.Incomplete)
		}
		effects = append(effects, act.NamedEffect{Name: s.name(), Effect: s.effect})
		lines = append(lines, s.headLines()...)
	}
	lines = append(lines, effectLines(effects)...)
	for _, s := range a.sessions() {
		if a.kind == election.ActionDestroy {
			lines = append(lines, a.sessionLines(s)...)
		}
	}
	if shown {
		_ = writePlanLines(a.d.stderr, lines) // a failed write of the plan must not stop the action
		return
	}
	for _, e := range effects {
		for _, text := range e.Effect.Warnings {
			a.d.warn(e.Name + ": " + text)
		}
	}
}

// headLines returns lines with the name of an election, its leader and its likely next leader. For a session that leads
// no watched election, it returns one line with the session.
func (s *item) headLines() []string {
	t := s.Target
	if s.election == nil {
		return []string{fmt.Sprintf("Destroy %s.", s.name())}
	}
	verb := "Release"
	if s.Action == election.ActionDestroy {
		verb = "Destroy the session of"
	}
	return []string{
		fmt.Sprintf("%s %s (key %s).", verb, s.name(), sanitize.Line(t.Key, 200)),
		"  leader    " + holderText(t),
		"  next      " + s.next,
	}
}

func holderText(t election.Target) string {
	text := fmt.Sprintf("%s, term %d, session %s", election.ShortLeader(t.Leader), t.Term, sanitize.Line(t.Session, 40))
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		text += " on " + sanitize.Line(t.Node, 60)
	}
	return text
}

// commandLabel is the start of each line with a command that the recognised software offers instead of the action.
// These lines are never wrapped.
const commandLabel = "  better    "

// effectLines returns each sentence of the effects once, with the names of the elections unless it applies to all.
func effectLines(effects []act.NamedEffect) (lines []string) {
	add := func(label string, pick func(insight.Effect) []string) {
		for _, text := range act.Sentences(effects, pick, func(names []string) string { return election.NameList(names, shownNames) }) {
			lines = append(lines, label+text)
		}
	}
	add("  key       ", func(f insight.Effect) []string { return []string{f.Key} })
	add("  holder    ", func(f insight.Effect) []string { return []string{f.Holder} })
	add("  delay     ", func(f insight.Effect) []string { return []string{f.Delay} })
	add("  warning   ", func(f insight.Effect) []string { return f.Warnings })
	add(commandLabel, func(f insight.Effect) []string { return []string{f.Better} })
	return lines
}

// writePlanLines writes lines, wrapped to the width of the terminal.
func writePlanLines(w io.Writer, lines []string) error {
	var b strings.Builder
	for _, line := range lines {
		if !strings.HasPrefix(line, commandLabel) {
			line = wrap(line, cmp.Or(terminalWidth(w), defaultWidth))
		}
		b.WriteString(line + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sessionLines returns lines with the number of keys that a session to destroy holds, the first of them, and the slots
// of semaphores that are lost. Watched keys come first. It stores what the user was shown.
func (a *action) sessionLines(s *item) []string {
	t := s.Target
	var keys, lost []string
	for _, e := range a.snapshot.Elections {
		if e.Exists && e.Pair.HeldBy(t.Session) {
			keys = append(keys, e.Key())
		}
		if sem := election.ReadSemaphore(e, nil); sem != nil && sem.Holds(t.Session) {
			lost = append(lost, "  lost      a slot of the semaphore "+sanitize.Line(e.Key(), 200))
		}
	}
	watched := len(keys)
	for _, p := range s.held {
		if !slices.Contains(keys, p.Key) {
			keys = append(keys, p.Key)
		}
	}
	s.destroy.Target, s.destroy.Keys, s.destroy.Unsearched = t, slices.Sorted(slices.Values(keys)), a.noScan
	effect := map[string]string{election.BehaviorDelete: "deleted", election.BehaviorRelease: "released"}[t.Behavior]
	effect = cmp.Or(effect, "released or deleted (the session could not be read):")
	line, count := "Session "+sanitize.Line(t.Session, 40), election.Plural(uint64(len(keys)), "key")
	if t.Behavior != "" {
		line += fmt.Sprintf(" (behavior %s, lock-delay %s)", t.Behavior, t.LockDelay)
	}
	switch {
	case a.noScan:
		line += " holds at least " + count + ". Keys that match no pattern were not searched (--no-scan)."
	case s.destroy.Incomplete:
		line += " holds at least " + count + ". Not all keys could be read."
	case len(keys) == 0:
		line += " holds no key."
	default:
		line += " holds " + count + ":"
	}
	lines := []string{line}
	for i, key := range keys[:min(len(keys), shownNames)] {
		line := fmt.Sprintf("  %-8s  %s", effect, sanitize.Line(key, 200))
		if i >= watched {
			line += " (not watched)"
		}
		lines = append(lines, line)
	}
	if more := len(keys) - shownNames; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return append(lines, lost...)
}

func (a *action) question() string {
	pending, sessions := a.pending(), a.sessions()
	switch {
	case a.kind == election.ActionDestroy && len(sessions) == 1:
		return "Destroy session " + election.ShortID(sessions[0].Target.Session)
	case a.kind == election.ActionDestroy:
		return fmt.Sprintf("Destroy %d sessions", len(sessions))
	case len(pending) == 1:
		return "Release " + pending[0].name()
	}
	return fmt.Sprintf("Release %d elections", len(pending))
}

// result writes a line for each exit code except success, the most severe last, and returns the most severe exit code.
// For a single item, it writes a line only if the same leader leads again.
func (a *action) result() error {
	byCode, codes := map[int][]*item{}, map[int]bool{}
	for _, s := range a.items {
		code := exitOf(s.Kind, a.wait > 0)
		byCode[code], codes[code] = append(byCode[code], s), true
	}
	texts := map[int]string{
		exitFailed: "failed", exitDenied: "denied", exitChanged: "changed before the action",
		exitNoLeader: "without a leader", exitSameLeader: "done, but the same leader leads again",
	}
	severity := bySeverity()
	for _, code := range slices.Backward(severity[:]) {
		switch items := byCode[code]; {
		case len(items) == 0 || code == exitOK:
		case len(a.items) > 1:
			fmt.Fprintf(a.stderr, "electop: %d of %d %s: %s\n", len(items), len(a.items), texts[code], itemNames(items))
		case code == exitSameLeader:
			fmt.Fprintf(a.stderr, "electop: %s: %s\n", texts[code], itemNames(items))
		}
	}
	err := cmp.Or(worstOf(codes), a.written)
	if err == nil && a.hidden {
		return a.d.unverified()
	}
	return err
}

// writeOutcome writes the outcome of one item: JSON to stdout; text to stdout or, if nothing was written to Consul, to
// stderr.
func (a *action) writeOutcome(s *item) {
	var err error
	line := s.name() + ": " + s.Summary()
	switch {
	case a.output == "json":
		err = writeJSONLine(a.d.stdout, s.Outcome)
	case !wasApplied(s.Kind):
		a.d.warn(line)
		if s.Kind == insight.OutcomeRefused && s.effect.Better != "" {
			fmt.Fprintln(a.d.stderr, "  instead   "+s.effect.Better)
		}
	case s.Kind == insight.OutcomeDone && s.Reason == "" && a.kind == election.ActionDestroy:
		_, err = fmt.Fprintf(a.d.stdout, "%s. %s\n", line, s.effect.Delay)
	default:
		_, err = fmt.Fprintln(a.d.stdout, line)
	}
	if s.Kind == insight.OutcomeReturned && a.kind == election.ActionRelease && s.New.Node != "" {
		fmt.Fprintln(a.d.stderr, "  to force  "+shellWords([]string{"electop", "drain", s.New.Node, "--include", s.name()}))
	}
	a.written = cmp.Or(a.written, err)
}

func wasApplied(kind insight.OutcomeKind) bool {
	return slices.Contains([]insight.OutcomeKind{
		insight.OutcomeDone, insight.OutcomeMoved, insight.OutcomeReturned, insight.OutcomeVacant,
	}, kind)
}

// nextText names the likely candidates in one line.
func nextText(candidates []insight.Candidate, around *election.Surroundings) string {
	if len(candidates) == 0 {
		return insight.NoCandidate(around)
	}
	var names []string
	for _, c := range candidates[:min(len(candidates), 3)] {
		if c.Weak {
			c.Reason = "perhaps: " + c.Reason
		}
		names = append(names, fmt.Sprintf("%s (%s)", election.ShortLeader(c.Name), c.Reason))
	}
	text := "likely: " + strings.Join(names, ", ")
	if more := len(candidates) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
