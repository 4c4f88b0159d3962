package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"electop/consulx"
	"electop/election"
	"electop/election/query"
	"electop/election/sanitize"
	"electop/internal/act"
	"electop/internal/history"
	"electop/ui/scene"
)

const (
	// reportEvents is the maximum number of events in a report.
	reportEvents = 200
	// observedWithin is the time within which an observer has stored the effect of an action.
	observedWithin = 3 * time.Second
	// reportLosses is the maximum number of losses in the summary. The details contain the others.
	reportLosses = 3
	// reportStates is the maximum number of states, and of lines of the timeline, in the summary.
	reportStates = 10
)

func newReportCommand(o *options) *cobra.Command {
	var period history.Range
	var node, format string
	var shown view
	cmd := &cobra.Command{
		Use:   "report [NAME…]",
		Short: "Print an incident report from the history, ready to paste",
		Long: `Print one incident report about one or several elections from the history: a
summary, a timeline with causes, gaps in observation and the operators' actions,
and the details of each loss of a leader. electop reads nothing from the store.

Without NAME, the report contains all elections that -k, --node and --filter
select. --filter selects by the state at the end of the period.

--since and --until take a duration before now (24h, 7d) or a time
(03:12, 2026-11-20T03:12; local time unless it has a zone). Times are shown
in the local time zone, or in UTC with TZ=UTC.`,
		Example:           "  electop report billing --since 2h\n  electop report --node db-1 --since 2h\n  TZ=UTC electop report billing mail --since 2026-11-20T03:00 --until 2026-11-20T04:00 --format markdown > incident.md",
		ValidArgsFunction: completeHistory(o),
		RunE: work(func(ctx context.Context, names []string) error {
			f, filter, err := o.selectHistory(ctx, period, names)
			if err != nil {
				return err
			}
			defer f.Close()
			var end history.State
			if shown.filter.Text != "" {
				if end, err = f.State(ctx, filter.Until); err != nil {
					return err
				}
			}
			matching := shown.filter.On(end.Elections, nil, query.Facts{At: filter.Until}).Select(end.Elections)
			i, err := readReport(ctx, f, filter, func(e *reportElection) bool {
				return len(names)+e.Terms > 0 && (node == "" || slices.ContainsFunc(e.History, func(t history.Term) bool { return t.Node == node })) &&
					(shown.filter.Text == "" || slices.ContainsFunc(matching, func(m *election.Election) bool { return m.Key() == e.Key && m.Datacenter == e.Datacenter }))
			})
			if errors.Is(err, history.ErrNoElection) || err == nil && len(i.Elections) == 0 {
				return fmt.Errorf("%w in the history of this period and datacenter", errNoElection)
			}
			if err != nil {
				return err
			}
			i.node, i.filter = node, shown.filter.Text
			if format == "json" {
				return writeIndented(o.stdout, i.told())
			}
			_, err = o.stdout.Write([]byte(i.text(format == "markdown")))
			return err
		}),
	}
	f := cmd.Flags()
	periodFlags(f, &period)
	f.StringVar(&node, "node", "", "only elections that had a leader on this node")
	f.Func("filter", "only the elections that match `FILTER`; see docs/filter.md", shown.setFilter)
	format = "text"
	f.Var(wordFlag{&format, []string{"text", "markdown", "json"}}, "format", "text, markdown or json")
	return cmd
}

// report is the history of elections in a period.
type report struct {
	history.Range
	node, filter string   // that selected the elections
	silent       []string // elections that were observed only without a leader
	notes        []string // lines of the timeline that the summary contains

	Summary   []string          `json:"summary"` // sentences
	Timeline  []reportLine      `json:"timeline"`
	Elections []*reportElection `json:"elections"`
}

type reportLine struct {
	Time     time.Time `json:"time"`
	Election string    `json:"election,omitempty"` // its label
	Text     string    `json:"text"`
}

type reportElection struct {
	history.Summary
	History []history.Term `json:"history"` // the terms that overlap the period, oldest first
	Losses  []string       `json:"losses"`
	// since and until are the start and the end of the observation.
	since, until time.Time
}

// readReport reads the history of the elections that the filter and then chosen select.
func readReport(ctx context.Context, f history.Source, filter history.Filter, chosen func(*reportElection) bool) (*report, error) {
	r := &report{Range: filter.Range}
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return nil, err
	}
	for _, s := range st.Elections {
		r.Elections = append(r.Elections, &reportElection{Summary: s})
	}
	err = eachPage(ctx, f.Terms, history.TermQuery{Filter: filter}, func(terms []history.Term) error {
		for _, t := range terms {
			if e := r.election(t.Key, t.Datacenter); e != nil {
				e.History = append(e.History, t)
			}
		}
		return nil
	})
	r.Elections = slices.DeleteFunc(r.Elections, func(e *reportElection) bool {
		omitted := !chosen(e)
		if omitted && e.Terms == 0 && e.Observed > 0 {
			r.silent = append(r.silent, r.label(e))
		}
		return omitted
	})
	if err = cmp.Or(err, r.addGaps(ctx, f, filter), r.addEvents(ctx, f, filter)); err != nil {
		return nil, err
	}
	early, err := r.addActions(ctx, f, filter.Range)
	if early && time.Since(filter.Until) < observedWithin {
		consulx.Sleep(ctx, observedWithin)
		return readReport(ctx, f, filter, chosen)
	}
	return r, err
}

// addEvents adds the latest events to the timeline. Of terms in a row that a drain ended, it adds the first and the last loss.
func (r *report) addEvents(ctx context.Context, f history.Source, filter history.Filter) error {
	page, err := f.Events(ctx, history.EventQuery{Filter: filter, Limit: reportEvents, Types: []election.EventType{
		election.Elected, election.Vacated, election.Explained, election.Overwritten, election.Deleted, election.Missed, election.Unreadable, election.Readable,
	}})
	if err != nil {
		return err
	}
	if n := len(page.Items); page.More && n > 0 {
		r.add(page.Items[n-1].Time, nil, "older events are omitted; electop history prints them")
	}
	slices.Reverse(page.Items)
	for _, l := range slices.Backward(scene.FoldEvents(page.Items, nil, func(scene.EventLine) bool { return true }, -1)) {
		e := r.election(l.Ev.Key, l.Ev.Datacenter)
		if e == nil {
			continue
		}
		text := string(l.Ev.Type) + " " + l.Ev.Summary()
		if n := slices.IndexFunc(e.History, func(t history.Term) bool {
			return t.Session == l.Ev.Session && t.Number == l.Ev.Term && t.CreateIndex == l.Ev.CreateIndex
		}); n > 0 && r.again(e, n-1) {
			switch first := r.first(e, n); {
			case l.Ev.Type == election.Elected, l.Ev.Type == election.Vacated && r.again(e, n):
				continue
			case l.Ev.Type == election.Vacated:
				text += fmt.Sprintf(" · the last of %d terms in a row", n-first+1)
			}
		}
		if l.Why != nil {
			if text += " · " + l.Why.Cause.Text(l.Why.Guess); l.Why.Cause.ByOperator() {
				text += ": " + l.Why.Evidence
			}
		}
		if r.add(l.Ev.Time, e, text); l.Ev.Type == election.Overwritten {
			r.note()
		}
	}
	return nil
}

// addActions adds the operators' actions to the timeline. early is set if the effect of one is not stored yet.
func (r *report) addActions(ctx context.Context, f history.Source, in history.Range) (early bool, err error) {
	actions, err := f.Actions(ctx, in)
	for _, a := range actions {
		for _, e := range r.Elections {
			// A stored destroy may contain only the session and no key.
			byTerm := a.Key == "" && slices.ContainsFunc(e.History, func(t history.Term) bool { return t.Session == a.Session })
			if byTerm || a.Key == e.Key && a.Datacenter == e.Datacenter {
				if early = early || !a.Time.Before(r.Until); a.Result == string(act.OutcomeDone) && slices.ContainsFunc(e.History, func(t history.Term) bool {
					return t.Session == a.Session && t.Cause.ByOperator() && t.By == a.By && strings.HasSuffix(t.Evidence, a.Detail) && r.endedWithin(&t)
				}) {
					continue // its effect is in the timeline
				}
				r.add(a.Time, e, strings.TrimSuffix(fmt.Sprintf("%s by %s: %s, %s", a.Kind, a.By, a.Result, a.Detail), ", "))
			}
		}
	}
	return early, err
}

// addGaps adds the periods without an observer to the timeline, and the losses of the connection to Consul. It ends the
// report where the history ends.
func (r *report) addGaps(ctx context.Context, f history.Source, filter history.Filter) error {
	filter.Names = nil
	lost, err := f.Events(ctx, history.EventQuery{Filter: filter, Limit: reportEvents, Types: []election.EventType{election.ConnectionLost}})
	if err != nil {
		return err
	}
	for _, ev := range lost.Items {
		r.add(ev.Time, nil, string(ev.Type)+" "+ev.Summary())
		r.note()
	}
	observed, err := f.Observations(ctx, r.Range)
	if err != nil {
		return err
	}
	cover := history.NewCoverage(observed, filter)
	if end := cover.Any().End(); r.Until.Sub(end) < history.AliveWithin { // the last seconds are not stored yet
		r.Until = end
	}
	gap := func(of *reportElection, g history.Range) {
		r.add(g.Since, of, fmt.Sprintf("no observer was connected for %s, until %s", election.FormatDuration(g.Until.Sub(g.Since)), localTime(g.Until)))
		r.note()
	}
	all := cover.Gaps(cover.Any())
	for _, g := range all {
		gap(nil, g)
	}
	for _, e := range r.Elections {
		of := cover.Of(e.Datacenter, e.Key)
		if e.until = of.End(); len(of) > 0 {
			e.since = of[0].Since
		}
		for _, g := range cover.Gaps(of) {
			if !slices.Contains(all, g) {
				gap(e, g)
			}
		}
	}
	return nil
}

func (r *report) election(key, datacenter string) *reportElection {
	for _, e := range r.Elections {
		if e.Key == key && e.Datacenter == datacenter {
			return e
		}
	}
	return nil
}

func (r *report) add(at time.Time, of *reportElection, text string) {
	line := reportLine{Time: at, Text: text}
	if of != nil {
		line.Election = r.label(of)
	}
	r.Timeline = append(r.Timeline, line)
}

// note adds the latest line of the timeline to the summary.
func (r *report) note() {
	r.notes = append(r.notes, r.Timeline[len(r.Timeline)-1].line())
}

func (l reportLine) line() string {
	return localTime(l.Time) + " " + strings.TrimSpace(l.Election+" "+l.Text)
}

// again reports whether a drain ended a term, and soon afterwards the next one on the same node.
func (r *report) again(e *reportElection, n int) bool {
	t, next := &e.History[n], e.next(n)
	return strings.Contains(t.Evidence, ", "+election.DrainOf) && next.Evidence == t.Evidence && r.endedWithin(t) && r.endedWithin(next) && next.Node == t.Node && next.End.Sub(t.End) < time.Minute
}

// first returns the first of the terms in a row that ends with a term.
func (r *report) first(e *reportElection, n int) int {
	for n > 0 && r.again(e, n-1) {
		n--
	}
	return n
}

// label names an election, with its datacenter if the report contains several.
func (r *report) label(e *reportElection) string {
	if slices.ContainsFunc(r.Elections, func(other *reportElection) bool { return other.Datacenter != e.Datacenter }) {
		return e.Election + " (" + e.Datacenter + ")"
	}
	return e.Election
}

// reportLoss is a loss of a leader, or terms in a row that a drain ended.
type reportLoss struct {
	text        string
	terms       int
	first, last time.Time
	by          string // the operator, or empty
	outage      int64  // at most, if known; 0 if the leader ended the term
}

// lossesOf returns the losses of an election, oldest first.
func (r *report) lossesOf(e *reportElection) (all []reportLoss) {
	for n := range e.History {
		t := &e.History[n]
		if !r.endedWithin(t) || r.again(e, n) {
			continue
		}
		first := r.first(e, n)
		outage := t.Outage(&e.next(n).Term)
		l := reportLoss{text: e.loss(first, n), terms: n - first + 1, first: e.History[first].LastSeen(), last: t.End, outage: *cmp.Or(outage.Max, &outage.Min)}
		switch {
		case t.Cause.ByOperator():
			l.by = cmp.Or(t.By, "an operator")
		case t.Cause == election.Released:
			l.outage = 0
		}
		all = append(all, l)
	}
	return all
}

// told adds the summary and the losses, and sorts the timeline.
func (r *report) told() *report {
	slices.SortStableFunc(r.Timeline, func(a, b reportLine) int { return a.Time.Compare(b.Time) })
	var losses []reportLoss
	var first, last time.Time
	total, ordered, lost := 0, 0, 0 // losses, losses by operators, and elections with losses
	var who []string                // the operators
	atLeast := ""                   // if terms were not observed, or no observer was running at first
	for _, e := range r.Elections {
		for _, l := range r.lossesOf(e) {
			e.Losses, l.text = append(e.Losses, l.text), r.label(e)+": "+l.text
			total, first, last = total+l.terms, scene.Earlier(first, l.first), election.Later(last, l.last)
			if l.by != "" {
				ordered, who = ordered+l.terms, election.Union(who, l.by)
			}
			losses = append(losses, l)
		}
		if h := e.History; e.Missed > 0 || len(h) > 0 && !h[0].StartKnown && h[0].NotBefore.IsZero() && h[0].Start.After(r.Since) {
			atLeast = "at least "
		}
		lost += min(1, len(e.Losses))
	}
	r.Summary = []string{"No loss of a leader was observed."}
	if total > 0 {
		of := election.Plural(len(r.Elections), "election")
		if lost < len(r.Elections) {
			of = fmt.Sprint(lost, " of ", of)
		}
		text := fmt.Sprintf("The leader was lost %s%s in %s", atLeast, election.Plural(total, "time"), of)
		if total > 1 {
			first = first.Truncate(time.Second)
			text += " " + election.Between(first, election.Later(first.Add(time.Second), last.Truncate(time.Second)), r.Until.Local())
		}
		if ordered > 0 {
			text += ", " + election.Plural(ordered, "time") + " by " + strings.Join(who, " and ")
		}
		r.Summary[0] = text + "."
	}
	slices.SortStableFunc(losses, func(a, b reportLoss) int { return cmp.Compare(b.outage, a.outage) })
	for _, l := range losses[:min(len(losses), reportLosses)] {
		r.Summary = append(r.Summary, l.text)
	}
	if n := len(losses) - reportLosses; n > 0 {
		r.Summary = append(r.Summary, fmt.Sprintf("The details contain %d more, with shorter outages or ended by the leader.", n))
	}
	r.addLimits()
	return r
}

// addLimits adds the vacancies at the start, the states at the end, and what the report omits to the summary.
func (r *report) addLimits() {
	all := [3][]string{2: slices.Sorted(slices.Values(r.notes))}
	for _, e := range r.Elections {
		if len(e.History) > 0 && e.History[0].StartKnown && e.History[0].Start.Sub(election.Later(e.since, e.FirstSeen)) >= time.Second {
			all[0] = append(all[0], r.label(e)+" had no leader until "+localTime(e.History[0].Start))
		}
		all[1] = append(all[1], r.label(e)+" "+r.ending(e))
	}
	for i, states := range all {
		if len(states) > reportStates {
			states = append(states[:reportStates], fmt.Sprintf("and %d more", len(states)-reportStates))
		}
		if len(states) > 0 {
			r.Summary = append(r.Summary, []string{"At the start: ", "At the end: ", "Also: "}[i]+strings.Join(states, "; ")+".")
		}
	}
	if len(r.silent) > 0 && r.node+r.filter == "" {
		r.Summary = append(r.Summary, "Observed only without a leader: "+election.NameList(r.silent, 5)+".")
	}
}

func (r *report) endedWithin(t *history.Term) bool {
	return t.Over() && !t.End.Before(r.Since) && !t.End.After(r.Until)
}

// loss returns sentences about the end of a term, or of the terms in a row from first to n.
func (e *reportElection) loss(first, n int) string {
	t, next := &e.History[first], e.next(n)
	held := election.FormatDuration(t.Held(t.End))
	if !t.HeldKnown() {
		held = "at least " + held
	}
	cause := t.Cause.Text(t.Guess)
	if t.Evidence != "" {
		cause += ": " + strings.TrimSuffix(t.Evidence, ".")
	}
	text := fmt.Sprintf("%s was lost %s after %s, cause %s.", reportLeader(t), t.To(time.Time{}.Local(), localTime), held, cause)
	if t = &e.History[n]; first < n {
		text += fmt.Sprintf(" The drain ended %d terms in a row, the last at %s.", n-first+1, localTime(t.End))
	}
	if t.LockDelayUntil.Sub(t.End) >= time.Second { // Patroni's is 1 ms
		end := "about " + localTime(t.LockDelayUntil)
		if !t.SeenUntil.IsZero() {
			end = localTime(t.LockDelayUntil) + " at the latest"
		}
		follows := " followed until "
		if t.Guess || t.Cause == election.Unknown || !t.SeenUntil.IsZero() {
			follows = " may have followed until "
		}
		text += " A lock-delay" + follows + end
		if late := next.Start.Sub(t.LockDelayUntil); t.Vacancy != nil && late >= time.Second {
			text += "; no candidate acquired the key for " + election.FormatDuration(late) + " after it"
		}
		text += "."
	}
	switch {
	case next.Session == "":
		text += " No later leader was observed for " + election.FormatDuration(next.Start.Sub(t.End))
	case t.Vacancy == nil:
		text += " The next observed leader was " + reportLeader(next)
	default:
		text += " " + reportLeader(next) + " became leader " + election.AfterVacancy(time.Duration(*t.Vacancy))
	}
	return text + t.Outage(&next.Term).Beside(localTime) + "."
}

// next returns the term after a term, or one without a session that begins at the end of the observation.
func (e *reportElection) next(n int) *history.Term {
	if n+1 < len(e.History) {
		return &e.History[n+1]
	}
	return &history.Term{Term: election.Term{Start: election.Later(e.History[n].End, e.until), StartKnown: true}}
}

// ending describes the last observed state of an election in the period.
func (r *report) ending(e *reportElection) string {
	n := len(e.History)
	if e.until.IsZero() || n == 0 && e.Observed == 0 {
		return "unknown, no observer saw it"
	}
	state := "has no leader"
	if n > 0 && !r.endedWithin(&e.History[n-1]) {
		t := &e.History[n-1]
		if state = "is led by " + reportLeader(t); !t.AliveUntil.IsZero() && t.AliveUntil.Before(r.Until) { // it ended later
			state += ", last sign of life after " + localTime(t.AliveUntil)
		}
	}
	if r.Until.Sub(e.until) > history.AliveWithin {
		state += ", last observed " + localTime(e.until)
	}
	return state
}

func reportLeader(t *history.Term) string {
	name := t.Leader
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		name += " on " + t.Node
	}
	if t.Number > 0 {
		name += " (" + election.TermText(t.Number, t.CreateIndex, t.Session) + ")"
	}
	return name
}

// subject names the elections, and what selected them.
func (r *report) subject() string {
	of := strings.Join(election.Map(r.Elections, r.label), ", ")
	if r.node != "" {
		of += " · led from " + r.node
	}
	if r.filter != "" {
		of += " · filter " + r.filter
	}
	return of
}

func (r *report) period() string {
	return fmt.Sprintf("%s to %s (%s)", localTime(r.Since), localTime(r.Until), r.Until.Local().Format("MST -07:00"))
}

// text formats the report as lines of text or in Markdown.
func (r *report) text(markdown bool) string {
	r.told()
	var b strings.Builder
	title, head, item := "", "\n", ""
	marks := regexp.MustCompile("[\\\\`*|<>\\[\\]#~!&]|\\b_|_\\b") // of Markdown, in which a _ within a word is none
	line := func(before, s string) {
		if s = sanitize.Line(s, 1000); markdown {
			s = marks.ReplaceAllString(s, `\$0`)
		}
		b.WriteString(before + s + "\n")
	}
	if markdown {
		title, head, item = "# ", "\n## ", "- "
	}
	line(title, "Incident report: "+r.subject())
	b.WriteByte('\n')
	line("", r.period()+", times by the observer's clock.")
	for _, s := range r.Summary {
		line(item, s)
	}
	line(head, "Timeline")
	b.WriteByte('\n')
	for _, l := range r.Timeline {
		line(item, l.line())
	}
	line(head, "Details")
	b.WriteByte('\n')
	for _, e := range r.Elections {
		line(item, fmt.Sprintf("%s: key %s in datacenter %s, observed for %s, without a leader for at least %s, availability %s, %s not observed", r.label(e), e.Key, e.Datacenter,
			rounded(e.Observed), rounded(e.Observed-e.Led), availability(&e.Summary), election.Plural(e.Missed, "term")))
		for _, s := range e.Losses {
			if !slices.Contains(r.Summary, r.label(e)+": "+s) {
				line("  "+cmp.Or(item, "- "), s)
			}
		}
	}
	return b.String()
}

// Report implements [ui.Backend]: it writes a report about elections to a new file in the current folder, and returns the
// name of the file and the summary. It omits elections that have no history.
func (b *dashboard) Report(ctx context.Context, subjects []scene.Subject, r history.Range) (name, summary string, err error) {
	filter := history.Filter{Range: r}
	for _, s := range subjects {
		filter.Names = append(filter.Names, s.Key)
	}
	i, err := readReport(ctx, b.history, filter, func(e *reportElection) bool {
		return slices.ContainsFunc(subjects, func(s scene.Subject) bool {
			return s.Key == e.Key && slices.Contains([]string{"", e.Datacenter}, s.Datacenter)
		})
	})
	if err != nil {
		return "", "", err
	}
	name = fmt.Sprintf("%d-elections", len(i.Elections))
	if len(i.Elections) == 1 {
		name = regexp.MustCompile("[^a-zA-Z0-9._]").ReplaceAllString(i.Elections[0].Election, "-")
	}
	name = "electop-report-" + name[:min(len(name), 80)] + r.Until.Local().Format("-20060102-150405") + ".md"
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", "", err
	}
	_, err = f.WriteString(i.text(true))
	return name, strings.Join(election.Map(slices.Insert(i.Summary, 0, i.subject()+", "+i.period()+":"), func(s string) string { return sanitize.Line(s, 1000) }), " "), errors.Join(err, f.Close())
}
