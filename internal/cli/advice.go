package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"electop/consulx"
	"electop/election"
	"electop/election/insight"
	"electop/election/sanitize"
)

// advised is one advice with the election that it is about.
type advised struct {
	Election   string `json:"election"`
	Key        string `json:"key"`
	Datacenter string `json:"datacenter"`
	insight.Advice
}

// advise judges elections. What needs to know how an election went, such as
// flapping, is not seen in a single look.
func advise(s *election.Snapshot, chosen []*election.Election, sessions []*election.Session) []advised {
	board := insight.NewBoard(s.Elections, sessions)
	all := []advised{}
	for _, e := range chosen {
		for _, a := range board.Advise(e, nil, s.At) {
			all = append(all, advised{Election: e.Name, Key: e.Key(), Datacenter: e.Datacenter, Advice: a})
		}
	}
	return all
}

// listAdvice writes every advice of the elections chosen.
func listAdvice(ctx context.Context, d deps, client *consulx.Client, s *election.Snapshot, chosen []*election.Election, output string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	sessions, err := consulx.Sessions(ctx, client)
	switch {
	case errors.Is(err, consulx.ErrDenied), errors.Is(err, consulx.ErrIncomplete):
		fmt.Fprintln(d.stderr, "electop: this token may not read all sessions: advice that needs them is left out")
	case err != nil:
		return err
	}
	all := advise(s, chosen, sessions)
	if output == "json" {
		return writeAdviceJSON(d.stdout, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(d.stderr, "electop: nothing to advise")
	}
	return writeAdviceTable(d.stdout, all)
}

func writeAdviceJSON(w io.Writer, all []advised) error {
	return writeJSONArray(w, all, func(a advised) ([]byte, error) { return json.Marshal(a) })
}

func writeAdviceTable(w io.Writer, all []advised) error {
	tw := newColumns(w)
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
