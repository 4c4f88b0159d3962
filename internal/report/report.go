// Package report writes an incident report in Markdown from the history.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"

	"electop/election"
	"electop/election/sanitize"
	"electop/internal/history"
)

// Incident is the history of one election in a time range.
type Incident struct {
	Name, Key string
	Range     history.Range
	// Datacenter is set if the history contains the key in several datacenters.
	Datacenter string
	// Terms contains the terms that overlap the range. Terms, Events, Gaps and Actions are sorted, oldest first.
	Terms   []history.Term
	Events  []election.Event
	Gaps    []history.Range
	Actions []history.Action
	// Cut is set if Events lacks older events of the range.
	Cut bool
	// Summary is the summary of the terms in the range.
	Summary history.Summary
	// ObservedUntil is the end of the latest observation.
	ObservedUntil time.Time
}

// textLength is the maximum length of text from Consul, in runes.
const textLength = 400

// Markdown formats the report. Times are in the local time zone.
func (i *Incident) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Incident report: %s\n\n", text(i.Name))
	fmt.Fprintf(&b, "- Key: %s\n", code(i.Key))
	if i.Datacenter != "" {
		fmt.Fprintf(&b, "- Datacenter: %s\n", code(i.Datacenter))
	}
	fmt.Fprintf(&b, "- Period: %s to %s (%s)\n", i.Range.Since.Local().Format(time.DateTime), i.Range.Until.Local().Format(time.DateTime), i.Range.Until.Sub(i.Range.Since).Round(time.Second))
	fmt.Fprintf(&b, "- Times: by the observer's clock, time zone %s\n", i.Range.Until.Local().Format("MST (-07:00)"))
	i.writeStory(&b)
	i.writeTerms(&b)
	i.writeTimeline(&b)
	i.writeGaps(&b)
	i.writeActions(&b)
	return b.Bytes()
}

func (i *Incident) writeStory(b *bytes.Buffer) {
	b.WriteString("\n## What happened\n\n")
	lost := 0
	for n := range i.Terms {
		if i.endedWithin(&i.Terms[n]) {
			lost++
		}
	}
	fmt.Fprintf(b, "%s\n", i.totals(lost))
	for n := range i.Terms {
		if i.endedWithin(&i.Terms[n]) {
			b.WriteString("\n1. " + i.loss(n))
		}
	}
	if lost > 0 {
		b.WriteByte('\n')
	}
	if end := i.ending(); end != "" {
		fmt.Fprintf(b, "\n%s\n", end)
	}
}

func (i *Incident) endedWithin(t *history.Term) bool {
	return t.Over() && !t.End.Before(i.Range.Since) && !t.End.After(i.Range.Until)
}

// totals returns sentences about the number of losses and the time without a leader.
func (i *Incident) totals(lost int) string {
	if len(i.Terms) == 0 {
		return i.withoutTerms()
	}
	var parts []string
	switch {
	case lost > 0:
		parts = append(parts, "The leader was lost "+election.Plural(uint64(lost), "time")+".")
	case i.ObservedUntil.IsZero():
		return "Whether the leader was lost is unknown."
	case len(i.Gaps) > 0:
		parts = append(parts, "No loss of the leader was observed.")
	default:
		parts = append(parts, "The leader was not lost.")
	}
	if s := i.Summary; s.Observed > 0 {
		parts = append(parts, fmt.Sprintf("The election was observed for %s and had no leader for %s of that time.",
			duration(time.Duration(s.Observed)), duration(time.Duration(s.Observed-s.Led))))
	}
	if s := i.Summary; s.Vacancies > 0 {
		parts = append(parts, fmt.Sprintf("The longest completely observed vacancy was %s.", duration(time.Duration(s.VacancyMax))))
	}
	if s := i.Summary; s.Missed > 0 {
		parts = append(parts, fmt.Sprintf("According to LockIndex, electop missed %s.", election.Plural(s.Missed, "more term")))
	}
	return strings.Join(parts, " ")
}

func (i *Incident) withoutTerms() string {
	entered, left := 0, 0
	for _, e := range i.Events {
		switch e.Type {
		case election.Entered:
			entered++
		case election.Left:
			left++
		default:
		}
	}
	if entered+left == 0 {
		return "No term was observed in this period."
	}
	return fmt.Sprintf("The key is a semaphore. Holders that entered: %d. Holders that left: %d.", entered, left)
}

// loss returns a paragraph about the end of a term.
func (i *Incident) loss(n int) string {
	t := &i.Terms[n]
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s was lost after %s. Cause: %s.", t.To(time.Time{}.Local(), moment), leader(t), i.held(t), cause(t))
	if !t.LockDelayUntil.IsZero() {
		fmt.Fprintf(&b, " A lock-delay followed until about %s.", moment(t.LockDelayUntil))
	}
	switch {
	case n+1 == len(i.Terms):
		b.WriteString(" No later leader was observed in this period.")
	case t.Vacancy != nil:
		fmt.Fprintf(&b, " %s became leader %s.", leader(&i.Terms[n+1]), election.AfterVacancy(time.Duration(*t.Vacancy)))
	default:
		fmt.Fprintf(&b, " The next observed leader was %s.", leader(&i.Terms[n+1]))
	}
	return b.String()
}

// ending returns a sentence about the last observed state in the period.
func (i *Incident) ending() string {
	const late = 10 * time.Second // maximum age of the latest heartbeat while an observer is running
	when := "At the end of the period"
	switch until := i.ObservedUntil; {
	case until.IsZero():
		return "No observer was running in this period."
	case len(i.Terms) == 0:
		return ""
	case i.Range.Until.Sub(until) > late:
		when = "When observation ended, at " + moment(until)
	}
	t := &i.Terms[len(i.Terms)-1]
	if !i.endedWithin(t) {
		return fmt.Sprintf("%s, the leader was %s. Its term began %s.", when, leader(t), began(t))
	}
	return fmt.Sprintf("%s, there was no leader. The last term ended %s.", when, t.To(time.Time{}.Local(), moment))
}

func (i *Incident) writeTerms(b *bytes.Buffer) {
	if len(i.Terms) == 0 {
		return
	}
	b.WriteString("\n## Terms\n\n| leader | node | term | from | to | held | cause | vacancy after it |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for n := range i.Terms {
		t := &i.Terms[n]
		to, why, vacancy := "-", "-", "-"
		switch {
		case t.Over():
			to, why = t.To(time.Time{}.Local(), moment), string(cmp.Or(t.Cause, election.Unknown))
		case i.ObservedUntil.IsZero():
			to = "unknown"
		}
		if t.Vacancy != nil {
			vacancy = duration(time.Duration(*t.Vacancy))
		}
		number := "?"
		if t.Number > 0 {
			number = fmt.Sprint(t.Number)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", text(t.Leader), cmp.Or(text(t.Node), "-"), number,
			began(t), to, i.held(t), text(why), vacancy)
	}
}

func (i *Incident) writeTimeline(b *bytes.Buffer) {
	b.WriteString("\n## Timeline\n\n")
	if len(i.Events) == 0 {
		b.WriteString("No events.\n")
		return
	}
	if i.Cut {
		fmt.Fprintf(b, "The table contains the latest %s. Older events are omitted.\n\n", election.Plural(uint64(len(i.Events)), "event"))
	}
	b.WriteString("| time | event | detail |\n| --- | --- | --- |\n")
	for _, e := range i.Events {
		fmt.Fprintf(b, "| %s | %s | %s |\n", moment(e.Time), text(string(e.Type)), text(e.Summary()))
	}
}

func (i *Incident) writeGaps(b *bytes.Buffer) {
	b.WriteString("\n## Gaps in observation\n\n")
	if len(i.Gaps) == 0 && !i.ObservedUntil.IsZero() {
		b.WriteString("An observer was running for the whole period.\n")
		return
	}
	b.WriteString("No observer was running during these times:\n\n")
	for _, gap := range i.Gaps {
		fmt.Fprintf(b, "- %s to %s (%s)\n", moment(gap.Since), moment(gap.Until), duration(gap.Until.Sub(gap.Since)))
	}
}

func (i *Incident) writeActions(b *bytes.Buffer) {
	b.WriteString("\n## Actions of operators\n\n")
	if len(i.Actions) == 0 {
		b.WriteString("No operator actions were recorded in this period.\n")
		return
	}
	b.WriteString("| time | operator | action | leader | session | result |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, a := range i.Actions {
		result := a.Result
		if a.Detail != "" {
			result += ": " + a.Detail
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", moment(a.Time), text(a.By), a.Kind, cmp.Or(text(a.Leader), "-"), text(a.Session), text(result))
	}
}

// held returns the duration of a term, or of its observed part.
func (i *Incident) held(t *history.Term) string {
	if !t.Over() && i.ObservedUntil.IsZero() {
		return "unknown"
	}
	held := duration(t.Held(i.ObservedUntil))
	if !t.Over() || !t.HeldKnown() {
		held = "at least " + held
	}
	return held
}

func began(t *history.Term) string { return t.From(time.Time{}.Local(), moment) }

func leader(t *history.Term) string {
	name := text(t.Leader)
	if t.Node != "" && !election.NamesNode(t.Leader, t.Node) {
		name += " on " + text(t.Node)
	}
	if t.Number > 0 {
		name += fmt.Sprintf(" (term %d)", t.Number)
	}
	return name
}

// cause returns the cause of the end of a term, and its evidence.
func cause(t *history.Term) string {
	name := code(string(cmp.Or(t.Cause, election.Unknown)))
	if t.Guess {
		name = "probably " + name
	}
	if t.Evidence != "" {
		name += ": " + text(t.Evidence)
	}
	return strings.TrimSuffix(name, ".")
}

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05.000") }

func duration(d time.Duration) string { return election.FormatDuration(max(0, d)) }

// text makes s safe to print and escapes Markdown in it.
func text(s string) string {
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", `\<`, ">", `\>`,
		"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "!", `\!`, "&", `\&`).Replace(sanitize.Line(s, textLength))
}

// code formats s as Markdown code. It replaces backquotes with apostrophes, because a backquote would end the code.
func code(s string) string {
	return "`" + strings.ReplaceAll(sanitize.Line(s, textLength), "`", "'") + "`"
}
