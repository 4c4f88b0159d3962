// Package act contains the dialogs that act on elections and sessions, and the results of these actions.
package act

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	engine "electop/internal/act"
	"electop/ui/keys"
	"electop/ui/kit"
	"electop/ui/scene"
	"electop/ui/shell"
)

// Tools are the dependencies of a dialog about a release or a destroy in one datacenter.
type Tools struct {
	Ctx  context.Context //nolint:containedctx // ends the reads with the program
	Keys keys.Map
	// Search searches the store for keys of sessions.
	Search scene.Searcher
	// Survey reads the surroundings of elections. It is nil if they cannot be read.
	Survey func(ctx context.Context, keys []string) []election.Surroundings
	// Cluster holds the connection settings for the commands that the user copies.
	Cluster shell.Cluster
}

// confirm is the dialog about a release or a destroy. It acts only on the holds with which it was opened and skips
// those that have changed since.
type confirm struct {
	scene.Overlay
	Tools
	s      *scene.Scene // of the targets' datacenter
	kind   election.ActionKind
	chosen scene.Chosen
	// targets are the visible targets, and the hidden ones if hidden is set.
	targets []target
	hidden  bool
	// full shows all details, keys and names.
	full bool
	// rebind requests the current holds of the same keys.
	rebind bool
	// checked is the snapshot with which the targets were compared. It is nil if they must be compared again.
	checked *election.Snapshot

	// affected contains the known keys of the sessions that a destroy ends. wanted contains the keys to survey.
	affected []affectedKey
	wanted   []string
	// asked contains the keys of the latest survey. around is its result, or nil until it is over.
	asked  []string
	around map[string]*scene.Assessment
	// search is the latest search of the store. It is nil if there is none.
	search *scene.Search
	// scanned and siblings contain the unwatched keys that the search and the survey found.
	scanned, siblings []election.Pair
}

// target is an election or session of the dialog and its current state.
type target struct {
	scene.Target
	// changed describes how the hold changed. denied is the ACL rule that the token lacks. Both are empty otherwise.
	changed, denied string
	// effect is empty if changed or denied is set, and until the survey is complete.
	effect insight.Effect
}

// affectedKey is a key that loses its lock, or a semaphore that loses a holder.
type affectedKey struct {
	key, session string
	// slot is set for a semaphore, unwatched for a key outside the patterns.
	slot, unwatched bool
}

// Confirm returns the dialog for the chosen targets, which are in one datacenter. s is the scene of this datacenter.
func Confirm(ask scene.Ask, tools Tools, s *scene.Scene) *scene.Overlay {
	d := &confirm{Tools: tools, s: s, kind: ask.Kind, chosen: ask.Chosen}
	d.Sheet = kit.Sheet{Keys: tools.Keys, Width: 84, Write: d.write, Closed: d.stop}
	if d.kind == election.ActionDestroy {
		d.Edge = kit.Vacant
	}
	d.Update = d.update
	d.choose()
	d.Targets = func() []election.Target {
		var all []election.Target
		for i := range d.targets {
			all = append(all, d.targets[i].Target.Target)
		}
		return all
	}
	return &d.Overlay
}

const (
	// surveyTime is the timeout of a survey. The user waits during a survey.
	surveyTime = 10 * time.Second
	// The maximum lengths of a list of keys, of a list of hidden or leaderless rows, and of the names before a sentence.
	shownKeys, shownHidden, shownNames = 10, 12, 3
)

// update compares the targets with the newest snapshot, and starts a survey of keys that the latest one did not cover.
func (d *confirm) update(s *scene.Scene) scene.Action {
	d.s = s.In(d.datacenter())
	if d.rebind {
		d.rebind = false
		if !d.chosen.SessionOnly { // a session cannot have a newer hold
			d.chosen.Visible, d.chosen.Hidden = d.bind(d.chosen.Visible), d.bind(d.chosen.Hidden)
		}
		d.choose()
	}
	d.check()
	if d.Survey == nil || !d.acts() || d.covered() {
		return nil
	}
	d.Task.Cancel()
	var cmd tea.Cmd
	d.asked, d.around = slices.Clone(d.wanted), nil
	d.Task, cmd = kit.Read(d.Ctx, surveyTime, func(ctx context.Context, _ func(int, int)) ([]election.Surroundings, error) {
		return d.Survey(ctx, d.asked), nil
	}, func(found []election.Surroundings, _ error) tea.Cmd {
		d.surveyed(found)
		return nil
	})
	return scene.Run{Cmd: cmd}
}

// surveyed infers the candidates. The surroundings of all keys contain the same session list.
func (d *confirm) surveyed(found []election.Surroundings) {
	d.around, d.checked = map[string]*scene.Assessment{}, nil
	if len(found) == 0 {
		return
	}
	board := insight.NewBoard(d.s.Live.Elections, found[0].Sessions)
	for i := range found {
		if e := d.s.Live.Find(election.KeyID(found[i].Key)); e != nil {
			d.around[e.Key()] = &scene.Assessment{Around: &found[i], Candidates: board.Candidates(e, &found[i])}
		}
	}
}

// datacenter returns the datacenter of the targets.
func (d *confirm) datacenter() string {
	for _, t := range slices.Concat(d.chosen.Visible, d.chosen.Hidden) {
		return t.Datacenter
	}
	return ""
}

// bind returns targets for the current holds of the same keys.
func (d *confirm) bind(old []scene.Target) []scene.Target {
	bound := slices.Clone(old)
	for i, t := range bound {
		if e := d.s.Live.Find(t.ID()); e != nil && scene.DisplayStateOf(e, d.s.AsOf) == scene.StateLed {
			bound[i] = d.s.Bind(e, t.Hidden)
		}
	}
	return bound
}

// choose collects the visible targets and, if the user included them, the hidden ones.
func (d *confirm) choose() {
	d.stop()
	d.targets, d.search, d.checked = nil, nil, nil
	all := d.chosen.Visible
	if d.hidden {
		all = slices.Concat(all, d.chosen.Hidden)
	}
	for _, t := range all {
		d.targets = append(d.targets, target{Target: t})
	}
	if d.kind == election.ActionDestroy {
		d.search = d.s.Earlier(d.sessions())
	}
}

// stop ends the search.
func (d *confirm) stop() {
	if d.search.Running() {
		d.search.Cancel()
	}
}

// check compares the targets with the newest snapshot and computes the effects once the survey is complete.
func (d *confirm) check() {
	live := d.s.Live
	same := func(t target) bool { return t.denied == d.s.Missing(d.kind, t.Target.Target) }
	if live == d.checked && !slices.ContainsFunc(d.targets, func(t target) bool { return !same(t) }) {
		return
	}
	d.checked = live
	if d.offline() {
		d.Task.Cancel() // a survey without a connection is useless; a new one starts after the reconnect
		d.asked, d.around = nil, nil
	}
	for i := range d.targets {
		t := &d.targets[i]
		t.changed, t.denied, t.effect = d.changeOf(t.Target.Target), d.s.Missing(d.kind, t.Target.Target), insight.Effect{}
	}
	d.affected, d.scanned, d.siblings = nil, nil, nil
	destroys := d.kind == election.ActionDestroy
	if destroys {
		if d.search != nil && d.search.Over {
			d.scanned = slices.DeleteFunc(slices.Clone(d.search.Found), func(p election.Pair) bool { return live.Find(election.KeyID(p.Key)) != nil })
		}
		d.siblings = d.unwatchedSiblings()
		d.affected = d.affectedKeys()
	}
	d.wanted = d.keysToSurvey()
	if d.reading() {
		return
	}
	d.computeEffects()
	if destroys {
		d.affected = d.affectedKeys() // without the targets that electop refuses
	}
}

func (d *confirm) offline() bool { return d.s.Live.Connection.State != election.Live }

// changeOf describes how a target has changed since the user selected it. It returns "" if the target is unchanged.
func (d *confirm) changeOf(t election.Target) string {
	if d.chosen.SessionOnly {
		list := d.s.Live.SessionList
		switch {
		case list == nil || list.Err != "" || slices.ContainsFunc(list.Sessions, func(s *election.Session) bool { return s.ID == t.Session }):
			return ""
		case list.Partial:
			return "the session ended, or the token can no longer read it"
		}
		return "the session no longer exists"
	}
	switch e := d.s.Live.Find(t.ID()); {
	case e == nil || !e.Exists:
		return "the key was deleted"
	case e.Unreadable:
		return "the token can no longer read the key"
	case !e.Pair.Held():
		return "the election no longer has a leader"
	case e.Pair.Session != t.Session:
		return scene.OneLine(e.Leader, 60) + " leads now, term " + scene.Number(e.Term)
	case !t.SameHold(e.Pair):
		return "the same session leads in a new term"
	case e.Overwritten() && e.Pair.ModifyIndex != t.ModifyIndex:
		return "the key was written without the lock"
	}
	return ""
}

// unwatchedSiblings lists the unwatched sibling keys that the sessions hold.
func (d *confirm) unwatchedSiblings() []election.Pair {
	wanted, known := d.sessionSet(d.targets), map[string]bool{}
	var unwatched []election.Pair
	for _, key := range d.asked {
		in := d.around[key]
		if in == nil {
			continue
		}
		for _, p := range in.Around.Siblings {
			if p.Held() && wanted[p.Session] && !known[p.Key] && d.s.Live.Find(election.KeyID(p.Key)) == nil {
				known[p.Key] = true
				unwatched = append(unwatched, p)
			}
		}
	}
	return unwatched
}

// affectedKeys lists the known keys of the sessions to destroy. The keys of the targets are first, and unwatched keys
// are last.
func (d *confirm) affectedKeys() []affectedKey {
	targets := d.actionable()
	sessions, first := d.sessionSet(targets), map[string]bool{}
	for _, t := range targets {
		first[t.Key] = true
	}
	var affected, others []affectedKey
	for _, e := range d.s.Live.Elections {
		if e.IsSemaphore() {
			for sem := election.ReadSemaphore(e, nil); sem != nil && len(sem.Holders) > 0; sem.Holders = sem.Holders[1:] {
				if id := sem.Holders[0].Session; sessions[id] {
					others = append(others, affectedKey{key: e.Key(), session: id, slot: true})
				}
			}
		}
		switch f := (affectedKey{key: e.Key(), session: e.Pair.Session}); {
		case !e.Exists || !e.Pair.Held() || !sessions[f.session]:
		case first[f.key]:
			affected = append(affected, f)
		default:
			others = append(others, f)
		}
	}
	affected = append(affected, others...)
	for _, p := range d.siblings {
		if sessions[p.Session] {
			affected = append(affected, affectedKey{key: p.Key, session: p.Session, unwatched: true})
		}
	}
	return affected
}

// keysToSurvey lists the keys of the elections whose terms the action ends, sorted.
func (d *confirm) keysToSurvey() []string {
	var all []string
	if d.kind == election.ActionRelease {
		for _, t := range d.actionable() {
			all = append(all, t.Key)
		}
	}
	for _, f := range d.affected {
		if !f.slot && !f.unwatched {
			all = append(all, f.key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// covered reports whether the latest survey is about all keys to survey.
func (d *confirm) covered() bool {
	return !slices.ContainsFunc(d.wanted, func(key string) bool {
		_, asked := slices.BinarySearch(d.asked, key)
		return !asked
	})
}

// reading reports whether the dialog waits for a survey.
func (d *confirm) reading() bool {
	return d.Survey != nil && len(d.wanted) > 0 && (!d.covered() || d.around == nil)
}

func (d *confirm) assessment(key string) *scene.Assessment {
	if in := d.around[key]; in != nil {
		return in
	}
	return &scene.Assessment{}
}

func (d *confirm) effectOn(e *election.Election) insight.Effect {
	in := d.assessment(e.Key())
	f := insight.EffectOf(d.kind, e, in.Around, in.Likely())
	if unread := in.Around.Unread(); len(unread) > 0 && f.Refusal == "" {
		f.Warnings = append(f.Warnings, "Some data could not be read ("+strings.Join(unread, "; ")+
			"): electop may not recognise candidates or the holder's software.")
	}
	return f
}

func (d *confirm) computeEffects() {
	held := d.heldBy()
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed != "" || t.denied != "" {
			continue
		}
		if d.chosen.SessionOnly {
			t.effect = insight.EffectOfSession(t.SessionOnly, held[t.Session], d.searchedAll())
			continue
		}
		t.effect = d.effectOn(d.s.Live.Find(t.ID()))
		if _, stale := d.s.Live.StaleSince(t.Key); stale && !d.offline() { // when offline, one message covers all targets
			t.effect = insight.Effect{Refusal: "This data is stale: the query for this key fails."}
		}
	}
	if d.kind == election.ActionDestroy {
		d.addEffectsOnSessions()
	}
}

// heldBy lists the known keys of each session to destroy. For a slot, it lists the key of the semaphore.
func (d *confirm) heldBy() map[string][]election.Pair {
	held, known := map[string][]election.Pair{}, map[[2]string]bool{}
	add := func(p election.Pair) {
		if id := [2]string{p.Session, p.Key}; !known[id] {
			known[id] = true
			held[p.Session] = append(held[p.Session], p)
		}
	}
	for _, f := range d.affected {
		if e := d.s.Live.Find(election.KeyID(f.key)); e != nil {
			p := e.Pair
			p.Session = f.session
			add(p)
		}
	}
	for _, p := range slices.Concat(d.siblings, d.scanned) {
		add(p)
	}
	return held
}

// addEffectsOnSessions adds the effects of a destroy on the other elections that the sessions lead. These include
// skipped targets, because the dialog shows no effects next to a skipped target.
func (d *confirm) addEffectsOnSessions() {
	held, own := scene.Led(d.s.Live.Elections), map[string]bool{}
	for _, t := range d.actionable() {
		own[t.Key] = true
	}
	for i := range d.targets {
		t := &d.targets[i]
		if t.skipped() != "" {
			continue
		}
		d.addOthers(&t.effect, slices.DeleteFunc(slices.Clone(held[t.Session]), func(e *election.Election) bool { return own[e.Key()] }))
		if !d.chosen.SessionOnly && !d.searchedAll() {
			t.effect.Warnings = append(t.effect.Warnings, insight.MayHoldMore)
		}
	}
}

// addOthers adds the effects of a destroy on the other elections of the session. If one of the keys is a Patroni
// leader key, the holder is Patroni.
func (d *confirm) addOthers(f *insight.Effect, others []*election.Election) {
	var warnings []string
	about := map[string][]string{}
	for _, e := range others {
		other := d.effectOn(e)
		if d.chosen.SessionOnly && other.Kind == insight.HolderPatroni {
			f.Kind, f.Software, f.Holder = other.Kind, other.Software, other.Holder
		}
		f.Better = cmp.Or(f.Better, other.Better)
		for _, w := range other.Warnings {
			if d.chosen.SessionOnly && slices.Contains(f.Warnings, w) {
				continue
			}
			if about[w] == nil {
				warnings = append(warnings, w)
			}
			about[w] = append(about[w], scene.OneLine(e.Name, 60))
		}
	}
	for _, w := range warnings {
		f.Warnings = append(f.Warnings, d.names(about[w], shownNames)+": "+w)
	}
}

// searchedAll reports whether a search of the whole store has completed since the dialog was opened. An earlier
// search may have missed keys that were acquired later.
func (d *confirm) searchedAll() bool {
	s := d.search
	return s != nil && s.Over && s.Err == nil && !s.Incomplete && s.Task != nil
}

// skipped returns the reason to skip the target. It is empty if the action applies to the target.
func (t *target) skipped() string {
	switch {
	case t.changed != "":
		return t.changed
	case t.denied != "":
		return "token lacks " + t.denied
	}
	return t.effect.Refusal
}

// actionable returns the targets on which the dialog acts: unchanged, permitted and not refused by electop.
func (d *confirm) actionable() []target {
	return slices.DeleteFunc(slices.Clone(d.targets), func(t target) bool { return t.skipped() != "" })
}

// acts reports whether the dialog can act on any target.
func (d *confirm) acts() bool {
	return !d.offline() && slices.ContainsFunc(d.targets, func(t target) bool { return t.skipped() == "" })
}

func (d *confirm) sessionSet(targets []target) map[string]bool {
	set := make(map[string]bool, len(targets))
	for i := range targets {
		set[targets[i].Session] = true
	}
	return set
}

// sessions lists the sessions of all targets, sorted.
func (d *confirm) sessions() []string { return slices.Sorted(maps.Keys(d.sessionSet(d.targets))) }

// buttons returns the keys that work in the current state.
func (d *confirm) buttons() []kit.Button {
	space := kit.Button{Key: "space", Hint: "include the hidden marks", Off: len(d.chosen.Hidden) == 0, Do: func() any {
		d.hidden = !d.hidden && len(d.chosen.Hidden) > 0
		d.choose()
		return nil
	}}
	if !d.acts() {
		refresh := kit.Button{Key: "r", Hint: "refresh", Off: len(d.targets) == 0, Do: func() any {
			d.stop()
			d.Task.Cancel()
			d.asked, d.around, d.checked, d.rebind = nil, nil, nil, true
			return scene.Refresh{Targets: d.Targets()}
		}}
		return []kit.Button{{Key: "esc", Label: "Close"}, space, refresh}
	}
	details := "details"
	if d.full {
		details = "fewer details"
	}
	scan := kit.Button{Key: "f", Hint: "scan all keys", Off: d.kind != election.ActionDestroy || d.reading(), Do: d.scan}
	if d.search.Running() {
		scan.Hint = "stop the scan"
	} else if d.search != nil && d.search.Over && d.search.Err == nil && d.search.Task != nil {
		scan.Off = true
	}
	if scan.Off {
		scan.Do = nil
	}
	return []kit.Button{
		{Key: "esc", Label: "Cancel", Hint: "cancel", Do: func() any { return scene.Close{Text: cancelled} }},
		{Key: "y", Label: d.word(), Hint: string(d.kind), Acts: true, Count: len(d.actionable()), Off: d.reading(), Do: d.confirm},
		space, scan,
		{Key: "a", Hint: details, Do: func() any { d.full, d.checked = !d.full, nil; return nil }},
		{Key: "c", Hint: "copy the command", Do: d.copyCommand},
	}
}

const cancelled = "Cancelled: nothing was changed."

func (d *confirm) word() string { return kit.Capital(string(d.kind)) }

// scan starts or stops a search of the whole KV store for other affected keys.
func (d *confirm) scan() any {
	if d.search.Running() {
		d.search.Stop()
		return nil
	}
	var cmd tea.Cmd
	d.search, cmd = d.Search(d.sessions(), d.s.Now, func() { d.checked = nil }) // a skipped target may become actionable
	return scene.Run{Cmd: cmd}
}

// copyCommand copies the command that performs the same action as the dialog.
func (d *confirm) copyCommand() any {
	var keys, commands []string
	for _, t := range d.actionable() {
		if t.SessionOnly != nil {
			commands = append(commands, d.Cluster.DestroySession(t.Session))
			continue
		}
		keys = append(keys, t.Key)
	}
	if len(keys) > 0 {
		commands = append(commands, d.Cluster.Act(d.kind, keys, d.s.Patterns))
	}
	return scene.Copy{What: "command", Text: strings.Join(commands, " && ")}
}

func (d *confirm) confirm() any {
	if d.reading() {
		return scene.Say{Role: kit.Delay, Text: "Nothing was done: electop is still reading sibling keys and sessions."}
	}
	var targets []scene.Target
	for _, t := range d.actionable() {
		targets = append(targets, t.Target)
	}
	return scene.Confirm{Kind: d.kind, Targets: targets, Shown: d.shown(), By: d.chosen.By}
}

// shown returns, for each session to destroy, the keys in the dialog.
func (d *confirm) shown() map[string]election.Destroy {
	if d.kind != election.ActionDestroy {
		return nil
	}
	held := map[string][]string{}
	for _, f := range d.affected {
		if !f.slot {
			held[f.session] = append(held[f.session], f.key)
		}
	}
	for _, p := range d.scanned {
		held[p.Session] = append(held[p.Session], p.Key)
	}
	all := map[string]election.Destroy{}
	for _, id := range d.sessions() {
		slices.Sort(held[id])
		all[id] = election.Destroy{Keys: slices.Compact(held[id]), Shown: d.s.Now, Incomplete: !d.searchedAll()}
	}
	return all
}

// write writes the targets, what loses its lock, who is next, and the warnings. Many targets come last, so that the
// user sees the effects first.
func (d *confirm) write(page *kit.Page) {
	d.Title, d.Buttons = d.title(), d.buttons()
	many := len(d.targets) > kit.Counted
	switch {
	case len(d.targets) == 1:
		d.writeOne(page, &d.targets[0])
	case many:
		d.writeSummary(page)
	default:
		d.writeMany(page)
	}
	d.writeOthers(page)
	switch {
	case d.offline() && d.s.Live.Connection.Refused:
		page.Para(kit.Bad, "Consul rejects this token: no action is possible until it accepts the token again.")
	case d.offline():
		page.Para(kit.Bad, "The connection to Consul is lost: no action is possible until it is restored.")
	case len(d.targets) == 0:
		d.writeNoTarget(page)
	case !d.acts():
		d.writeRefusal(page)
	case d.reading():
		page.Para(kit.Accent, "Reading all sessions and the sibling keys of "+kit.Plural(len(d.wanted), "election")+".")
		page.Para(kit.Text, d.word()+" is disabled until they are read.")
	default:
		d.writeEffect(page)
	}
	if many {
		page.Blank()
		d.writeMany(page)
	}
	if d.search.Running() {
		d.Foot = [][]kit.Span{d.search.ProgressSpans("f")}
	}
}

func (d *confirm) title() string {
	what := kit.Plural(len(d.targets), "election")
	switch one := len(d.targets) == 1; {
	case len(d.targets) == 0:
		return d.word() + " marked " + d.noun() + "s"
	case d.chosen.SessionOnly && one:
		return "Destroy " + d.targets[0].Label() + d.targets[0].In()
	case d.chosen.SessionOnly:
		return "Destroy " + kit.Plural(len(d.targets), "session") + d.targets[0].In()
	case one:
		what = scene.OneLine(d.targets[0].Election, 40)
	}
	what += d.targets[0].In()
	if !slices.ContainsFunc(d.targets, func(t target) bool { return t.effect.Refusal == "" }) {
		what += ": refused"
	}
	switch {
	case d.kind == election.ActionRelease:
		return "Release " + what
	case len(d.sessions()) > 1:
		return "Destroy the sessions of " + what
	}
	return "Destroy the session of " + what
}

func (d *confirm) noun() string {
	if d.chosen.SessionOnly {
		return "session"
	}
	return "election"
}

// on names a leader or session and its node.
func on(name, node string) string {
	if node == "" {
		return scene.OneLine(name, 60) + ", node unknown"
	}
	if election.NamesNode(name, node) {
		return scene.OneLine(name, 60)
	}
	return scene.OneLine(name, 60) + " on " + scene.OneLine(node, 60)
}

// termText returns the number of a term. A write without the lock resets the number to 0.
func termText(n uint64) string {
	if n == 0 {
		return "term unknown"
	}
	return "term " + scene.Number(n)
}

func (d *confirm) writeOne(page *kit.Page, t *target) {
	session := kit.Span{kit.Text, scene.Clean(t.Session)}
	if d.chosen.SessionOnly {
		page.Field("Session", session, kit.Span{kit.Text, on("", t.Node)})
	} else {
		page.Field("Key", kit.Span{kit.Strong, sanitize.Text(t.Key)})
		page.Field("Leader", kit.Span{kit.Strong, on(t.Leader, t.Node)}, kit.Span{kit.Quiet, "  " + termText(t.Term) + ", for " + t.HeldFor})
		if d.full {
			page.Field("Session", session)
		}
	}
	if t.changed != "" {
		page.Field("Changed", kit.Span{kit.Bad, t.changed})
	}
	if d.acts() && !d.reading() && len(d.wanted) == 1 {
		if in := d.assessment(d.wanted[0]); in.Around != nil && (len(in.Candidates) > 0 || len(in.Around.Unread()) == 0) {
			page.Field("Likely next", scene.NextSpans(&scene.Scene{}, in, election.Connection{})...)
		}
	}
}

// writeSummary counts the targets, their nodes and the skipped ones.
func (d *confirm) writeSummary(page *kit.Page) {
	nodes := map[string]int{}
	acts := d.actionable()
	for i := range acts {
		nodes[scene.OneLine(acts[i].Node, 60)]++
	}
	text := kit.Plural(len(acts), d.noun())
	if skipped := len(d.targets) - len(acts); skipped > 0 {
		text += ", " + strconv.Itoa(skipped) + " skipped"
	}
	page.Para(kit.Strong, text+", on "+kit.Plural(len(nodes), "node")+": "+election.NameList(slices.Sorted(maps.Keys(nodes)), shownNames)+". The list is below.")
}

// writeMany lists every target by name.
func (d *confirm) writeMany(page *kit.Page) {
	const column = 17
	for i := range d.targets {
		t := &d.targets[i]
		name, who, more := scene.OneLine(t.Election, 24), on(t.Leader, t.Node), ""
		if d.chosen.SessionOnly {
			name, who, more = scene.OneLine(t.SessionOnly.Name, 24), "on "+scene.OneLine(t.Node, 28), "  "+election.ShortID(t.Session)
		} else if d.full {
			more = "  " + termText(t.Term) + ", " + election.ShortID(t.Session)
		}
		if in := d.assessment(t.Key); len(in.Candidates) > 0 {
			word := "; next: "
			if in.Candidates[0].Weak {
				word += "perhaps "
			}
			more += word + scene.NextNames(in.Candidates)[0]
		}
		if t.Hidden {
			more += ", hidden by the filter"
		}
		line := []kit.Span{{kit.Text, who}, {kit.Quiet, more}}
		if skipped := t.skipped(); skipped != "" {
			line = []kit.Span{{kit.Bad, "skipped: " + skipped}}
		}
		name = cmp.Or(name, "no name") + " "
		page.Beside([]kit.Span{{kit.Strong, name}}, max(column, kit.Width(name)), line...)
	}
}

// writeOthers lists the marked elections without a leader, and the marked elections or sessions that the filter hides.
func (d *confirm) writeOthers(page *kit.Page) {
	if n := len(d.chosen.Leaderless); n > 0 && len(d.chosen.Visible)+n > 1 {
		page.Para(kit.Quiet, "Marked, but without a leader: "+d.names(d.chosen.Leaderless, shownHidden)+".")
	}
	defer page.Blank()
	hidden := d.chosen.Hidden
	if len(hidden) == 0 {
		return
	}
	if len(d.targets) > 0 {
		page.Blank()
	}
	var names []string
	for i := range hidden {
		names = append(names, hidden[i].Title())
	}
	verb, state, key := " are", " hidden", " includes "
	if len(hidden) == 1 {
		verb = " is"
	}
	if d.hidden {
		state, key = " included although hidden", " excludes "
	}
	page.Para(kit.Delay, kit.Plural(len(hidden), "marked "+d.noun())+verb+state+" by the filter: "+d.names(names, shownHidden)+".")
	if len(d.targets) > 0 { // without targets, the key is next to the Close button
		it := "them"
		if len(hidden) == 1 {
			it = "it"
		}
		page.Indented(2, kit.Span{kit.Key, "space"}, kit.Span{kit.Quiet, key + it})
	}
}

// writeNoTarget explains that the row under the cursor is not a target.
func (d *confirm) writeNoTarget(page *kit.Page) {
	text := "Nothing is selected for this action."
	if d.chosen.Unmarked != "" {
		past := map[election.ActionKind]string{election.ActionRelease: "released", election.ActionDestroy: "destroyed"}[d.kind]
		text = d.chosen.Unmarked + ", under the cursor, is not marked and will not be " + past + "."
	}
	page.Para(kit.Bad, text)
	page.Para(kit.Quiet, "Close this dialog and press esc to clear the filter and see the marks; a second esc unmarks all.")
}

// writeRefusal explains why no action is possible.
func (d *confirm) writeRefusal(page *kit.Page) {
	if i := slices.IndexFunc(d.targets, func(t target) bool { return t.effect.Refusal != "" }); i >= 0 {
		page.Para(kit.Bad, "electop refuses this "+string(d.kind)+".")
		if len(d.targets) == 1 { // a list shows the reason next to each target
			page.Para(kit.Bad, d.targets[i].effect.Refusal)
		}
		d.writeWarnings(page)
		return
	}
	var rules []string
	for _, t := range d.targets {
		if t.denied != "" && !slices.Contains(rules, t.denied) && len(rules) < shownKeys {
			rules = append(rules, t.denied)
		}
	}
	if len(rules) == 0 {
		why := "the hold that you selected no longer exists"
		switch {
		case len(d.targets) > 1:
			why = "all targets are skipped"
		case d.chosen.SessionOnly:
			why = "the selected session has ended or is not readable"
		}
		page.Para(kit.Bad, "Nothing will be changed: "+why+".")
		return
	}
	page.Para(kit.Bad, "Missing ACL rule:")
	page.Blank()
	for _, rule := range rules {
		for _, part := range kit.HardWrap(rule, page.Width) {
			page.Add(kit.Span{kit.Strong, part})
		}
	}
}

// writeEffect writes the keys that lose their locks, the warnings and, in full, each sentence of
// [insight.EffectOf].
func (d *confirm) writeEffect(page *kit.Page) {
	bullets := func(pick func(insight.Effect) []string) {
		for _, text := range d.shared(pick) {
			page.Beside([]kit.Span{{kit.Quiet, page.Sym.Dot + " "}}, 2, kit.Span{kit.Text, text})
		}
	}
	key := func(f insight.Effect) []string { return []string{f.Key} }
	if d.kind == election.ActionDestroy {
		if d.writeAffected(page) == 0 && !d.full {
			bullets(key)
		}
		bullets(func(f insight.Effect) []string { return []string{f.Delay} })
	}
	if d.full {
		bullets(key)
		bullets(func(f insight.Effect) []string { return []string{f.Holder} })
		if d.kind == election.ActionRelease {
			bullets(func(f insight.Effect) []string { return []string{f.Delay} })
		}
	} else {
		bullets(func(f insight.Effect) []string {
			first, _, more := strings.Cut(f.Holder, ". ")
			if more {
				first += "."
			}
			return []string{first}
		})
	}
	d.writeWarnings(page)
}

// writeWarnings writes the warnings, and the step-down commands of the holders' software, each once.
func (d *confirm) writeWarnings(page *kit.Page) {
	for _, text := range d.shared(func(f insight.Effect) []string { return f.Warnings }) {
		page.Beside([]kit.Span{{kit.Delay, page.Sym.Warning + " "}}, 2, kit.Span{kit.Delay, text})
	}
	seen := map[string]bool{"": true}
	for i := range d.targets {
		t := &d.targets[i]
		if seen[t.effect.Better] {
			continue
		}
		seen[t.effect.Better] = true
		better := []kit.Span{{kit.Accent, scene.Clean(t.effect.Better)}}
		if len(d.targets) > 1 {
			better = append(better, kit.Span{kit.Quiet, "  for " + t.Label()})
		}
		page.Field("Better", better...)
	}
}

// shared returns each sentence once, prefixed with the names of its targets unless it applies to all targets.
func (d *confirm) shared(pick func(insight.Effect) []string) []string {
	var effects []engine.NamedEffect
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed == "" && t.denied == "" && (t.effect.Refusal == "" || len(d.targets) == 1) {
			effects = append(effects, engine.NamedEffect{Name: t.Label(), Effect: t.effect})
		}
	}
	return engine.Sentences(effects, pick, func(names []string) string { return d.names(names, shownNames) })
}

// names joins up to limit names, or all of them in full.
func (d *confirm) names(names []string, limit int) string {
	if d.full {
		limit = len(names)
	}
	return election.NameList(names, limit)
}

// writeAffected lists the keys that lose their locks, and the result of the search for unwatched ones. It returns the
// number of keys.
func (d *confirm) writeAffected(page *kit.Page) int {
	affected, behavior := d.allAffected(), map[string]string{}
	for _, t := range d.targets {
		behavior[t.Session] = t.Behavior
	}
	for i, f := range affected {
		if i == shownKeys && len(affected) > shownKeys+1 && !d.full {
			page.Add(kit.Span{kit.Strong, "  and " + kit.Plural(len(affected)-i, "more key")}, kit.Span{kit.Key, "  a"}, kit.Span{kit.Quiet, " shows all"})
			break
		}
		effect, r := "is released or deleted (its session was not read)", kit.Text
		switch b := behavior[f.session]; {
		case f.slot:
			effect = "keeps its other holders; one slot becomes free"
		case b == election.BehaviorDelete:
			effect, r = "is deleted with its value", kit.Vacant
		case b == election.BehaviorRelease:
			effect = "is released"
		}
		spans := []kit.Span{{kit.Strong, sanitize.Text(f.key)}, {r, " " + effect}}
		if f.unwatched {
			spans = append(spans, kit.Span{kit.Quiet, ", not watched"})
		}
		page.Indented(2, spans...)
	}
	switch {
	case d.search != nil:
		writeSearch(page, d.search, len(affected), d.s.Now)
	case len(affected) == 0:
		page.Add(kit.Span{kit.Quiet, "  no watched keys"})
	}
	return len(affected)
}

// allAffected returns the known keys and those that the search found.
func (d *confirm) allAffected() []affectedKey {
	ending, listed := d.sessionSet(d.actionable()), make(map[string]bool, len(d.affected))
	for _, f := range d.affected {
		listed[f.key] = true
	}
	affected := slices.Clone(d.affected)
	for _, p := range d.scanned {
		if ending[p.Session] && !listed[p.Key] {
			affected = append(affected, affectedKey{key: p.Key, session: p.Session, unwatched: true})
		}
	}
	return affected
}

// writeSearch shows how a search ended and what it found. listed is the number of known keys.
func writeSearch(page *kit.Page, s *scene.Search, listed int, now time.Time) {
	when := ", as of " + kit.ClockTime(s.At)
	switch age := now.Sub(s.At); { // without seconds: each change of the text disables the action
	case s.Task != nil:
	case age < time.Minute:
		when += ", <1m ago"
	case age < time.Hour:
		when += ", " + strconv.Itoa(int(age/time.Minute)) + "m ago"
	default:
		when += ", " + kit.Duration(age) + " ago"
	}
	count := kit.Plural(listed, "key") + " in all"
	if listed == 0 {
		count = "no keys"
	}
	r, text := kit.Quiet, ""
	switch total := kit.Thousands(s.Scanned); {
	case !s.Over:
		return
	case s.WasStopped():
		r, text = kit.Delay, "Stopped after "+s.Far()+": "+count+" so far"+when+"."
	case s.Err != nil:
		r, text = kit.Bad, "The scan failed after "+s.Far()+": "+scene.Clean(s.Err.Error())
	case s.Incomplete:
		r, text = kit.Delay, "Scanned "+total+" keys: "+count+when+". This token cannot read all keys: there may be more keys."
	default:
		text = "Scanned all " + total + " keys: " + count + when + "."
	}
	page.Indented(2, kit.Span{r, text})
}
