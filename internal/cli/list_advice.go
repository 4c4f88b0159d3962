package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
	"electop/internal/output"
)

// electionAdvice is one advice and its election.
type electionAdvice struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	insight.Advice
}

// listAdvice writes the advice for the chosen elections.
func listAdvice(ctx context.Context, d deps, l lookup, chosen []*election.Election, format string) error {
	sessions, err := readableSessions(ctx, d, l)
	if err != nil {
		return err
	}
	board := insight.NewBoard(l.snapshot.Elections, sessions)
	var all []electionAdvice
	for _, e := range chosen {
		for _, a := range board.Advise(e, nil, l.snapshot.At) {
			all = append(all, electionAdvice{Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Advice: a})
		}
	}
	if format == "json" {
		return output.WriteArray(d.stdout, all, func(a electionAdvice) ([]byte, error) { return json.Marshal(a) })
	}
	if len(all) == 0 {
		fmt.Fprintln(d.stderr, "electop: no advice for these elections")
	}
	return writeAdviceTable(d.stdout, all)
}

func writeAdviceTable(w io.Writer, all []electionAdvice) error {
	tw := output.NewTable(w)
	fmt.Fprintln(tw, "ELECTION\tCODE\tURGENT\tWHY\tDO")
	for _, a := range all {
		urgent := "-"
		if a.Urgent {
			urgent = "urgent"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", sanitize.Line(a.Election, 80), a.Code, urgent,
			sanitize.Line(a.Why, 300), sanitize.Line(a.Do, 300))
	}
	return tw.Flush()
}
