package dialog

import (
	"slices"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/ui/kit"
	"electop/ui/scene"
)

// The maximum lengths of a list of keys, of a list of hidden or leaderless rows, and of the names before a sentence.
const (
	shownKeys   = 10
	shownHidden = 12
	shownNames  = 3
)

func (d *Model) write(page *kit.Page) {
	d.cut = d.cutOthers
	if len(d.targets) == 1 {
		d.writeOne(page, &d.targets[0])
	} else {
		d.writeMany(page)
	}
	d.writeOthers(page)
	page.Blank()
	switch {
	case d.offline && d.rejected:
		page.Para(kit.Bad, "Consul rejects this token: no action is possible until it accepts the token again.")
	case d.offline:
		page.Para(kit.Bad, "The connection to Consul is lost: no action is possible until it is restored.")
	case len(d.targets) == 0:
		d.writeNoTarget(page)
	case !d.acts():
		d.writeRefusal(page)
	case d.checking():
		page.Para(kit.Accent, "Reading all sessions and the sibling keys of "+kit.Plural(len(d.wanted), "election")+".")
		page.Para(kit.Text, d.word()+" is disabled until they are read.")
	default:
		d.writeEffect(page)
	}
	if d.cut {
		what := " shows all keys and names"
		if d.full {
			what = " shortens the lists"
		}
		page.Blank()
		page.Add(kit.Span{kit.Key, "a"}, kit.Span{kit.Quiet, what})
	}
}

func (d *Model) writeOne(page *kit.Page, t *target) {
	if !d.chosen.SessionOnly {
		page.Field("Key", kit.Span{kit.Strong, sanitize.Text(t.Key)})
		page.Field("Leader", kit.Span{kit.Strong, t.Leader}, kit.Span{kit.Quiet, "  " + termText(t.Term) + ", for " + t.HeldFor})
	}
	node := kit.Span{kit.Quiet, "  its node is unknown"}
	if t.Node != "" {
		node = kit.Span{kit.Text, "  on " + scene.Clean(t.Node)}
	}
	page.Field("Session", kit.Span{kit.Text, scene.Clean(t.Session)}, node)
	if t.changed != "" {
		page.Field("Changed", kit.Span{kit.Bad, t.changed})
	}
}

// termText returns the number of a term. A write without the lock resets the number to 0.
func termText(n uint64) string {
	if n == 0 {
		return "term unknown"
	}
	return "term " + scene.Number(n)
}

// writeMany lists every target by name.
func (d *Model) writeMany(page *kit.Page) {
	for i := range d.targets {
		t := &d.targets[i]
		name, who := scene.OneLine(t.Election, 24), scene.OneLine(t.Leader, 28)
		what := termText(t.Term) + ", " + election.ShortID(t.Session)
		if d.chosen.SessionOnly {
			name, who, what = scene.OneLine(t.SessionOnly.Name, 24), "on "+scene.OneLine(t.Node, 28), election.ShortID(t.Session)
		}
		if name == "" {
			name = "no name"
		}
		line := []kit.Span{{kit.Text, who}, {kit.Quiet, "  " + what}}
		line = append(line, d.nextOf(t)...)
		if t.Hidden {
			line = append(line, kit.Span{kit.Quiet, ", hidden by the filter"})
		}
		if skipped := t.skipped(); skipped != "" {
			line = []kit.Span{{kit.Bad, "skipped: " + skipped}}
		}
		page.Beside([]kit.Span{{kit.Strong, name + " "}}, max(targetName, kit.Width(name)+1), line...)
	}
}

// targetName is the width of the name column, in cells.
const targetName = 17

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

func (d *Model) noun() string {
	if d.chosen.SessionOnly {
		return "session"
	}
	return "election"
}

// writeOthers lists the marked elections without a leader, and the marked elections or sessions that the filter hides.
func (d *Model) writeOthers(page *kit.Page) {
	if n := len(d.chosen.Leaderless); n > 0 && len(d.chosen.Visible)+n > 1 {
		page.Para(kit.Quiet, "Marked, but without a leader: "+d.names(d.chosen.Leaderless, shownHidden)+".")
	}
	if len(d.chosen.Hidden) == 0 {
		return
	}
	if len(d.targets) > 0 {
		page.Blank()
	}
	names := make([]string, 0, len(d.chosen.Hidden))
	for i := range d.chosen.Hidden {
		names = append(names, d.chosen.Hidden[i].Title())
	}
	n, verb, key := "marked "+d.noun(), " are", " includes them"
	if len(d.chosen.Hidden) == 1 {
		verb, key = " is", " includes it"
	}
	state := " hidden"
	if d.includesHidden {
		state, key = " included although hidden", strings.Replace(key, "includes", "excludes", 1)
	}
	page.Para(kit.Delay, kit.Plural(len(d.chosen.Hidden), n)+verb+state+" by the filter: "+d.names(names, shownHidden)+".")
	if len(d.targets) > 0 { // without targets, the key is next to the Close button
		page.Indented(2, kit.Span{kit.Key, "space"}, kit.Span{kit.Quiet, key})
	}
}

// writeNoTarget explains that the row under the cursor is not a target.
func (d *Model) writeNoTarget(page *kit.Page) {
	text := "Nothing is selected for this action."
	if d.chosen.Unmarked != "" {
		text = d.chosen.Unmarked + ", under the cursor, is not marked and will not be " + d.past() + "."
	}
	page.Para(kit.Bad, text)
	page.Para(kit.Quiet, "Close this dialog and press esc to clear the filter and see the marks; a second esc unmarks all.")
}

func (d *Model) past() string {
	if d.kind == election.ActionDestroy {
		return "destroyed"
	}
	return "released"
}

// writeRefusal explains why no action is possible.
func (d *Model) writeRefusal(page *kit.Page) {
	if i := slices.IndexFunc(d.targets, func(t target) bool { return t.effect.Refusal != "" }); i >= 0 {
		page.Para(kit.Bad, "electop refuses this "+string(d.kind)+".")
		if len(d.targets) == 1 { // a list shows the reason next to each target
			page.Para(kit.Bad, d.targets[i].effect.Refusal)
		}
		d.writeWarnings(page)
		d.writeBetter(page)
		return
	}
	if d.targets[0].denied == "" || d.targets[0].changed != "" {
		why := "the selected hold has ended or changed"
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
	seen := map[string]bool{}
	for _, t := range d.targets {
		if t.denied != "" && !seen[t.denied] {
			for _, part := range kit.HardWrap(t.denied, page.Width) {
				page.Add(kit.Span{kit.Strong, part})
			}
		}
		seen[t.denied] = true
	}
}

// writeEffect writes the sentences of [insight.EffectOf].
func (d *Model) writeEffect(page *kit.Page) {
	bullet := []kit.Span{{kit.Quiet, page.Sym.Dot + " "}}
	write := func(pick func(insight.Effect) []string) {
		for _, text := range d.shared(pick) {
			page.Beside(bullet, 2, kit.Span{kit.Text, text})
		}
	}
	write(func(f insight.Effect) []string { return []string{f.Key} })
	if d.kind == election.ActionDestroy {
		d.writeAffected(page)
	}
	write(func(f insight.Effect) []string { return []string{f.Holder} })
	write(func(f insight.Effect) []string { return []string{f.Delay} })
	d.writeNext(page)
	d.writeWarnings(page)
	d.writeBetter(page)
}

func (d *Model) writeWarnings(page *kit.Page) {
	for _, text := range d.shared(func(f insight.Effect) []string { return f.Warnings }) {
		page.Beside([]kit.Span{{kit.Delay, page.Sym.Warning + " "}}, 2, kit.Span{kit.Delay, text})
	}
}

// writeBetter lists the step-down commands of the holders' software, each once.
func (d *Model) writeBetter(page *kit.Page) {
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
func (d *Model) shared(pick func(insight.Effect) []string) []string {
	var effects []act.NamedEffect
	for i := range d.targets {
		t := &d.targets[i]
		if t.changed == "" && t.denied == "" && (t.effect.Refusal == "" || len(d.targets) == 1) {
			effects = append(effects, act.NamedEffect{Name: t.Label(), Effect: t.effect})
		}
	}
	return act.Sentences(effects, pick, func(names []string) string { return d.names(names, shownNames) })
}

// writeAffected lists the affected keys, and shows how to find unwatched ones.
func (d *Model) writeAffected(page *kit.Page) {
	affected := d.allAffected()
	for i, f := range affected {
		if i == shownKeys && len(affected) > shownKeys+1 {
			d.cut = true
			if !d.full {
				page.Add(kit.Span{kit.Strong, "  and " + kit.Plural(len(affected)-i, "more key")})
				break
			}
		}
		d.writeKey(page, f)
	}
	switch {
	case d.search != nil:
		writeSearch(page, d.search, len(affected), d.now)
	case len(affected) == 0:
		page.Add(kit.Span{kit.Quiet, "  no watched keys"})
	}
	if d.maySearch() {
		what := " scans the whole store for keys outside the patterns"
		if d.search != nil {
			what = " scans the store again"
		}
		page.Indented(2, kit.Span{kit.Key, "f"}, kit.Span{kit.Quiet, what})
	}
}

// allAffected returns the known keys and those that the search found.
func (d *Model) allAffected() []affectedKey {
	if d.search == nil || !d.search.Over {
		return d.affected
	}
	ending, listed := map[string]bool{}, make(map[string]bool, len(d.affected))
	for _, t := range d.actionable() {
		ending[t.Session] = true
	}
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

// writeKey writes a key and the effect of the destroy on it.
func (d *Model) writeKey(page *kit.Page, f affectedKey) {
	effect, r := "is released or deleted (its session was not read)", kit.Text
	switch d.behaviorOf(f.session) {
	case election.BehaviorDelete:
		effect, r = "is deleted with its value", kit.Vacant
	case election.BehaviorRelease:
		effect = "is released"
	}
	if f.slot {
		effect, r = "keeps its other holders; one slot becomes free", kit.Text
	}
	spans := []kit.Span{{kit.Strong, sanitize.Text(f.key)}, {r, " " + effect}}
	if f.unwatched {
		spans = append(spans, kit.Span{kit.Quiet, ", not watched"})
	}
	page.Indented(2, spans...)
}

func (d *Model) behaviorOf(session string) string {
	for _, t := range d.targets {
		if t.Session == session {
			return t.Behavior
		}
	}
	return ""
}

// names joins up to limit names and records the truncation.
func (d *Model) names(names []string, limit int) string {
	text, cut := d.limited(names, limit)
	d.cut = d.cut || cut
	return text
}

// limited joins up to limit names, or all of them in full mode. cut is true if there are more than limit names.
func (d *Model) limited(names []string, limit int) (text string, cut bool) {
	if cut = len(names) > limit; cut && d.full {
		limit = len(names)
	}
	return election.NameList(names, limit), cut
}
