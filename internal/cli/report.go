package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
	"electop/ui"
)

const (
	// reportEvents is the maximum number of events in a report.
	reportEvents = 10_000
	// reportText is the maximum length of text from Consul in a report, in runes.
	reportText = 400
	// reportFiles is the maximum number of reports with the same name and minute.
	reportFiles = 100
)

func newReportCommand(d deps, o *options) *cobra.Command {
	var since, until string
	cmd := &cobra.Command{
		Use:   "report NAME",
		Short: "Print an incident report in Markdown from the history",
		Long: `Print an incident report about one election in Markdown, from the history:
what happened, a timeline with causes and evidence, gaps in observation, and
the operators' actions. electop does not contact Consul.

--since and --until take a duration before now (24h, 7d) or a time
(2026-11-20T03:12, local time unless it has a zone). Times are shown in the
local time zone, or in UTC with TZ=UTC.`,
		Example:           "  electop report billing --since 2h\n  TZ=UTC electop report billing --since 2026-11-20T03:00 --until 2026-11-20T04:00 > incident.md",
		Args:              exactName,
		ValidArgsFunction: first(completeHistory(o), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := parseRange(since, until, time.Now())
			if err != nil {
				return err
			}
			return writeReportOf(cmd.Context(), d, o, args[0], r)
		},
	}
	cmd.Flags().StringVar(&since, "since", "24h", "report what happened after this time")
	cmd.Flags().StringVar(&until, "until", "", "report what happened before this time (default now)")
	return cmd
}

func writeReportOf(ctx context.Context, d deps, o *options, name string, r history.Range) error {
	f, err := o.openHistory(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	keys, err := o.historyKeys(ctx, f, []string{name})
	if err != nil {
		return err
	}
	of := ui.Subject{Key: keys[0]}
	if !o.severalDatacenters() {
		of.Datacenter = o.consul.Datacenter
	}
	i, err := readIncident(ctx, f, of, r)
	if errors.Is(err, history.ErrNoElection) {
		return &missingError{name: name, text: errNoElection.Error() + " in the history of datacenter " + sanitize.Line(of.Datacenter, 100) + ": " + sanitize.Line(of.Key, 100)}
	}
	if err == nil {
		_, err = d.stdout.Write(i.markdown())
	}
	return err
}

// incident is the history of one election in a time range.
type incident struct {
	ui.Subject
	history.Range
	name string
	// terms overlap the range. All lists are sorted, oldest first.
	terms   []history.Term
	events  []election.Event
	cut     bool // events lacks older events of the range
	gaps    []history.Range
	actions []history.Action
	history.Summary
	observedUntil time.Time
}

// readIncident reads the history of an election. If the history contains the same key in several datacenters, the
// subject must name a datacenter.
func readIncident(ctx context.Context, f history.Source, of ui.Subject, r history.Range) (*incident, error) {
	i := &incident{Subject: of, Range: r, name: of.Key}
	filter := history.Filter{Range: r, Names: []string{of.Key}}
	if of.Datacenter != "" {
		filter.Datacenters = []string{of.Datacenter}
	}
	st, err := f.Stats(ctx, filter)
	if err != nil {
		return nil, err
	}
	var in []string
	for _, s := range st.Elections {
		in, i.Summary, i.Subject.Datacenter = append(in, s.Datacenter), s, s.Datacenter
	}
	if slices.Sort(in); len(in) > 1 {
		return nil, usagef("%s exists in the datacenters %s; choose one with --datacenter", sanitize.Line(of.Key, 100), sanitize.Line(strings.Join(in, ", "), 200))
	}
	page, err := f.Events(ctx, history.EventQuery{Filter: filter, Limit: reportEvents})
	if err != nil {
		return nil, err
	}
	i.events, i.cut = page.Events, page.More
	slices.Reverse(i.events)
	err = eachTerms(ctx, f, history.TermQuery{Filter: filter}, func(terms []history.Term) error {
		for _, t := range terms {
			i.terms, i.name = append(i.terms, t), t.Election
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(i.events) > 0 {
		i.name = i.events[0].Election
	}
	observed, err := f.Observations(ctx, r)
	if err != nil {
		return nil, err
	}
	cover := history.NewCoverage(observed, r)
	i.gaps, i.observedUntil = cover.GapsOf(i.Subject.Datacenter, of.Key), cover.Until(i.Subject.Datacenter, of.Key)
	actions, err := f.Actions(ctx, r)
	for _, a := range actions {
		// A stored destroy may contain only the session and no key.
		byTerm := a.Key == "" && slices.ContainsFunc(i.terms, func(t history.Term) bool { return t.Session == a.Session })
		if byTerm || a.Key == of.Key && slices.Contains([]string{"", a.Datacenter}, i.Subject.Datacenter) {
			i.actions = append(i.actions, a)
		}
	}
	return i, err
}

// markdown formats the report. Times are in the local time zone.
func (i *incident) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Incident report: %s\n\n- Key: %s\n", escaped(i.name), markdownCode(i.Subject.Key))
	if i.Subject.Datacenter != "" {
		fmt.Fprintf(&b, "- Datacenter: %s\n", markdownCode(i.Subject.Datacenter))
	}
	fmt.Fprintf(&b, "- Period: %s to %s (%s)\n", localTime(i.Since), localTime(i.Until), i.Until.Sub(i.Since).Round(time.Second))
	fmt.Fprintf(&b, "- Times: by the observer's clock, time zone %s\n\n## What happened\n\n%s", i.Until.Local().Format("MST (-07:00)"), i.totals())
	space := "\n\n"
	for n := range i.terms {
		if i.endedWithin(&i.terms[n]) {
			b.WriteString(space + "1. " + i.loss(n))
			space = "\n"
		}
	}
	if end := i.ending(); end != "" {
		b.WriteString("\n\n" + end)
	}
	b.WriteString("\n\n## Timeline\n\n")
	if i.cut {
		fmt.Fprintf(&b, "The table contains the latest %s. Older events are omitted.\n\n", election.Plural(uint64(len(i.events)), "event"))
	}
	b.WriteString("| time | event | detail |\n| --- | --- | --- |\n")
	for _, e := range i.events {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", reportTime(e.Time), escaped(string(e.Type)), escaped(e.Summary()))
	}
	b.WriteString("\n## Gaps in observation\n\n")
	if len(i.gaps) == 0 && !i.observedUntil.IsZero() {
		b.WriteString("An observer was running for the whole period.\n")
	}
	for _, gap := range i.gaps {
		fmt.Fprintf(&b, "- No observer was running from %s to %s (%s).\n", reportTime(gap.Since), reportTime(gap.Until), election.FormatDuration(gap.Until.Sub(gap.Since)))
	}
	b.WriteString("\n## Actions of operators\n\n")
	if len(i.actions) == 0 {
		b.WriteString("No operator actions were recorded in this period.\n")
	}
	for _, a := range i.actions {
		fmt.Fprintf(&b, "- %s: %s by %s, session %s: %s", reportTime(a.Time), a.Kind, escaped(a.By), escaped(a.Session), escaped(a.Result))
		if a.Detail != "" {
			b.WriteString(", " + escaped(a.Detail))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (i *incident) endedWithin(t *history.Term) bool {
	return t.Over() && !t.End.Before(i.Since) && !t.End.After(i.Until)
}

// totals returns sentences about the number of losses and the time without a leader.
func (i *incident) totals() string {
	lost := 0
	for n := range i.terms {
		if i.endedWithin(&i.terms[n]) {
			lost++
		}
	}
	var parts []string
	switch {
	case len(i.terms) == 0:
		return "No term was observed in this period."
	case lost > 0:
		parts = append(parts, "The leader was lost "+election.Plural(uint64(lost), "time")+".")
	case i.observedUntil.IsZero():
		return "Whether the leader was lost is unknown."
	case len(i.gaps) > 0:
		parts = append(parts, "No loss of the leader was observed.")
	default:
		parts = append(parts, "The leader was not lost.")
	}
	if i.Observed > 0 {
		parts = append(parts, fmt.Sprintf("The election was observed for %s and had no leader for %s of that time.",
			election.FormatDuration(time.Duration(i.Observed)), election.FormatDuration(time.Duration(i.Observed-i.Led))))
	}
	if i.Vacancies > 0 {
		parts = append(parts, fmt.Sprintf("The longest completely observed vacancy was %s.", election.FormatDuration(time.Duration(i.VacancyMax))))
	}
	if i.Missed > 0 {
		parts = append(parts, fmt.Sprintf("According to LockIndex, electop missed %s.", election.Plural(i.Missed, "more term")))
	}
	return strings.Join(parts, " ")
}

// loss returns a paragraph about the end of a term.
func (i *incident) loss(n int) string {
	t, held := &i.terms[n], ""
	if !t.HeldKnown() {
		held = "at least "
	}
	held += election.FormatDuration(t.Held(t.End))
	cause := markdownCode(string(cmp.Or(t.Cause, election.Unknown)))
	if t.Guess {
		cause = "probably " + cause
	}
	if t.Evidence != "" {
		cause += ": " + escaped(t.Evidence)
	}
	text := fmt.Sprintf("**%s**: %s was lost after %s. Cause: %s.", t.To(time.Time{}.Local(), reportTime), reportLeader(t), held, strings.TrimSuffix(cause, "."))
	if !t.LockDelayUntil.IsZero() {
		text += fmt.Sprintf(" A lock-delay followed until about %s.", reportTime(t.LockDelayUntil))
	}
	switch {
	case n+1 == len(i.terms):
		return text + " No later leader was observed in this period."
	case t.Vacancy != nil:
		return fmt.Sprintf("%s %s became leader %s.", text, reportLeader(&i.terms[n+1]), election.AfterVacancy(time.Duration(*t.Vacancy)))
	}
	return fmt.Sprintf("%s The next observed leader was %s.", text, reportLeader(&i.terms[n+1]))
}

// ending returns a sentence about the last observed state in the period.
func (i *incident) ending() string {
	when := "At the end of the period"
	switch {
	case i.observedUntil.IsZero():
		return "No observer was running in this period."
	case len(i.terms) == 0:
		return ""
	case i.Until.Sub(i.observedUntil) > history.AliveWithin:
		when = "When observation ended, at " + reportTime(i.observedUntil)
	}
	t := &i.terms[len(i.terms)-1]
	if !i.endedWithin(t) {
		return fmt.Sprintf("%s, the leader was %s. Its term began %s.", when, reportLeader(t), t.From(time.Time{}.Local(), reportTime))
	}
	return fmt.Sprintf("%s, there was no leader. The last term ended %s.", when, t.To(time.Time{}.Local(), reportTime))
}

func reportLeader(t *history.Term) string {
	name := escaped(t.Leader)
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		name += " on " + escaped(t.Node)
	}
	if t.Number > 0 {
		name += fmt.Sprintf(" (term %d)", t.Number)
	}
	return name
}

func reportTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }

// escaped makes s safe to print and escapes Markdown in it.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", `\<`, ">", `\>`,
		"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "!", `\!`, "&", `\&`).Replace(sanitize.Line(s, reportText))
}

// markdownCode formats s as Markdown code. A backquote would end the code.
func markdownCode(s string) string {
	return "`" + strings.ReplaceAll(sanitize.Line(s, reportText), "`", "'") + "`"
}

// writeIncidents writes an incident report about elections to a new file in the current folder. It returns the name of
// the file. It omits elections that have no history.
func writeIncidents(ctx context.Context, source history.Source, all []ui.Subject, r history.Range) (string, error) {
	var parts [][]byte
	var name string
	var unknown error
	for _, of := range all {
		i, err := readIncident(ctx, source, of, r)
		switch {
		case errors.Is(err, history.ErrNoElection):
			unknown = err
			continue
		case err != nil:
			return "", err
		}
		parts, name = append(parts, i.markdown()), i.name
	}
	if len(parts) == 0 {
		return "", unknown
	}
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._", r)) {
			return r
		}
		return '-'
	}, name)
	if name = name[:min(len(name), 80)]; len(parts) > 1 {
		name = fmt.Sprintf("%d-elections", len(parts))
	}
	return createReport("electop-report-"+name+r.Until.Local().Format("-20060102-1504"), bytes.Join(parts, []byte("\n")))
}

// createReport writes the text to a new file. If a file with this name exists, it appends a number to the name.
func createReport(name string, text []byte) (string, error) {
	for n := 1; ; n++ {
		path := name + ".md"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.md", name, n)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && n < reportFiles {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
}
