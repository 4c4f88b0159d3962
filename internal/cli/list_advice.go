package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// electionAdvice is one piece of advice about an election.
type electionAdvice struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	insight.Advice
}

// listAdvice writes the advice for the chosen elections.
func listAdvice(ctx context.Context, d deps, ls lookups, chosen []*election.Election, format string) error {
	ls.readChecks(ctx)
	boards := map[string]*insight.Board{} // by datacenter
	for _, l := range ls.all {
		sessions, err := readableSessions(ctx, d, l)
		if err != nil {
			return err
		}
		board := insight.NewBoard(l.snapshot.Elections, sessions).WithChecks(l.snapshot.Checks)
		for _, e := range l.snapshot.Elections {
			boards[e.Datacenter] = board
		}
	}
	var all []electionAdvice
	for _, e := range chosen {
		for _, a := range boards[e.Datacenter].Advise(e, nil, ls.at()) {
			all = append(all, electionAdvice{Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Advice: a})
		}
	}
	if format == "json" {
		return output.WriteArray(d.stdout, all, func(a electionAdvice) ([]byte, error) { return json.Marshal(a) })
	}
	if len(all) == 0 {
		fmt.Fprintln(d.stderr, "electop: no advice for these elections")
	}
	return writeAdvice(d.stdout, terminalWidth(d.stdout), all, ls.several)
}

// writeAdvice writes a table. If the table is wider than the terminal, it writes one record per piece of advice
// instead. A width of 0 means that stdout is not a terminal.
func writeAdvice(w io.Writer, width int, all []electionAdvice, several bool) error {
	tw := output.NewTable(w)
	fmt.Fprintln(tw, inDatacenter("DC", several)+"ELECTION\tCODE\tURGENT\tWHY\tDO")
	for _, a := range all {
		urgent := "-"
		if a.Urgent {
			urgent = "urgent"
		}
		fmt.Fprintf(tw, "%s%s\t%s\t%s\t%s\t%s\n", inDatacenter(a.Datacenter, several), sanitize.Line(a.Election, 80), a.Code, urgent,
			sanitize.Line(a.Why, 300), sanitize.Line(a.Do, 300))
	}
	if width > 0 && !tw.Fits(width) {
		return output.WriteRecords(w, width, adviceRecords(all, several))
	}
	return tw.Flush()
}

// adviceRecords returns one record for each distinct piece of advice. A record names all elections with its advice.
func adviceRecords(all []electionAdvice, several bool) []output.Record {
	var order []insight.Advice
	names := map[insight.Advice][]string{}
	for _, a := range all {
		if names[a.Advice] == nil {
			order = append(order, a.Advice)
		}
		name := sanitize.Line(a.Election, 80)
		if several {
			name += " (" + sanitize.Line(a.Datacenter, 40) + ")"
		}
		names[a.Advice] = append(names[a.Advice], name)
	}
	records := make([]output.Record, 0, len(order))
	for _, a := range order {
		title := a.Code
		if a.Urgent {
			title += ", urgent"
		}
		records = append(records, output.Record{Title: title, Fields: []output.Field{
			{Label: "elections", Text: strings.Join(names[a], ", ")}, {Label: "why", Text: sanitize.Line(a.Why, 300)}, {Label: "do", Text: sanitize.Line(a.Do, 300)},
		}})
	}
	return records
}
