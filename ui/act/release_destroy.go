// Package act contains the dialogs that act on elections and sessions, and the results of these actions.
package act

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	engine "electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// confirm is the dialog about a release or a destroy. It acts only on the holds with which it was opened and skips
// those that have changed since.
type confirm struct {
	scene.Overlay
	*Log
	scene.Ask
	s       *scene.Scene // of the targets' datacenter
	targets []*target
	// others are the effects of a destroy on elections that are not targets.
	others []engine.NamedEffect
	// full shows all details, keys and names. printed is set for the command line, which has no keys and limits lists.
	full, printed bool
	found
}

// target is an election or session of the dialog and its current state.
type target struct {
	scene.Target
	// skip is the reason why the dialog does not act on the target. It is empty if it does.
	skip   string
	effect insight.Effect
}

// found is what a dialog reads before the user can confirm.
type found struct {
	around map[string]scene.Assessment // by key; empty until it is read
	held   []election.Pair             // the keys of the sessions to destroy
	// complete is set if no key is missing in held. err is the error of the search.
	complete bool
	err      error
}

// Confirm returns the dialog for the chosen targets, which are in one datacenter.
func (l *Log) Confirm(ask scene.Ask) *scene.Overlay {
	d := &confirm{Log: l, Ask: ask}
	d.Sheet = kit.Sheet{Width: 84, Write: d.write}
	if d.destroys() {
		d.Edge = kit.Vacant
	}
	for _, t := range ask.Targets {
		d.targets = append(d.targets, &target{Target: t})
	}
	d.Overlay.Targets = ask.Targets
	return &d.Overlay
}

const (
	// surveyTime is the timeout of a survey. The user waits during a survey.
	surveyTime = 10 * time.Second
	// The maximum lengths of a list of keys, of a list of hidden or leaderless rows, and of the names before a sentence.
	shownKeys, shownHidden, shownNames = 10, 12, 3
)

func (d *confirm) destroys() bool { return d.Kind == election.ActionDestroy }

func (d *confirm) offline() bool { return d.s.Live.Connection.State != election.Live }

// update compares the targets with the newest snapshot, and reads again if the latest read did not cover all keys.
func (d *confirm) update() {
	d.s, d.others = d.S.In(d.targets[0].Datacenter), nil
	for _, t := range d.targets {
		t.effect, t.skip = insight.Effect{}, d.changeOf(t)
		if rule := d.s.Missing(d.Kind, t.Target.Target); t.skip == "" && rule != "" {
			t.skip = "token lacks " + rule
		}
	}
	wanted := d.keysToRead()
	unread := func(key string) bool {
		_, read := d.around[key]
		return !read
	}
	switch {
	case d.offline(): // a read without a connection is useless; a new one starts after the reconnect
		d.Task.Cancel()
		d.around = nil
	case d.Survey != nil && d.acts() && (d.around == nil || slices.ContainsFunc(wanted, unread)):
		d.read(wanted)
	case !d.Task.Running():
		d.assess()
	}
}

// changeOf describes how a target has changed since the user selected it. It returns "" if the target is unchanged.
func (d *confirm) changeOf(t *target) string {
	if t.SessionOnly != nil {
		list := d.s.Live.SessionList
		if list == nil || list.Err != "" || !list.FirstSeen[t.Session].At.IsZero() {
			return ""
		}
		return "the session ended, or the token can no longer read it"
	}
	switch e := d.s.Live.Find(t.ID()); {
	case e == nil || !e.Exists:
		return "the key was deleted"
	case e.Unreadable:
		return "the token can no longer read the key"
	case !e.Pair.Held():
		return "the election no longer has a leader"
	case e.Pair.Session != t.Session:
		return scene.Short(e.Leader) + " leads now, " + scene.TermText(e.Term, e.Pair.CreateIndex, e.Pair.Session)
	case !t.SameHold(e.Pair):
		return "the same session leads in a new term"
	case e.Overwritten() && e.Pair.ModifyIndex != t.ModifyIndex:
		return "the key was written without the lock"
	}
	return ""
}

// lostKey is a known key of a session to destroy.
type lostKey struct {
	election.Pair
	by  *target            // whose session holds the key
	of  *election.Election // nil if the key is not watched
	own bool               // set if the key is that of a target
	// waits is set if the session is a candidate of the election with this key.
	waits bool
}

// lost lists the known keys of the sessions to destroy. The keys of the targets are first, and unwatched keys are last.
func (d *confirm) lost() (all []lostKey) {
	if !d.destroys() {
		return nil
	}
	targets, own := map[string]*target{}, map[string]bool{}
	for _, t := range d.actionable() {
		targets[strings.ToLower(t.Session)], own[t.Key] = t, true
	}
	var others []lostKey
	for _, e := range d.s.Live.Elections {
		switch by := targets[strings.ToLower(e.Pair.Session)]; {
		case !e.Exists || by == nil:
		case own[e.Key()]:
			all = append(all, lostKey{Pair: e.Pair, by: by, of: e, own: true})
		default:
			others = append(others, lostKey{Pair: e.Pair, by: by, of: e})
		}
	}
	all = append(all, others...)
	for _, p := range d.held {
		e := d.s.Live.FindKey(p.Key)
		waits := e != nil && slices.ContainsFunc(e.Pair.Queue, func(w election.Waiter) bool { return w.Session == p.Session })
		if by := targets[strings.ToLower(p.Session)]; by != nil && (e == nil || waits) {
			all = append(all, lostKey{Pair: p, by: by, waits: waits})
		}
	}
	return all
}

// keysToRead lists the keys of the elections whose terms the action ends, sorted.
func (d *confirm) keysToRead() []string {
	all := []string{}
	for _, t := range d.actionable() {
		if t.Key != "" {
			all = append(all, t.Key)
		}
	}
	for _, l := range d.lost() {
		if l.of != nil {
			all = append(all, l.Key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// read reads the surroundings of elections and, for a destroy, the keys of the sessions.
func (d *confirm) read(wanted []string) {
	var sessions []string
	for _, t := range d.targets { // a skipped target may become actionable
		if d.destroys() {
			sessions = append(sessions, t.Session)
		}
	}
	slices.Sort(sessions)
	sessions = slices.Compact(sessions)
	d.Task.Cancel()
	d.found = found{around: map[string]scene.Assessment{}}
	for _, key := range wanted {
		d.around[key] = scene.Assessment{}
	}
	datacenter := d.targets[0].Datacenter
	var task *kit.Task // a later read replaces d.Task
	task = kit.Read(d.Ctx, destroyTime, func(ctx context.Context) kit.Apply {
		survey, cancel := context.WithTimeout(ctx, surveyTime)
		defer cancel()
		around, f := d.Survey(survey, datacenter, wanted), found{}
		if len(sessions) > 0 {
			f.held, f.complete, f.err = d.Holdings(ctx, datacenter, sessions, task.Progress)
		}
		return func() tea.Cmd {
			f.around = d.around
			d.found = f
			d.infer(around)
			return nil
		}
	})
	d.Task = task
}

// infer infers the candidates. The surroundings of all keys contain the same session list.
func (d *confirm) infer(all []election.Surroundings) {
	if len(all) == 0 {
		return
	}
	board := insight.NewBoard(d.s.Live.Elections, all[0].Sessions)
	for i := range all {
		if e := d.s.Live.FindKey(all[i].Key); e != nil {
			d.around[e.Key()] = scene.Assessment{Election: e, Around: &all[i], Candidates: board.Candidates(e, &all[i])}
		}
	}
}

func (d *confirm) effectOn(e *election.Election) insight.Effect {
	in := d.around[e.Key()]
	f := insight.EffectOf(d.Kind, e, in.Around, in.Likely())
	if unread := in.Around.Unread(); len(unread) > 0 && f.Refusal == "" {
		f.Warnings = append(f.Warnings, "Some data could not be read ("+strings.Join(unread, "; ")+
			"): electop may not recognise candidates or the holder's software.")
	}
	return f
}

// assess computes the effects of the action.
func (d *confirm) assess() {
	held := map[*target][]election.Pair{}
	for _, l := range d.lost() {
		held[l.by] = append(held[l.by], l.Pair)
	}
	for _, t := range d.targets {
		if t.skip != "" {
			continue
		}
		if t.SessionOnly != nil {
			t.effect = insight.EffectOfSession(t.SessionOnly, held[t], d.complete)
			t.skip = t.effect.Refusal
			continue
		}
		if t.effect = d.effectOn(d.s.Live.Find(t.ID())); d.destroys() && !d.complete {
			t.effect.Warnings = append(t.effect.Warnings, insight.MayHoldMore)
		}
		if t.skip = t.effect.Refusal; t.skip == "" {
			if _, stale := d.s.Live.StaleSince(t.Key); stale {
				t.skip = "This data is stale: the query for this key fails."
			}
		}
	}
	for _, l := range d.lost() {
		if l.of == nil || l.own {
			continue
		}
		f := d.effectOn(l.of)
		if l.by.SessionOnly != nil && f.Kind == insight.HolderPatroni {
			l.by.effect.Holder = f.Holder
		}
		d.others = append(d.others, engine.NamedEffect{Name: scene.Short(l.of.Name), Effect: f})
	}
}

// actionable returns the targets on which the dialog acts: unchanged, permitted and not refused by electop.
func (d *confirm) actionable() []*target {
	return election.Without(d.targets, func(t *target) bool { return t.skip != "" })
}

// acts reports whether the dialog can act on any target.
func (d *confirm) acts() bool { return !d.offline() && len(d.actionable()) > 0 }

// buttons returns the keys that work in the current state.
func (d *confirm) buttons() []kit.Button {
	if !d.acts() {
		return []kit.Button{{Key: "r", Hint: "refresh", Do: d.refresh}}
	}
	return []kit.Button{
		cancel(), {Key: "y", Label: kit.Capital(string(d.Kind)), Hint: string(d.Kind), Acts: true, Count: len(d.actionable()), Word: d.word(), Off: d.Task.Running(), Do: d.confirm},
		details(&d.full), {Key: "c", Hint: "copy the command", Do: d.copyCommand},
	}
}

// word returns the names that the user must type; see [insight.Effect].
func (d *confirm) word() string {
	var names []string
	for _, t := range d.actionable() {
		if t.effect.Typed {
			names = append(names, cmp.Or(t.Election, t.Session))
		}
	}
	return sanitize.Text(strings.Join(names, " "))
}

// cancel returns the button that closes a dialog without an action.
func cancel() kit.Button {
	return kit.Button{Key: "esc", Label: "Cancel", Do: func() any { return scene.Close{Text: "Cancelled: nothing was changed."} }}
}

// details returns the button that shows all details or fewer.
func details(full *bool) kit.Button {
	return kit.Button{Key: "a", Hint: "details", Do: func() any { *full = !*full; return nil }}
}

// refresh opens the dialog again for the current holds of the same keys.
func (d *confirm) refresh() any {
	ask := d.Ask
	ask.Targets = slices.Clone(ask.Targets)
	for i, t := range ask.Targets {
		if e := d.s.Live.Find(t.ID()); e != nil && d.s.StateOf(e) == scene.StateLed {
			ask.Targets[i] = d.s.Bind(e)
		}
	}
	return scene.All{scene.Refresh{Targets: d.Overlay.Targets}, ask}
}

// copyCommand copies the command that performs the same action as the dialog.
func (d *confirm) copyCommand() any {
	cluster := d.Cluster(d.targets[0].Datacenter)
	var keys, commands []string
	for _, t := range d.actionable() {
		if t.SessionOnly == nil {
			keys = append(keys, t.Key)
		} else {
			commands = append(commands, cluster.Electop([]string{"electop", "destroy", "--session", t.Session}))
		}
	}
	if keys != nil {
		commands = append(commands, cluster.Electop([]string{"electop", string(d.Kind)}, keys...))
	}
	return scene.Copy{What: "command", Text: strings.Join(commands, " && ")}
}

func (d *confirm) confirm() any {
	switch refusal := d.S.AskRefusal(d.Ask); { // a typed number may take long
	case refusal != "":
		return scene.Refuse(refusal)
	case d.Task.Running():
		return scene.Refuse("Nothing was done: electop is still reading sibling keys and sessions.")
	}
	c := scene.Confirm{Kind: d.Kind, Shown: map[string]election.Destroy{}}
	keys := map[string][]string{}
	for _, l := range d.lost() {
		id := strings.ToLower(l.Session)
		keys[id] = append(keys[id], l.Key)
	}
	for _, t := range d.actionable() {
		t.Next = d.around[t.Key].Candidates
		c.Targets = append(c.Targets, t.Target)
		if _, shown := c.Shown[t.Session]; shown || !d.destroys() {
			continue
		}
		shown := election.Destroy{Shown: d.s.Now, Incomplete: !d.complete, Keys: keys[strings.ToLower(t.Session)]}
		slices.Sort(shown.Keys)
		c.Shown[t.Session] = shown
	}
	return c
}

// write writes the targets, what loses its lock, who is next, and the warnings. A long list of targets comes last, so that
// the user sees the effects first.
func (d *confirm) write(page *kit.Page) {
	d.update()
	shown := d.Ask.Targets
	if d.acts() {
		shown = election.Map(d.actionable(), func(t *target) scene.Target { return t.Target })
	}
	d.Title, d.Buttons = titleOf(d.Kind, shown), d.buttons()
	many := len(d.targets) > d.Height/3 // some need two lines
	switch {
	case len(d.targets) == 1:
		d.writeOne(page, d.targets[0])
	case many:
		text := kit.Plural(len(d.actionable()), "target")
		if skipped := len(d.targets) - len(d.actionable()); skipped > 0 {
			text += ", " + strconv.Itoa(skipped) + " skipped"
		}
		page.Para(kit.Strong, text+". The list is below.")
	default:
		d.writeMany(page)
	}
	leave := func(text string, names []string) {
		if len(names) > 0 {
			page.Para(kit.Delay, text+election.NameList(names, d.limit(shownHidden))+".")
		}
	}
	leave("Marked, but without a leader: ", d.Leaderless)
	leave("Marked, but hidden by the filter and not included: ", d.Hidden)
	page.Blank()
	switch {
	case d.offline():
		page.Para(kit.Bad, d.s.StaleText())
	case !d.acts():
		why, first := "all targets are skipped", d.targets[0]
		if len(d.targets) == 1 {
			why = strings.TrimSuffix(first.skip, ".")
		}
		if rule := d.s.Missing(d.Kind, first.Target.Target); rule != "" {
			page.Para(kit.Bad, "Missing ACL rule:")
			for _, part := range kit.HardWrap(rule, page.Width) {
				page.Add(kit.Strong.Span(part))
			}
			break
		}
		page.Para(kit.Bad, "Nothing will be changed: "+why+".")
		d.writeWarnings(page)
	case d.Task.Running():
		page.Para(kit.Accent, "Reading all sessions and the sibling keys of "+kit.Plural(len(d.around), "election")+".")
		if d.destroys() {
			page.Para(kit.Accent, "Searching the store for keys of the sessions: "+d.Task.Far()+".")
		}
		page.Para(kit.Text, kit.Capital(string(d.Kind))+" is disabled until they are read.")
	default:
		d.writeEffect(page, d.lost())
	}
	if many {
		page.Blank()
		d.writeMany(page)
	}
}

// WriteAction writes what an action does to the items, as the command line prints it. A destroy loses the keys that the
// items hold.
func WriteAction(page *kit.Page, kind election.ActionKind, s *election.Snapshot, items []*engine.Item) {
	d := &confirm{full: true, printed: true, Ask: scene.Ask{Kind: kind}, found: found{complete: true, around: map[string]scene.Assessment{}}}
	var lost, others []lostKey // unwatched keys are last
	for _, i := range items {
		t := &target{Target: scene.Target{Target: i.Target}, effect: i.Effect}
		if i.Election == nil {
			t.SessionOnly = cmp.Or(i.Session, &election.Session{ID: i.Target.Session})
		}
		d.targets, d.Ask.Targets = append(d.targets, t), append(d.Ask.Targets, t.Target)
		d.complete = d.complete && !i.Destroy.Incomplete
		d.around[i.Target.Key] = scene.Assessment{Election: i.Election, Around: i.Around, Candidates: i.Next}
		for _, p := range i.Held {
			if e := s.FindKey(p.Key); e != nil {
				lost = append(lost, lostKey{Pair: p, by: t, of: e})
			} else {
				others = append(others, lostKey{Pair: p, by: t})
			}
		}
	}
	page.Para(kit.Strong, titleOf(kind, d.Ask.Targets)+".")
	if len(items) == 1 {
		d.writeOne(page, d.targets[0])
	} else {
		d.writeMany(page)
	}
	d.writeEffect(page, append(lost, others...))
}

// titleOf names an action and its targets: "Destroy the session of web".
func titleOf(kind election.ActionKind, targets []scene.Target) string {
	first, n, what := &targets[0], len(targets), kit.Plural(len(targets), "election")
	if n == 1 {
		what = scene.Short(first.Election)
	}
	switch {
	case first.SessionOnly != nil && n == 1:
		what = first.Label()
	case first.SessionOnly != nil:
		what = kit.Plural(n, "session")
	case kind == election.ActionDestroy && n > 1:
		what = "the sessions of " + what
	case kind == election.ActionDestroy:
		what = "the session of " + what
	}
	return kit.Capital(string(kind)) + " " + what + first.Where
}

// on names the leader or session of a target and its node.
func on(t election.Target) string {
	text := election.Holder{Leader: t.Leader, Node: t.Node}.Text()
	if t.Node == "" && !t.Store.Leases {
		text += ", node unknown"
	}
	return text
}

func (d *confirm) writeOne(page *kit.Page, t *target) {
	session := kit.Text.Span(scene.Clean(t.Session))
	if t.SessionOnly != nil {
		page.Field("Session", session, kit.Text.Span(on(t.Target.Target)))
	} else {
		page.Field("Key", kit.Strong.Span(sanitize.Text(t.Key)))
		page.Field("Leader", kit.Strong.Span(on(t.Target.Target)), kit.Quiet.Span("  "+strings.TrimSuffix(scene.TermText(t.Term, t.CreateIndex, t.Session)+", for "+t.HeldFor, ", for ")))
		if d.full {
			page.Field("Session", session)
		}
	}
	for _, in := range d.around {
		if t.skip == "" && len(d.around) == 1 && in.Around != nil && (len(in.Candidates) > 0 || len(in.Around.Unread()) == 0) {
			page.Field(in.NextLabel(), (&scene.Scene{}).NextSpans(&in)...)
		}
	}
}

// writeMany lists every target by name.
func (d *confirm) writeMany(page *kit.Page) {
	column, names := 0, make([]string, len(d.targets))
	for i, t := range d.targets {
		name := t.Election
		if t.SessionOnly != nil {
			name = t.SessionOnly.Name
		}
		names[i] = cmp.Or(sanitize.Line(name, 24), "no name") + "  "
		column = max(column, kit.Width(names[i]))
	}
	column = min(column, page.Width/2)
	for i, t := range d.targets {
		who, more := on(t.Target.Target), ""
		if t.SessionOnly != nil {
			who, more = "on "+sanitize.Line(t.Node, 28), "  "+election.ShortID(t.Session)
		} else if d.full {
			more = "  " + scene.TermText(t.Term, t.CreateIndex, t.Session) + ", " + election.ShortID(t.Session)
		}
		if in := d.around[t.Key]; len(in.Candidates) > 0 {
			more += "; next: " + insight.Names(in.Candidates, 2, on(t.Target.Target))
		}
		line := []kit.Span{{kit.Text, who}, {kit.Quiet, more}}
		if t.skip != "" {
			line = kit.Bad.Spans("skipped: " + t.skip)
		}
		page.Beside(kit.Strong.Spans(page.Cell(names[i], column)), column, line...)
	}
}

// writeEffect writes the keys that lose their locks, the first sentence of what the holder does or, in full, each
// sentence of [insight.EffectOf], and the warnings.
func (d *confirm) writeEffect(page *kit.Page, lost []lostKey) {
	if d.destroys() {
		d.writeLost(page, lost)
	}
	labels := []string{"delay", "brief"}
	switch {
	case d.full:
		labels = facts()
	case d.destroys() && len(lost) == 0:
		labels = []string{"key", "delay", "brief"}
	}
	writeSentences(page, page.Sym.Dot, kit.Text, d.effects(), d.limit(shownNames), labels...)
	d.writeWarnings(page)
}

// effects returns the effects on the targets that are not skipped, or on the only target.
func (d *confirm) effects() (all []engine.NamedEffect) {
	for _, t := range d.targets {
		if t.skip == "" || len(d.targets) == 1 {
			all = append(all, engine.NamedEffect{Name: t.Label(), Effect: t.effect})
		}
	}
	return all
}

// writeWarnings writes the warnings, and the step-down commands of the holders' software, each once.
func (d *confirm) writeWarnings(page *kit.Page) {
	effects := append(d.effects(), d.others...)
	writeWarnings(page, effects, d.limit(shownNames))
	writeBetter(page, effects)
}

// writeBetter writes the step-down commands of the holders' software, each once.
func writeBetter(page *kit.Page, effects []engine.NamedEffect) {
	for _, text := range engine.Sentences(effects, shownNames, "better") {
		page.Field("Better", kit.Accent.Span(scene.Clean(text)))
	}
}

// limit returns the maximum number of listed names. There is no limit in full.
func (d *confirm) limit(names int) int {
	if d.full && !d.printed {
		return math.MaxInt
	}
	return names
}

// writeLost lists the keys that lose their locks, and says whether the store was searched.
func (d *confirm) writeLost(page *kit.Page, lost []lostKey) {
	for i, p := range lost {
		if i == d.limit(shownKeys) {
			more := []kit.Span{{kit.Strong, "  and " + kit.Plural(len(lost)-i, "more key")}, {kit.Key, "  a"}, {kit.Quiet, " shows all"}}
			if d.printed {
				more = more[:1]
			}
			page.Add(more...)
			break
		}
		effect, r := "is released or deleted (its session was not read)", kit.Text
		switch p.by.Behavior {
		case election.BehaviorDelete:
			effect, r = "is deleted with its value", kit.Vacant
		case election.BehaviorRelease:
			effect = "is released"
		}
		if p.Flags == election.SemaphoreFlag {
			effect += " (semaphore)"
		}
		spans := []kit.Span{{kit.Strong, sanitize.Text(p.Key)}, {r, " " + effect}}
		switch {
		case p.waits:
			spans = append(spans, kit.Quiet.Span(", a candidate's key"))
		case p.of == nil:
			spans = append(spans, kit.Quiet.Span(", not watched"))
		}
		page.Beside(nil, 2, spans...)
	}
	count := kit.Plural(len(lost), "key") + " in all. "
	switch {
	case d.err != nil:
		page.Beside(nil, 2, kit.Bad.Span(count+"The search of the store failed: "+scene.Clean(d.err.Error())))
	case d.complete && d.targets[0].Store.Leases:
		page.Beside(nil, 2, kit.Quiet.Span(count))
	case d.complete:
		page.Beside(nil, 2, kit.Quiet.Span(count+"The whole store was searched."))
	default:
		page.Beside(nil, 2, kit.Delay.Span(count+"This token cannot read all keys: there may be more."))
	}
}
