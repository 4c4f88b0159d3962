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
	"electop/ui/kit"
	"electop/ui/scene"
)

// electionAdvice is one piece of advice about an election.
type electionAdvice struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	insight.Advice
}

// listAdvice writes the advice for the chosen elections.
func listAdvice(ctx context.Context, d deps, o *options, ls lookups, chosen []*election.Election, format string) error {
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
	page := o.page(d.stdout)
	writeAdvice(page, all, ls.several)
	_, err := io.WriteString(d.stdout, page.Plain())
	return err
}

// writeAdvice writes each distinct piece of advice with the names of all elections that have it.
func writeAdvice(page *kit.Page, all []electionAdvice, several bool) {
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
	for _, a := range order {
		title := a.Code
		if a.Urgent {
			title += ", urgent"
		}
		page.Head(title)
		for _, f := range [][2]string{{"Elections", strings.Join(names[a], ", ")}, {"Why", a.Why}, {"Do", a.Do}} {
			page.Field(f[0], kit.Span{Role: kit.Text, Text: scene.OneLine(f[1], 2000)})
		}
	}
}
